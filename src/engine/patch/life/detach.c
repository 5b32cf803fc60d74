#include "engine/patch/life/detach.h"

#include "engine/patch/arm/arm.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/region.h"
#include "engine/patch/image/setup.h"
#include "engine/patch/image/site.h"
#include "engine/patch/image/unattended.h"
#include "engine/patch/image/waits.h"
#include "engine/patch/record/record.h"
#include "engine/patch/remote/remote.h"
#include "engine/patch/remote/unmap.h"
#include "engine/patch/threads/dispatch.h"
#include "engine/patch/threads/sigkill_guard.h"
#include "engine/patch/threads/stepout.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/*
 * Discards a forced SIGSYS that is pending for a task that is about to be detached, because the signal would end the
 * task. Moves the task back to before its call.
 */
static void settle_pending(struct patch *p, struct task *task)
{
	int status;
	siginfo_t si;
	struct user_regs_struct r;
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
 * True if a handler of the thread will return to an instruction that has moved into a stub. While sctrace traces the thread,
 * it sees rt_sigreturn(2), and lets the thread continue in the stub. Without sctrace, the instruction must be back.
 */
static bool task_returns(const struct task *task)
{
	return patch_task_of(task) && patch_task_of(task)->moved_frames > 0;
}

void detach_task(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	const struct image *img = image_of(task);
	if (p->record)
		record_free_child(task);
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
	if (img->refs == 1 && task->proc->ntasks == 1 && task_returns(task))
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

/*
 * Moves a thread from the stop at the end of an interrupted call to an event-stop, in which it can run code (remote.h).
 * Returns false if it is in the middle of another call, or has stopped differently. Any stop discards the event-stop that
 * PTRACE_INTERRUPT has requested (ptrace_stop() in kernel/signal.c), so it is requested again.
 */
static bool leave_call(struct patch *p, struct task *task)
{
	int status;
	struct user_regs_struct r;
	if (!task->mid_call)
		return true;
	if (ptrace_retry(PTRACE_GETREGS, task->tid, NULL, &r) < 0 || !remote_restart_pending(&r) ||
	    ptrace_retry(PTRACE_INTERRUPT, task->tid, NULL, NULL) < 0 ||
	    ptrace_retry(PTRACE_CONT, task->tid, NULL, NULL) < 0 || remote_next_stop(&p->t, task, &status) < 0)
		return false;
	task->mid_call = false;
	if (status >> 16 == 0)
		task->deliver = WSTOPSIG(status);
	task->listening = status >> 16 == PTRACE_EVENT_STOP && tracer_is_stopping(WSTOPSIG(status));
	return !task->deliver && !task->listening;
}

static void unmap_all(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	struct areas areas = {0};
	/* A thread would have to leave its group-stop to unmap the agent. So the agent stays, unused. */
	if (task->listening || task->deliver || !leave_call(p, task))
		return;
	sigkill_guard_remove(p, task, false);
	setup_areas(img, &areas);
	img->cleaned = unmap_areas(p, task, areas.v, areas.n);
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
	if (!img || img->state != IMAGE_READY || img->cleaned)
		return;
	if (task->proc->attached || image_returns(p, img))
		site_restore_all(task);
	if (task->proc->attached && can_unmap(p, img))
		unmap_all(p, task);
}
