#include "engine/ptrace/tasks/deaths.h"

#include "base/clock.h"
#include "engine/ptrace/calls/calls.h"
#include "engine/ptrace/state/event.h"
#include "engine/ptrace/state/group.h"
#include "tracee/proc.h"

/* Death of the last thread: the process's own end. */
static void process_ended(struct tracer *t, struct task *task, int status)
{
	if (task->proc->pid != t->root)
		return;
	t->result.status = status;
	if (t->root_ran && !t->result.wall_ns)
		t->result.wall_ns = clock_ns() - t->root_t0;
}

void tracer_on_death(struct tracer *t, struct task *task, int status)
{
	if (!task->proc) { /* it came and went before its birth was told */
		tasks_remove(&t->tasks, task);
		return;
	}
	/* A zombie leader reports when the last thread is gone; the others as they go. */
	bool last = task->tid == task->proc->pid;
	tracer_call_vanish(t, task);
	if (last)
		process_ended(t, task, status);
	if (task->proc->counted && (!task->proc->root || t->root_ran)) {
		struct event *ev = tracer_event(t, EV_DEATH, task);
		ev->status = status;
		ev->is_process = last;
		ev->mem = NULL;
	}
	tracer_forget(t, task);
}

void tracer_on_exit(struct tracer *t, struct task *task)
{
	task->exiting = true;
	task->group_stopped = false;
	if (task->tid != task->proc->pid || !task->proc->counted)
		return;
	int64_t rss = proc_peak_rss(task->tid);
	if (rss > 0 && (uint64_t)rss > t->result.peak_rss_bytes)
		t->result.peak_rss_bytes = (uint64_t)rss;
	t->result.rss_is_largest = t->result.processes > 1;
}

/*
 * The peak resident set of a descendant: what wait4(2) says includes its parent's before its execve(2), which is counted too.
 * Not so the started program's own, whose parent was sctrace: there the exit event tells.
 */
void tracer_note_peak(struct tracer *t, const struct task *task, uint64_t bytes)
{
	const struct process *p = task->proc;
	if (bytes && p && p->counted && !p->root && !p->attached && bytes > t->result.peak_rss_bytes)
		t->result.peak_rss_bytes = bytes;
}
