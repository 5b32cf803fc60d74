#include "engine/ptrace/loop/detach.h"

#include "base/clock.h"
#include "engine/ptrace/loop/stops.h"
#include "engine/ptrace/state/give_up.h"
#include "engine/ptrace/tasks/resume.h"
#include "engine/ptrace/wait/wait.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/*
 * A stop while all tasks are being detached: new and ended tasks are noted, events are discarded, and the task stays
 * stopped.
 */
static void note_stop(struct tracer *t, const struct wait_status *w)
{
	struct task *task = tasks_find(&t->tasks, w->tid);
	/* If the program is going to be killed, so is a child that its parent has not reported yet. */
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
		ptrace_retry(PTRACE_CONT, w->tid, NULL, NULL); /* it was killed, and its end follows */
}

#define DETACH_PATIENCE_NS NSEC_PER_SEC

/* True if all tasks are stopped that can be stopped. */
static bool all_stopped(const struct tracer *t)
{
	size_t i = 0;
	struct task *task;
	while ((task = map_next(&t->tasks.by_tid, &i, NULL)))
		if (!task->stopped && !task->exiting)
			return false;
	return true;
}

static void interrupt_all(struct tracer *t)
{
	size_t i = 0;
	struct task *task;
	while ((task = map_next(&t->tasks.by_tid, &i, NULL)))
		if (!task->stopped)
			ptrace_retry(PTRACE_INTERRUPT, task->tid, NULL, NULL);
}

/* All threads leave the engine's code first. Then each process is cleaned up. Then all tasks are detached. */
static void let_all_go(struct tracer *t)
{
	size_t i = 0;
	struct task *task;
	while (t->ops->detach && (task = map_next(&t->tasks.by_tid, &i, NULL)))
		if (task->stopped && task->proc)
			t->ops->detach(t, task);
	i = 0;
	while (t->ops->leave && (task = map_next(&t->tasks.by_tid, &i, NULL)))
		if (task->stopped && task->proc)
			t->ops->leave(t, task);
	for (i = 0; (task = map_next(&t->tasks.by_tid, &i, NULL)); i = 0)
		tracer_detach_task(t, task);
}

void tracer_detach_all(struct tracer *t)
{
	t->detaching = true;
	while (t->waits.next < t->waits.taken.n)
		note_stop(t, &t->waits.taken.v[t->waits.next++]);
	interrupt_all(t);
	/*
	 * PTRACE_INTERRUPT does not end some waits (of a vfork parent). Our own exit detaches from tasks that have not
	 * stopped by then. If the program is going to be killed, this also waits for children that were not reported
	 * yet.
	 */
	uint64_t until = clock_ns() + DETACH_PATIENCE_NS;
	while (!all_stopped(t) || (t->failed && t->root.pid && !t->root.waits)) {
		struct wait_status w;
		w.tid = tracer_wait(t, -1, &w.status, WNOHANG, NULL);
		if (w.tid < 0 && w.tid != -EINTR)
			break;
		if (w.tid > 0)
			note_stop(t, &w);
		else if (clock_ns() > until)
			break;
		else
			clock_sleep_ns(100000);
	}
	let_all_go(t);
}

int tracer_detach(struct engine *e)
{
	struct tracer *t = (struct tracer *)e;
	tracer_detach_all(t);
	tracer_check_refused(t);
	return t->failed;
}
