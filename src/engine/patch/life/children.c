/* Births, new images and deaths: which image a task runs in, and what becomes of the agent in it. */
#include "engine/patch/patch.h"

#include "tracee/proc.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define USER32_CS 0x23 /* arch/x86/include/asm/segment.h */

/* Does the thread block SIGSYS? A filter does not care. */
void patch_note_mask(const struct patch *p, struct task *task)
{
	uint64_t mask = 0;
	if (p->arming == ARM_SUD && ptrace(PTRACE_GETSIGMASK, task->tid, sizeof(mask), &mask) == 0)
		image_note_blocked(task, mask & SIGBIT(SIGSYS));
}

struct patch_task *patch_give_data(struct task *task)
{
	if (!task->data)
		task->data = calloc(1, sizeof(struct patch_task));
	return task->data;
}

/* What a thread's child has of it. */
static void inherit(const struct task *parent, struct task *child)
{
	const struct patch_task *from = patch_task_of(parent);
	if (!patch_give_data(child) || !from)
		return;
	patch_task_of(child)->sigsys_blocked = from->sigsys_blocked;
	if (child->proc != parent->proc) { /* the stack too, and what will return there */
		patch_task_of(child)->moved_frames = from->moved_frames;
		patch_task_of(child)->signalled = from->signalled;
		patch_task_of(child)->returns_blocked = from->returns_blocked;
	}
	if (image_of(child))
		image_of(child)->blockers += from->sigsys_blocked;
}

/* A new process has its parent's image, or a copy of it. */
static void give_image(struct tracer *t, const struct task *parent, const struct task *child, uint64_t flags)
{
	struct image *img = image_of(parent);
	if (!(flags & CLONE_VM)) {
		uint32_t copied_serial = patch_task_of(parent) ? patch_task_of(parent)->serial : 0;
		child->proc->image = image_copy(patch_of(t), img, copied_serial);
		return;
	}
	child->proc->image = img;
	img->refs++;
	bool apart = !child->proc->counted || (t->config.want & CAP_BY_PROCESS);
	if (!apart)
		return;
	/* Its calls must not land in its parent's counters: while it lives, all calls of the image stop. */
	child->proc->hold = true;
	img->sharers++;
	img->user = parent->tid;
	image_switch(patch_of(t), img, true);
}

void patch_on_birth(struct tracer *t, struct task *parent, struct task *child, uint64_t flags)
{
	/* From here on others may write to the same slots; the call that bears them is booked with a lock anyway. */
	if (image_of(parent))
		image_set_single_thread(parent, false);
	if (image_of(parent) && !child->proc->image)
		give_image(t, parent, child, flags);
	inherit(parent, child);
}

/* Are its calls counted, or must at least be let through? A filter stays in force where nobody asked for the counts. */
bool patch_is_served(const struct patch *p, const struct task *task)
{
	return task->proc->counted || p->arming == ARM_FILTER;
}

/* What runs in a copy of an image goes to the tracer with every call, or where there is none makes it itself. */
void patch_refuse_all(const struct task *task)
{
	static const uint32_t none[AGENT_CALLS];
	unsigned char code[64];
	/* Whose image is not known may have memory of its own there. */
	if (remote_read(task->tid, AGENT_CODE, code, sizeof(code)) < 0 || memcmp(code, agent_begin, sizeof(code)) != 0)
		return;
	remote_write(task->tid, AGENT_DATA + offsetof(struct agent_data, map), none, sizeof(none));
}

void patch_on_first_stop(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	struct image *img = image_of(task);
	/*
	 * Whose birth nobody told has an unknown image: it is traced by ptrace, and its copy of the agent counts nothing. So is one
	 * whose copy has no sites, because there are too many.
	 */
	bool copied_fallback = img && img->state == IMAGE_FALLBACK && img->region && img->refs == 1;
	if (!img || copied_fallback)
		patch_refuse_all(task);
	if (!patch_give_data(task) || !img || img->state != IMAGE_READY)
		return;
	bool served = patch_is_served(p, task);
	bool forked = img->refs == 1 && task->tid == task->proc->pid;
	bool apart = served && forked && (t->config.want & CAP_BY_PROCESS || !task->proc->counted);
	if (forked)
		site_check_copied(p, task);
	stepout_child(task, apart);
	if (!served)
		return;
	if (apart && image_own_region(p, task) < 0)
		image_fall_back(p, task, "no memory for counters of its own");
	if (forked)
		image_begin_child(task); /* its memory was copied before the parent was told to use locks */
	image_note_frames(task);
	arm_task(p, task, img->state == IMAGE_READY);
}

