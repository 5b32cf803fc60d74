/* SPDX-License-Identifier: MIT */
#include "engine/patch/patch.h"

#include "base/memory.h"
#include "engine/patch/arm/arm.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/image_plan.h"
#include "engine/patch/image/setup.h"
#include "engine/patch/image/site.h"
#include "engine/patch/record/record.h"
#include "engine/patch/remote/remote.h"
#include "engine/patch/threads/threads.h"
#include "engine/ptrace/tracer.h"
#include "tracee/proc.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

struct patch_task *children_give_state(struct task *task)
{
	if (!task->data)
		task->data = memory_zeroed(1, sizeof(struct patch_task));
	return task->data;
}

/*
 * Sets *flags for a clone(2) whose entry the tracer did not see, because the agent made the call. PTRACE_EVENT_FORK and
 * PTRACE_EVENT_VFORK determine these flags: the agent makes a fork-like call only if the call's flags are in a register
 * and do not include CLONE_VM, and a vfork-like call only without CLONE_THREAD. PTRACE_EVENT_CLONE can report a thread, or
 * a process that does not send SIGCHLD when it ends.
 */
bool children_unseen_clone(struct tracer *t, const struct task *parent, int event, uint64_t *flags)
{
	const struct patch_task *pt = patch_task_of(parent);
	const struct image *img = image_of(parent);
	bool vfork = event == PTRACE_EVENT_VFORK;
	(void)t;
	if (event == PTRACE_EVENT_CLONE || !img || !image_has_agent(img) || !pt || !pt->armed || pt->slow ||
	    (vfork && (img->refs > 1 || parent->proc->ntasks > 1)))
		return false;
	*flags = vfork ? CLONE_VM | CLONE_VFORK : 0;
	return true;
}

/* Copies the state that a child inherits across clone(2). */
static void inherit(const struct task *parent, struct task *child)
{
	const struct patch_task *from = patch_task_of(parent);
	children_give_state(child);
	if (!from)
		return;
	patch_task_of(child)->sigsys_blocked = from->sigsys_blocked;
	if (child->proc != parent->proc) { /* the child has a copy of the stack, with the signal frames on it */
		patch_task_of(child)->moved_frames = from->moved_frames;
		patch_task_of(child)->signalled = from->signalled;
		patch_task_of(child)->returns_blocked = from->returns_blocked;
	}
	if (image_of(child))
		image_of(child)->sigsys.blockers += from->sigsys_blocked;
}

/*
 * May a child that sctrace does not follow run untraced from its first instruction? Yes, if the agent has made the
 * vfork-like call that created it, and is writing the record of this call. The parent's scratch memory is then busy
 * while the child runs, so the agent records nothing for the child. No, if the parent was attached: when sctrace detaches,
 * it restores the code, in which the child may still be.
 */
static bool may_run_untraced(const struct tracer *t, const struct task *parent, const struct cpu_regs *r)
{
	return !t->hold && !parent->proc->attached && r->CPU_IP == AGENT_AT(agent_record_vfork_after);
}

/* Gives a new process its parent's image, or a copy of it. */
static void give_image(struct tracer *t, const struct task *parent, const struct task *child, uint64_t flags)
{
	struct image *img = image_of(parent);
	struct cpu_regs r;
	if (!(flags & CLONE_VM)) {
		child->proc->image = image_copy(patch_of(t), parent);
		image_map_new_calls(patch_of(t),
				    parent); /* for its next children: earlier ones may have made new calls */
		return;
	}
	child->proc->image = img;
	img->refs++;
	if (!(flags & CLONE_SIGHAND))
		image_borrow(parent, child);
	bool apart = !child->proc->counted || (t->config.want & CAP_BY_PROCESS);
	bool ignored = !child->proc->counted && flags & CLONE_VFORK && cpu_get(parent->tid, &r) == 0;
	if (!apart || (ignored && may_run_untraced(t, parent, &r)))
		return;
	/* The child's calls must not be counted as its parent's. */
	child->proc->hold = true;
	if (ignored && image_tell_apart(patch_of(t), parent, child, &r))
		return;
	/* While the child lives, all calls of the image stop. */
	img->counters.sharers++;
	img->user = parent->tid;
	image_switch(patch_of(t), img, true);
}

