#include "engine/ptrace/loop/detach.h"

#include "base/clock.h"
#include "engine/ptrace/loop/stops.h"
#include "engine/ptrace/state/give_up.h"
#include "engine/ptrace/tasks/resume.h"
#include "engine/ptrace/wait/wait.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* Handles a stop during the detaching: notes new and ended tasks, discards events. The task stays stopped. */
static void note_stop(struct tracer *t, const struct wait_status *w)
{
	struct task *task = tasks_find(&t->tasks, w->tid);
	t->handled = *w; /* a call that ends with this stop ends now, and not at the stop that was handled before */
	/* Tracing was given up: a child that its parent has not reported yet must be killed as well. */
	if (!task && t->failed && t->root.pid && WIFSTOPPED(w->status))
		kill(w->tid, SIGKILL);
	if (!task && WIFSTOPPED(w->status))
		task = tasks_add(&t->tasks, w->tid);
	if (!task)
		return;
	bool dying = t->failed && t->root.pid && WIFSTOPPED(w->status) && !(task->proc && task->proc->attached);
	tracer_stop(t, task, w->status);
	t->events.n = t->events.next = 0;
	t->current = NULL;
	if (dying)
		ptrace_retry(PTRACE_CONT, w->tid, NULL, NULL); /* the task was killed, and its end will follow */
}

#define DETACH_PATIENCE_NS NSEC_PER_SEC
/*
 * How long sctrace waits for threads that are in vfork(2) after everything else was detached. The program runs meanwhile.
 * A thread that is not detached properly may be killed, because its calls still raise SIGSYS.
 */
#define VFORK_PATIENCE_NS (5 * NSEC_PER_SEC)

/* True if the task waits in vfork(2) for a stopped child. PTRACE_INTERRUPT does not end this wait. */
static bool waits_for_child(const struct tracer *t, const struct task *task)
{
	while (!task->stopped) {
		const struct task *child = tasks_find(&t->tasks, thread_of(task)->vfork_child);
		if (!child || thread_of(child)->vfork_parent != task->tid)
			return false;
		task = child; /* it may wait for a child of its own */
	}
	return true;
}

/* True if all tasks are stopped, apart from those that cannot be stopped. */
static bool all_stopped(const struct tracer *t)
{
	struct task *task;
	for (size_t i = 0; (task = map_next(&t->tasks.by_tid, &i, NULL));)
		if (!task->stopped && !task->exiting && !waits_for_child(t, task))
			return false;
	return true;
}

static void interrupt_all(struct tracer *t)
{
	struct task *task;
	for (size_t i = 0; (task = map_next(&t->tasks.by_tid, &i, NULL));)
		if (!task->stopped)
			ptrace_retry(PTRACE_INTERRUPT, task->tid, NULL, NULL);
}

/*
 * First calls ops->detach for all stopped threads, so that they leave the engine's code. Then calls ops->leave, which
 * restores their processes. Then detaches from these threads; if `all` is set, also from threads that are not stopped.
 */
static void release_tasks(struct tracer *t, bool all)
{
	struct task *task;
	for (size_t i = 0; t->ops->detach && (task = map_next(&t->tasks.by_tid, &i, NULL));)
		if (task->stopped && task->proc)
			t->ops->detach(t, task);
	for (size_t i = 0; t->ops->leave && (task = map_next(&t->tasks.by_tid, &i, NULL));)
		if (task->stopped && task->proc)
			t->ops->leave(t, task);
	for (size_t i = 0; (task = map_next(&t->tasks.by_tid, &i, NULL));)
		if (task->stopped || all) {
			tracer_detach_task(t, task);
			i = 0; /* tracer_detach_task() has changed the map, so the iteration begins again */
		}
}

/*
 * Waits at most `patience_ns` until all tasks are stopped, apart from those that cannot be stopped. If tracing was given
 * up, also waits for children that their parents have not reported yet.
 */
static void await_stops(struct tracer *t, uint64_t patience_ns)
{
	uint64_t until = clock_ns() + patience_ns;
	while (!all_stopped(t) || (t->failed && t->root.pid && !t->root.waits)) {
		struct wait_status w = {.noticed = NOTICED_POLLING};
		w.tid = tracer_wait(t, -1, &w.status, WNOHANG, NULL);
		w.noticed_ns = clock_ns();
		if (w.tid < 0 && w.tid != -EINTR)
			break;
		if (w.tid > 0)
			note_stop(t, &w);
		else if (clock_ns() > until)
			break;
		else
			clock_sleep_ns(100000);
	}
}

void tracer_detach_all(struct tracer *t)
{
	t->detaching = true;
	while (t->waits.next < t->waits.taken.n)
		note_stop(t, &t->waits.taken.v[t->waits.next++]);
	interrupt_all(t);
	await_stops(t, DETACH_PATIENCE_NS);
	/*
	 * PTRACE_INTERRUPT does not end the wait of a vfork(2) parent, whose child is among the stopped tasks. When the
	 * child has been detached and executes a program, the parent stops. If a task still does not stop, the kernel
	 * detaches it when sctrace exits, or kills it if it was started with PTRACE_O_EXITKILL.
	 */
	release_tasks(t, false);
	if (t->tasks.by_tid.n && !t->failed)
		await_stops(t, VFORK_PATIENCE_NS);
	release_tasks(t, true);
}

int tracer_detach(struct engine *e)
{
	struct tracer *t = (struct tracer *)e;
	tracer_detach_all(t);
	tracer_check_refused(t);
	return t->failed;
}

bool tracer_is_needed(const struct engine *e)
{
	return ((const struct tracer *)e)->filter;
}