/* The process no longer uses the image: it got another, or is gone. */
static void leave_image(struct patch *p, struct process *proc)
{
	struct image *img = proc->image;
	proc->image = NULL;
	if (img && proc->hold && --img->sharers == 0)
		image_switch(p, img, false);
	image_put(p, img);
}

/* Signals whose action is "ignore" from the start would be reset by a forced one. */
bool patch_minds_signals(const struct patch *p, const struct proc_status *s, struct buf *why)
{
	if (s->ignored & SIGBIT(SIGTRAP))
		buf_adds(why, "it ignores SIGTRAP");
	else if (p->watchdog_fd >= 0 &&
		 s->ignored & SIGBIT(SIGSYS)) /* for which there is to be a handler: sigkill_guard.c */
		buf_adds(why, "it ignores SIGSYS");
	else if (s->pending & SIGBIT(SIGSYS)) /* the first call would unblock it */
		buf_adds(why, "it has a SIGSYS pending");
	return why->len > 0;
}

/* Who ignores SIGSYS from the start is as one that set that itself: it is set again where a forced one reset it. */
static void note_ignored(struct image *img, const struct proc_status *s)
{
	if (!(s->ignored & SIGBIT(SIGSYS)))
		return;
	img->minds_sigsys = true;
	img->sigsys_action[ACTION_HANDLER] = 1; /* SIG_IGN */
}

/* The agent and its counters take more than 1 MiB; what runs in little more than it needs gets all of it (setrlimit(2), RLIMIT_AS). */
#define ROOM_MIN (64ul << 20)
static bool has_little_room(pid_t pid)
{
	struct rlimit l;
	return prlimit(pid, RLIMIT_AS, NULL, &l) == 0 && l.rlim_cur < ROOM_MIN;
}

/* A new image: the agent goes in before its first instruction. `r` are its first registers. */
static void prepare_image(struct patch *p, struct task *task, struct user_regs_struct *r)
{
	struct buf why = {0};
	struct proc_status s;
	proc_status(task->tid, &s);
	if (r->cs == USER32_CS)
		buf_adds(&why, "a 32-bit program");
	else if (patch_minds_signals(p, &s, &why))
		;
	else if (has_little_room(task->tid))
		buf_adds(&why, "it may have little memory");
	else if (arm_is_filtered(p, &s))
		buf_adds(&why, "started under a seccomp filter of a traced program");
	else {
		int err = image_setup(p, task, r->rip);
		if (err == 0 && p->watchdog_fd >= 0)
			sigkill_guard_install(p, task);
		if (err == -ESRCH || !task->stopped) {
			task->stopped = false;
			return;
		}
		if (err < 0)
			buf_addf(&why, "the agent cannot be mapped: %s", strerror(-err));
		/* execve(2) is over: nothing of it is left to do. */
		r->rax = 0;
		r->orig_rax = (unsigned long long)-1;
		ptrace(PTRACE_SETREGS, task->tid, NULL, r);
	}
	p->images++;
	if (why.len)
		image_fall_back(p, task, buf_str(&why));
	else {
		struct image *img = image_of(task);
		img->from_start = true;
		img->entry = r->rip;
		note_ignored(img, &s);
		plan_note_owner(task);
		plan_apply_loader(p, task, r->rip);
		arm_task(p, task, true);
	}
	buf_free(&why);
}

void patch_on_exec(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	struct patch_task *pt = patch_give_data(task);
	struct user_regs_struct r;
	bool held = task->proc->hold;
	remote_release(); /* the memory has gone */
	image_forget_task(task);
	if (!task->in_call && image_of(task))
		stepout_exec(image_of(task));
	leave_image(p, task->proc);
	task->proc->hold = false;
	task->proc->image = image_new();
	if (!pt)
		return;
	*pt = (struct patch_task){0};
	/* Without memory for an image, or a task to read, ptrace traces on. */
	if (!task->proc->image || ptrace(PTRACE_GETREGS, task->tid, NULL, &r) < 0)
		return;
	patch_note_mask(p, task);
	if (task->in_call) {
		task->call.result = 0;
		task->call.error = false;
		tracer_call_exit(t, task);
	}
	if (!patch_is_served(p, task)) {
		task->release = held;
		return;
	}
	prepare_image(p, task, &r);
}

void patch_on_death(struct tracer *t, struct task *task)
{
	remote_release();
	image_forget_task(task);
	if (task->proc && task->proc->ntasks == 1)
		leave_image(patch_of(t), task->proc);
	free(task->data);
	task->data = NULL;
}