void children_on_new_task(struct tracer *t, struct task *parent, struct task *child, uint64_t flags)
{
	/* From now on, another task may update the same slots. The slot of clone(2) is always updated with a lock. */
	if (image_of(parent))
		image_end_single_thread(parent);
	if (image_of(parent) && flags & CLONE_THREAD)
		usage_note_threads(image_of(parent)->start.usage);
	/* While a child of vfork(2) exists, the agent does not count the actions that another thread sets. */
	if (image_of(parent) && flags & CLONE_VM && (flags & (CLONE_VFORK | CLONE_THREAD)) != CLONE_VFORK)
		image_of(parent)->handlers.known = false;
	if (image_of(parent) && !child->proc->image)
		give_image(t, parent, child, flags);
	inherit(parent, child);
	record_note_parent(patch_of(t), parent, child, flags);
}

void children_on_first_stop(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	struct image *img = image_of(task);
	/*
	 * If the kernel did not report the clone(2), the image is unknown. The task is then traced by ptrace, and its
	 * copy of the agent must pass all calls to the tracer. The same is true for a copy of an image without sites
	 * (image_copy).
	 */
	bool copied_fallback = img && img->state == IMAGE_FALLBACK && img->counters.region && img->refs == 1;
	if (p->record && (!img || img->refs == 1)) /* not for a thread or a child of vfork(2) */
		record_free_child(task);
	if (!img || copied_fallback)
		image_refuse_all(task);
	children_give_state(task);
	if (!img || img->state != IMAGE_READY)
		return;
	bool served = arm_is_served(p, task);
	bool forked = img->refs == 1 && task->tid == task->proc->pid;
	bool apart = served && forked && (t->config.want & CAP_BY_PROCESS || !task->proc->counted);
	/* Other threads of the parent may have patched more since the copy was made. */
	const bool late = p->arming == ARM_KNOCK && forked && img->sites.serial != img->sites.copied_serial;
	if (forked)
		site_check_copied(p, task);
	if (late)
		scan_image(p, task);
	if (!served || apart)
		stepout_child(task, apart);
	if (!served) {
		sigkill_guard_inherit(p, task);
		return;
	}
	if (apart && setup_own_region(p, task) < 0)
		image_fall_back(p, task, "there is no memory for its counters");
	if (forked)
		image_begin_child(p, task); /* its copy of the agent's memory is older than the parent's use of locks */
	if (forked)
		record_forget_copied(task);
	image_watch_borrower(task);
	record_admit(p, task);
	image_note_frames(task);
	arm_task(p, task, img->state == IMAGE_READY);
}

void children_on_death(struct tracer *t, struct task *task)
{
	remote_release(t, task->tid);
	image_forget_task(task);
	record_leave(patch_of(t), task);
	if (task->proc && task->proc->ntasks == 1)
		image_leave(patch_of(t), task->proc);
	free(task->data);
	task->data = NULL;
}

/* Notes which of SIGSYS, SIGSEGV and SIGBUS the program ignores at its start, because execve(2) keeps that. */
static void note_ignored(struct task *task, const struct proc_status *s)
{
	const uint64_t action[ACTION_WORDS] = {[ACTION_HANDLER] = 1 /* SIG_IGN */};
	if (s->ignored & SIGBIT(SIGSYS) && !image_actions_of(task)->guarded)
		image_note_sigsys(task, action);
	image_note_faults(task, s);
}

bool exec_enter_image(struct patch *p, struct task *task, uint64_t at, const struct cpu_regs *r, const uint64_t *mask,
		      struct buf *why)
{
	if (!why->len) {
		int err = setup_image(p, task, at, r, mask);
		if (err == 0 && p->watchdog_fd >= 0 && p->arming == ARM_SUD)
			sigkill_guard_install(p, task);
		if (err == -ESRCH || !task->stopped) {
			/* The task may still run the agent's code, which no other thread may overwrite now. */
			if (err < 0)
				image_of(task)->state = IMAGE_FALLBACK;
			task->stopped = false;
			return false;
		}
		cpu_set(task->tid, r);
		if (err == -E2BIG)
			buf_adds(why, "its address-space limit (ulimit -v) is too small for the agent");
		else if (err == -EEXIST)
			buf_adds(why,
				 "the addresses of the agent are in use, by the program itself or by the agent of an "
				 "earlier sctrace");
		else if (err < 0)
			buf_addf(why, "the agent cannot be mapped: %s", strerror(-err));
	}
	p->images++;
	if (why->len)
		image_fall_back(p, task, buf_str(why));
	return true;
}

