#include "engine/ptrace/tasks/exec.h"

#include "base/clock.h"
#include "engine/ptrace/calls/calls.h"
#include "engine/ptrace/calls/stop.h"
#include "engine/ptrace/state/event.h"
#include "engine/ptrace/state/group.h"
#include "engine/ptrace/tasks/attach.h"
#include "engine/ptrace/tasks/main_symbol.h"

/*
 * Removes the threads that execve(2) has ended: all threads of the process except the one that called execve(2). If
 * that thread was not the leader, the leader has ended as well.
 */
static void forget_threads(struct tracer *t, struct task *survivor)
{
	struct task *x;
	const struct process *proc = survivor->proc;
	/* Only a task that belongs to a process can execute. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	for (size_t i = 0; proc->ntasks > 1 && (x = map_next(&t->tasks.by_tid, &i, NULL));) {
		if (x == survivor || x->proc != proc)
			continue;
		tracer_call_vanish(t, x);
		tracer_forget(t, x);
		i = 0; /* tracer_forget() has changed the map, so the iteration begins again */
	}
}

void tracer_on_exec(struct tracer *t, struct task *task)
{
	unsigned long former = (unsigned long)task->tid;
	if (!task->proc || task->proc->ntasks > 1)
		ptrace_retry(PTRACE_GETEVENTMSG, task->tid, NULL, &former);
	struct task *caller = tasks_find(&t->tasks, (pid_t)former);
	if (!caller || !caller->proc)
		caller = task;
	pid_t leader = task->tid;
	pid_t old = caller->tid;
	forget_threads(t, caller);
	tracer_leave_group(t, caller); /* the name of the group will change */
	tasks_rename(&t->tasks, caller, leader);
	caller->stopped = true;
	thread_of(caller)->vfork_parent = 0;
	bool first = caller->proc->root && !caller->proc->execed;
	caller->proc->execed = true;
	if (first) {
		t->root.ran = true;
		t->root.start_ns = clock_ns();
	}
	if (old != leader)
		tracer_set_options(t, caller);
	bool ended = t->ops->exec && t->ops->exec(t, caller);
	if (first && t->config.find_main)
		tracer_find_main(t, caller);
	t->current = caller;
	if (!caller->proc->counted)
		return;
	struct event *ev = tracer_event(t, EV_EXEC, caller);
	ev->child = old;
	if (ended && tracer_wants_call(t, caller))
		tracer_event(t, EV_EXIT, caller)->call = thread_of(caller)->call;
	if (!first && t->config.break_on && t->config.break_on(t->config.break_ctx, ev)) {
		caller->release = true;
		t->root.left |= caller->proc->root;
	}
}
