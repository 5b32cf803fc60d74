/* SPDX-License-Identifier: MIT */
#include "engine/patch/patch.h"

#include "arch/arch.h"
#include "base/clock.h"
#include "engine/patch/arm/arm.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/image_plan.h"
#include "engine/patch/image/region.h"
#include "engine/patch/image/setup.h"
#include "engine/patch/image/site.h"
#include "engine/patch/record/record.h"
#include "engine/patch/remote/remote.h"
#include "engine/patch/threads/threads.h"
#include "engine/ptrace/tracer.h"
#include "syscall/call_table.h"
#include "tracee/proc.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/*
 * How long sctrace waits for a stop. A thread does not stop while it waits for a disk or for its vfork(2) child. The child
 * may wait for another thread of its parent, which has stopped, so all threads are given only a short time at first.
 */
#define ATTACH_PATIENCE_NS NSEC_PER_SEC
#define ATTACH_SHORT_NS    (NSEC_PER_SEC / 20)

/* A program can be started as well (-p PID PROGRAM): it is set up when it is executed. */
static bool is_attached(const struct task *task)
{
	return task->proc && task->proc->attached;
}

/*
 * Waits until a point in time for the stop after PTRACE_INTERRUPT; an earlier signal is kept. Returns false if the task
 * has neither stopped nor ended.
 */
static bool wait_for_stop(struct patch *p, struct task *task, uint64_t until)
{
	int status;
	pid_t tid;
	for (;;) {
		while (((tid = tracer_wait(&p->t, task->tid, &status, WNOHANG, NULL)) == 0 || tid == -EINTR) &&
		       clock_ns() < until && !p->t.failed)
			clock_sleep_ns(50000);
		if (tid == 0 || tid == -EINTR || p->t.failed)
			return false; /* the stop loop handles the stop when it comes */
		if (tid < 0 || !WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXIT) {
			tracer_keep_status(&p->t, task->tid, tid < 0 ? 0 : status);
			return true;
		}
		if (status >> 16 == 0 || status >> 16 == PTRACE_EVENT_STOP)
			break;
		/* The task has stopped inside clone(2). It must go on to the requested stop. */
		size_t queued = p->t.events.n; /* the note about processes that have ended */
		tracer_stop(&p->t, task, status);
		p->t.events.n = queued;
		p->t.current = NULL;
		ptrace_retry(PTRACE_CONT, task->tid, NULL, NULL);
		task->stopped = false;
	}
	task->stopped = true;
	task->fresh = false;
	tracer_call_at_attach(&p->t, task, false);
	task->listening = status >> 16 == PTRACE_EVENT_STOP && tracer_is_stopping(WSTOPSIG(status));
	task->group_stopped = task->listening;
	if (status >> 16 == 0)
		task->deliver = WSTOPSIG(status);
	return true;
}

/*
 * Sets `why` if sctrace must not arm a stopped thread or make calls in it. sctrace needs calls that the program does not
 * make, such as mmap(2). A seccomp filter may end the process for them, and cannot be asked before.
 */
static void find_obstacle_of(const struct patch *p, const struct task *task, struct buf *why)
{
	struct proc_status s;
	if (sud_is_on(task->tid)) /* arming would replace its settings */
		buf_adds(why, SUD_IS_ITS_OWN);
	else if (proc_status(task->tid, &s) == 0 && s.strict)
		buf_adds(why, "it is in seccomp's strict mode");
	else if (arm_is_filtered(p, &s))
		buf_adds(why, "it has a seccomp filter, which could refuse calls that the engine needs");
}