/* Sets `why` if the agent must not be put into a new image. */
static void find_obstacle(const struct patch *p, const struct cpu_regs *r, const struct proc_status *s, struct buf *why)
{
	if (cpu_is_compat(r))
		buf_adds(why, "it is a 32-bit program");
	else if (setup_is_refused(s, why))
		;
	else if (arm_is_filtered(p, s))
		buf_adds(why, "it inherited a seccomp filter from a traced program");
}

/* Puts the agent into the image of a stopped task. `s` is its /proc/PID/status, and `r` holds its first registers. */
static void prepare_attended(struct patch *p, struct task *task, const struct cpu_regs *r, const struct proc_status *s,
			     struct buf *why)
{
	struct image *img = image_of(task);
	if (!exec_enter_image(p, task, r->CPU_IP, r, s->has_signals ? &s->blocked : NULL, why) || why->len)
		return;
	img->start.observed = true;
	img->start.entry = r->CPU_IP;
	note_ignored(task, s);
	if (p->arming == ARM_KNOCK)
		scan_image(p, task);
	else
		plan_apply_loader(p, task, r->CPU_IP, NULL);
	record_admit_at(p, task, r->CPU_THREAD_POINTER);
	arm_task(p, task, img->state == IMAGE_READY);
}

/* Puts the agent into a new image before its first instruction, without a stop if possible. */
static void prepare_image(struct patch *p, struct task *task, struct cpu_regs *r)
{
	struct buf why = {0};
	struct proc_status s;
	unsigned page;
	proc_status(task->tid, &s);
	if (!s.has_signals)
		image_note_mask(p, task);
	else if (p->arming == ARM_SUD)
		image_note_blocked(task, s.blocked & SIGBIT(SIGSYS));
	image_of(task)->start.no_traps = s.ignored & SIGBIT(SIGTRAP);
	find_obstacle(p, r, &s, &why);
	/* execve(2) has returned, and must not look like a call that the kernel restarts. */
	r->CPU_RESULT = 0;
	r->CPU_RESTARTED = CPU_NO_CALL;
	plan_begin(p, task, &s, r->CPU_IP);
	if (!why.len && unattended_start(p, task, r, &s, &page)) {
		p->images++;
		note_ignored(task, &s);
		if (p->record)
			record_adopt(p, task, page);
	} else
		prepare_attended(p, task, r, &s, &why);
	buf_free(&why);
}

enum tracer_verdict exec_signal(struct tracer *t, struct task *task, const siginfo_t *si)
{
	struct patch *p = patch_of(t);
	struct image *img = image_of(task);
	struct cpu_regs r;
	/*
	 * A forced SIGSYS comes after setup, whose last call arms the thread. The program has no handlers yet, so other
	 * signals can be delivered while setup runs.
	 */
	bool fault = si->si_code > 0 && (si->si_signo == SIGTRAP || si->si_signo == SIGSEGV || si->si_signo == SIGBUS ||
					 si->si_signo == SIGILL);
	if (img && si->si_signo == SIGSYS && si->si_code == SUD_SIGSYS)
		img->setup.hi = 0;
	if (!img || !img->setup.hi || cpu_get(task->tid, &r) < 0 || !unattended_runs(task, &r))
		return signals_stop(t, task, si);
	if (!fault)
		return STOP_PASS;
	record_leave(p, task);
	if (!unattended_undo(p, task, &r))
		return STOP_RESUMED;
	p->images--;
	prepare_image(p, task, &r);
	return task->stopped ? STOP_HANDLED : STOP_RESUMED;
}

bool exec_done(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	struct patch_task *pt = children_give_state(task);
	struct cpu_regs r;
	bool held = task->proc->hold;
	remote_release(t, task->tid);
	image_forget_task(task);
	bool recorded = record_exec(p, task);
	if (!thread_of(task)->in_call && image_of(task))
		stepout_exec(image_of(task));
	image_leave(p, task->proc);
	task->proc->hold = false;
	task->proc->image = image_new();
	*pt = (struct patch_task){0};
	if (cpu_get(task->tid, &r) < 0)
		return recorded;
	bool stopped = thread_of(task)->in_call;
	if (stopped) {
		thread_of(task)->call.result = 0;
		thread_of(task)->call.error = false;
		tracer_call_exit(t, task);
	}
	if (arm_is_served(p, task))
		prepare_image(p, task, &r);
	else
		task->release = held;
	return recorded || stopped;
}
