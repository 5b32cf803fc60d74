#include "engine/ptrace/loop/detach.h"

#include "base/clock.h"
#include "engine/ptrace/loop/stops.h"
#include "engine/ptrace/state/give_up.h"
#include "engine/ptrace/tasks/resume.h"
#include "engine/ptrace/wait/wait.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* A stop on the way to letting go: births and ends are noted, nothing is told, the task stays stopped. */
static void note_stop(struct tracer *t, const struct wait_status *w)
{
	struct task *task = tasks_find(&t->tasks, w->tid);
	/* Whose birth was not told is killed like all of the program, where that has to be. */
	if (!task && t->failed && t->root && WIFSTOPPED(w->status))
		kill(w->tid, SIGKILL);
	if (!task && WIFSTOPPED(w->status))
		task = tasks_add(&t->tasks, w->tid);
	if (!task)
		return;
	bool dying = t->failed && t->root && WIFSTOPPED(w->status) && !(task->proc && task->proc->attached);
	tracer_stop(t, task, w->status);
	t->npending = t->next_pending = 0;
	t->current = NULL;
	if (dying)
		ptrace(PTRACE_CONT, w->tid, NULL, NULL); /* it was killed: its end comes next */
}

#define DETACH_PATIENCE_NS NSEC_PER_SEC

/* Are all tasks stopped that can be? */
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
			ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL);
}

/* Each task leaves the engine's code, then each process is cleaned, then all are detached. */
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
	while (t->next_waited < t->waited.n)
		note_stop(t, &t->waited.v[t->next_waited++]);
	interrupt_all(t);
	/*
	 * Some waits no interruption ends (a vfork parent's): what has not stopped by then our own exit lets go. Where all is to be
	 * killed, births that were not told yet are waited for, too.
	 */
	uint64_t until = clock_ns() + DETACH_PATIENCE_NS;
	while (!all_stopped(t) || (t->failed && t->root && !t->root_waits)) {
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
