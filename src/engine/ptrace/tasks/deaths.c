#include "engine/ptrace/tasks/deaths.h"

#include "base/clock.h"
#include "engine/ptrace/calls/calls.h"
#include "engine/ptrace/state/event.h"
#include "engine/ptrace/state/group.h"
#include "tracee/proc.h"

void tracer_on_death(struct tracer *t, struct task *task, int status)
{
	if (!task->proc) { /* the task ended before its parent reported it */
		tasks_remove(&t->tasks, task);
		return;
	}
	/* The kernel reports the end of a leader only after the ends of all other threads of the process. */
	bool last = task->tid == task->proc->pid;
	tracer_call_vanish(t, task);
	if (last && task->tid == t->root.pid) {
		t->result.status = status;
		if (t->root.ran && !t->result.wall_ns)
			t->result.wall_ns = clock_ns() - t->root.start_ns;
	}
	if (task->proc->counted && (!task->proc->root || t->root.ran)) {
		struct event *ev = tracer_event(t, EV_DEATH, task);
		ev->status = status;
		ev->is_process = last;
		if (last && t->config.usage) {
			ev->cpu_ns = task->proc->cpu_ns;
			ev->peak_rss_bytes = task->proc->peak_rss_bytes;
		}
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
	task->proc->cpu_ns = clock_cpu_ns(task->tid);
	task->proc->peak_rss_bytes = rss > 0 ? (uint64_t)rss : 0;
	if (rss > 0 && (uint64_t)rss > t->result.peak_rss_bytes)
		t->result.peak_rss_bytes = (uint64_t)rss;
	t->result.rss_is_largest = t->result.processes > 1;
}

void tracer_note_peak(struct tracer *t, const struct task *task, uint64_t bytes)
{
	const struct process *p = task->proc;
	if (bytes && p && p->counted && !p->root && !p->attached && bytes > t->result.peak_rss_bytes)
		t->result.peak_rss_bytes = bytes;
}