/* Sets `why` if the agent cannot be put into this process, otherwise *s to its /proc/PID/status. */
static void find_obstacle(struct patch *p, struct task *task, struct proc_status *s, struct buf *why)
{
	struct cpu_regs r;
	size_t i = 0;
	const struct task *other;
	if (task->listening)
		buf_adds(why, "the process is stopped");
	else if (task->deliver || task->exiting)
		buf_adds(why, "a signal was pending");
	else if (cpu_get(task->tid, &r) < 0 || !cpu_is_native(&r))
		buf_adds(why, "it is a 32-bit program");
	while (!why->len && (other = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (other->proc == task->proc && other->stopped)
			find_obstacle_of(p, other, why);
	if (why->len)
		return;
	proc_status(task->tid, s);
	setup_is_refused(s, why);
}

/* Returns the address of the first instruction of the process's loader, or of a program without a loader; 0: not known. */
static uint64_t first_instruction(pid_t pid)
{
	Elf64_Ehdr head;
	uint64_t base = tracer_loader_base(pid);
	if (base && remote_read(pid, base, &head, sizeof(head)) == 0)
		return base + head.e_entry;
	return tracer_entry_point(pid);
}

/*
 * Puts the agent into a process by running code in one stopped task. Afterwards the task gets its registers back. If it
 * was stopped in a call, the kernel restarts that call.
 */
static void enter_process(struct patch *p, struct task *task)
{
	struct buf why = {0};
	struct cpu_regs saved;
	uint64_t at = first_instruction(task->tid);
	struct proc_status s = {.has_signals = false}, first;
	find_obstacle(p, task, &s, &why);
	if (!why.len && remote_settle(&p->t, task) < 0)
		buf_adds(&why, "a signal was pending");
	if (!why.len && (!at || cpu_get(task->tid, &saved) < 0))
		buf_adds(&why, "its entry point is not known");
	image_of(task)->start.interrupted = !s.has_signals || s.caught;
	proc_status(task->proc->pid, &first);
	plan_begin_attached(p, task, &first);
	if (exec_enter_image(p, task, at, &saved, NULL, &why) && !why.len) {
		image_note_faults(task, &s);
		if (p->arming == ARM_KNOCK)
			scan_image(p, task);
		else
			plan_apply_attached(p, task);
	}
	buf_free(&why);
}

/* Does a thread wait for a disk or for its vfork(2) child? It then runs no code before it stops. */
static bool waits_for_long(const struct task *task)
{
	struct proc_status s;
	return proc_status(task->tid, &s) == 0 && s.state == 'D';
}

/* Is there no need to wait for a thread that waits? The agent can be put into its process by another one. */
static bool may_stop_later(struct patch *p, const struct task *task)
{
	size_t i = 0;
	const struct task *other;
	while ((other = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (other->proc == task->proc && other->stopped)
			return true;
	return false;
}

/*
 * Waits for the stops of the threads in `late` that wait for a disk or a vfork(2) child (`waiting`), or of the others. The time
 * limit is for all of them together, and begins again when one has stopped.
 */
static void await_late(struct patch *p, struct task **late, size_t n, bool waiting)
{
	uint64_t until = clock_ns() + ATTACH_PATIENCE_NS;
	for (size_t i = 0; i < n; i++)
		if (!late[i]->stopped && (waiting ? !may_stop_later(p, late[i]) : !waits_for_long(late[i])) &&
		    wait_for_stop(p, late[i], until))
			until = clock_ns() + ATTACH_PATIENCE_NS;
}

/* Waits until all tasks have stopped. The stop loop handles the stops of tasks that are created during this wait. */
static void stop_all(struct patch *p)
{
	VEC(struct task *) all = {0}, late = {0};
	size_t i = 0;
	struct task *task;
	uint64_t soon = clock_ns() + ATTACH_SHORT_NS;
	while ((task = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (is_attached(task))
			vec_push(&all, task);
	for (i = 0; i < all.n; i++) {
		task = all.v[i];
		children_give_state(task);
		if (!task->proc->image)
			task->proc->image = image_new();
		if (!task->stopped && !wait_for_stop(p, task, soon))
			vec_push(&late, task);
	}
	/* A busy machine may not have given a thread that can run the time to stop. Those that wait come after all of these. */
	await_late(p, late.v, late.n, false);
	await_late(p, late.v, late.n, true);
	for (i = 0; i < all.n; i++)
		resume_point_note(p, all.v[i]);
	vec_free(&late);
	vec_free(&all);
}

void attach_all(struct patch *p)
{
	size_t i = 0;
	struct task *task;
	stop_all(p);
	p->attaching = true;
	while ((task = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (task->stopped && is_attached(task) && image_of(task) && image_of(task)->state == IMAGE_NEW)
			enter_process(p, task);
	p->attaching = false;
	if (p->t.failed)
		return; /* all tasks will be detached; if they were armed, nothing would handle their stops */
	i = 0;
	while ((task = map_next(&p->t.tasks.by_tid, &i, NULL))) {
		if (!task->stopped || !is_attached(task) || !image_of(task))
			continue;
		record_admit(p, task);
		arm_task(p, task, image_of(task)->state == IMAGE_READY);
		if (p->arming == ARM_KNOCK && task->deliver)
			dispatch_note_delivery(p, task, task->deliver);
		tracer_resume(&p->t, task);
	}
}

/*
 * Discards a forced SIGSYS that is pending for a task that is about to be detached, because the signal would end the
 * task. Moves the task back to before its call.
 */
static void settle_forced(struct patch *p, struct task *task)
{
	int status;
	siginfo_t si;
	struct cpu_regs r;
	const struct patch_task *pt = patch_task_of(task);
	if (!pt || !pt->armed || task->deliver || !dispatch_is_pending(task->tid))
		return;
	/*
	 * The kernel first delivers signals that faults and calls raise (signal(7)), so the thread stops before it runs
	 * more of the program's code. An event-stop may come before this stop, because of SIGCONT or of
	 * PTRACE_INTERRUPT. A thread that was in a group-stop returns to it when it is detached (__ptrace_unlink() in
	 * kernel/ptrace.c).
	 */
	do {
		if (ptrace_retry(PTRACE_CONT, task->tid, NULL, NULL) < 0 || remote_next_stop(&p->t, task, &status) < 0)
			return;
	} while (status >> 16 == PTRACE_EVENT_STOP);
	if (status >> 16 == 0 && ptrace_retry(PTRACE_GETSIGINFO, task->tid, NULL, &si) == 0) {
		const struct call call = {.arch = si.si_arch, .nr = si.si_syscall};
		if (dispatch_is_forced(task, &si, &r)) {
			dispatch_mend_forced(p, task);
			if (task->stopped)
				dispatch_stop(p, task, &call, &r);
		} else
			task->deliver = WSTOPSIG(status);
	}
}

/*
 * Lets a thread that is about to call for sctrace do so, because the program must not get this signal. Moves it back to before its
 * call.
 */
static void settle_knock(struct patch *p, struct task *task)
{
	struct cpu_regs r;
	siginfo_t si;
	int status;
	while (!task->deliver && cpu_get(task->tid, &r) == 0 && stepout_knocks(r.CPU_IP)) {
		if (ptrace_retry(PTRACE_SYSCALL, task->tid, NULL, NULL) < 0 ||
		    remote_next_stop(&p->t, task, &status) < 0)
			return;
		if (status >> 16 || WSTOPSIG(status) == (SIGTRAP | 0x80) ||
		    ptrace_retry(PTRACE_GETSIGINFO, task->tid, NULL, &si) < 0)
			continue;
		if (stepout_knock(task, &si, &r) != KNOCK_CALL) {
			task->deliver = WSTOPSIG(status);
			return;
		}
		r.CPU_IP -= CPU_CALL_SIZE;
		cpu_set(task->tid, &r);
	}
}

static void settle_pending(struct patch *p, struct task *task)
{
	if (p->arming != ARM_KNOCK)
		settle_forced(p, task);
	else if (image_has_agent(image_of(task))) {
		settle_knock(p, task);
		if (!task->deliver)
			remote_settle(&p->t, task);
	}
}

/*
 * True if a handler of the thread may return to an instruction that has moved into a stub. While sctrace traces the thread,
 * the agent or sctrace lets the thread continue in the stub. Without sctrace, the instruction must be back.
 */
static bool task_returns(const struct task *task)
{
	const struct patch_task *pt = patch_task_of(task);
	const struct image *img = image_of(task);
	return pt && (pt->moved_frames > 0 || (pt->signalled && (img->sites.followed[0] || img->sites.unfollowed)));
}

void detach_task(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	const struct image *img = image_of(task);
	if (p->record) {
		record_free_child(task);
		record_take_pointer(task);
	}
	if (!img)
		image_refuse_all(task);
	if (!img || !img->counters.region)
		return;
	unattended_settle(p, task);
	/*
	 * Clearing the selector byte also turns dispatch off for threads that cannot be stopped. The byte is not
	 * cleared if a child is detached alone, because the child may share this byte with its parent.
	 */
	if (img->sigsys.selected && t->detaching)
		region_tail(img->counters.region)->selector = 0;
	if (t->detaching)
		region_tail(img->counters.region)->records = 0;
	settle_pending(p, task);
	arm_task(p, task, false);
	/* A child of vfork(2) that is not followed runs in its parent's memory, from which the agent is removed. */
	if (task->proc->counted || task->proc->hold)
		stepout(p, task, STEPOUT_PROGRAM);
	/* The memory may be removed only later, when a thread that waits in vfork(2) stops, and this task runs again. */
	if (t->detaching)
		waits_leave(task);
	/*
	 * detach_clean() restores the code of attached processes. In other processes, the jumps usually stay, and the
	 * instructions that they have replaced are executed in the stub.
	 */
	if (!t->detaching || !task->proc->attached)
		site_follow_moved(task);
	if (!t->detaching)
		sigkill_guard_inherit(p, task);
	if (!t->detaching && img->refs == 1)
		image_refuse_all(task);
	/* A child that is not followed, and whose parent was in a handler, is detached alone, without detach_clean(). */
	if (img->refs == 1 && task->proc->ntasks == 1 && (task_returns(task) || p->arming == ARM_KNOCK))
		site_restore_all(task);
}

/*
 * True if all threads that run in the image are stopped, and no handler will return to a stub, so that no thread runs in
 * memory that will be unmapped. Threads of other processes count as well: the parent of a vfork(2) child waits in the
 * agent of the same image.
 */
static bool can_unmap(const struct patch *p, const struct image *img)
{
	size_t i = 0;
	const struct task *task;
	while ((task = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (task->proc && image_of(task) == img && (!task->stopped || task_returns(task)))
			return false;
	return true;
}

/* True if the call of a thread returns without waiting: it has ended, a signal has interrupted it, or it has created a child. */
static bool call_ends(const struct task *task)
{
	struct cpu_regs r;
	siginfo_t si;
	struct __ptrace_syscall_info info;
	if (ptrace_retry(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof(info), &info) > 0 &&
	    info.op == PTRACE_SYSCALL_INFO_EXIT)
		return true;
	if (cpu_get(task->tid, &r) == 0 && remote_restart_pending(&r))
		return true;
	if (ptrace_retry(PTRACE_GETSIGINFO, task->tid, NULL, &si) < 0)
		return false;
	return si.si_code == (SIGTRAP | PTRACE_EVENT_FORK << 8) || si.si_code == (SIGTRAP | PTRACE_EVENT_CLONE << 8);
}

/*
 * Makes the kernel skip the call at whose entry the thread is, because the call may block. repeat_skipped() lets the thread make it
 * again. Returns false if the thread is not at the entry of a call; if it is in a stub or in the agent, which will be removed; or
 * if the call is exit(2), because another thread may already use its stack.
 */
static bool skip_begun(const struct task *task, struct call *c)
{
	return arm_read_stop(task->tid, c) == ARM_STOP_ENTRY && c->arch == syscall_native_arch() && c->nr >= 0 &&
	       c->nr != SYS_exit && arch_read_call(task->tid, c) == 0 && !site_of_stub(image_of(task), c->ip) &&
	       (c->ip < AGENT_CODE || c->ip >= AGENT_LIMIT) && arch_skip_call(task->tid) == 0;
}

static void repeat_skipped(const struct task *task, const struct call *c)
{
	struct cpu_regs r;
	if (cpu_get(task->tid, &r) < 0)
		return;
	remote_set_call(&r, (uint64_t)c->nr, c->args);
	r.CPU_IP -= CPU_CALL_SIZE;
	cpu_set(task->tid, &r);
}

/*
 * Moves a thread to an event-stop, in which it can run code (remote.h). A thread that is about to receive a signal receives
 * it: the event-stop follows before the first instruction of the handler. Returns false if the thread is in the middle of
 * a call that may wait, or has stopped differently. Any stop discards the event-stop that PTRACE_INTERRUPT has requested
 * (ptrace_stop() in kernel/signal.c), so it is requested again.
 */
static bool move_to_event_stop(struct patch *p, struct task *task)
{
	int status;
	struct call begun;
	if (!task->mid_call && !task->deliver)
		return true;
	bool skipped = task->mid_call && skip_begun(task, &begun);
	if (task->deliver ? tracer_is_stopping(task->deliver) : !skipped && !call_ends(task))
		return false;
	if (ptrace_retry(PTRACE_INTERRUPT, task->tid, NULL, NULL) < 0 ||
	    ptrace_retry(PTRACE_CONT, task->tid, NULL, (void *)(intptr_t)task->deliver) < 0)
		return false;
	task->deliver = 0;
	if (remote_next_stop(&p->t, task, &status) < 0)
		return false;
	task->mid_call = false;
	if (skipped)
		repeat_skipped(task, &begun);
	if (status >> 16 == 0)
		task->deliver = WSTOPSIG(status);
	task->listening = status >> 16 == PTRACE_EVENT_STOP && tracer_is_stopping(WSTOPSIG(status));
	return status >> 16 == PTRACE_EVENT_STOP && !task->listening;
}

static void unmap_all(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	struct areas areas = {0};
	/*
	 * A thread would have to leave its group-stop to unmap the agent, and a filter of the program could end it for that. So
	 * the agent stays, unused.
	 */
	if (task->listening || img->sigsys.sealed || !move_to_event_stop(p, task))
		return;
	sigkill_guard_remove(p, task, false);
	setup_areas(img, &areas);
	img->cleaned = maps_unmap(p, task, areas.v, areas.n);
	vec_free(&areas);
}

/* Does the same for any thread of an image. */
static bool image_returns(const struct patch *p, const struct image *img)
{
	size_t i = 0;
	const struct task *task;
	while ((task = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (task->proc && image_of(task) == img && task_returns(task))
			return true;
	return false;
}

void detach_clean(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	struct image *img = image_of(task);
	if (!img || !image_has_agent(img))
		return;
	if (task->proc->attached || image_returns(p, img))
		site_restore_all(task);
	if (task->proc->attached && can_unmap(p, img))
		unmap_all(p, task);
}
