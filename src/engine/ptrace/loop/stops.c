#include "engine/ptrace/loop/stops.h"

#include "base/clock.h"
#include "engine/ptrace/calls/stop.h"
#include "engine/ptrace/tasks/children.h"
#include "engine/ptrace/tasks/deaths.h"
#include "engine/ptrace/tasks/exec.h"
#include "engine/ptrace/tasks/signals.h"
#include "engine/ptrace/wait/wait.h"

#include <signal.h>
#include <sys/wait.h>

#define SYSCALL_STOP (SIGTRAP | 0x80)

static void on_ptrace_event(struct tracer *t, struct task *task, int event, int sig)
{
	switch (event) {
	case PTRACE_EVENT_STOP:
		tracer_on_event_stop(t, task, sig);
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		tracer_on_child(t, task, event);
		tracer_expect_output(t);
		break;
	case PTRACE_EVENT_EXEC:
		tracer_on_exec(t, task);
		break;
	case PTRACE_EVENT_EXIT:
		tracer_on_exit(t, task);
		break;
	case PTRACE_EVENT_SECCOMP:
		if (!t->ops->seccomp)
			tracer_syscall_stop(t, task);
		else if (t->ops->seccomp(t, task) == STOP_RESUMED)
			task->stopped = false;
		break;
	default: /* PTRACE_EVENT_VFORK_DONE, and events of later kernels: nothing to do */
		break;
	}
}

int tracer_stop(struct tracer *t, struct task *task, int status)
{
	t->current = task;
	if (!WIFSTOPPED(status)) {
		t->current = NULL;
		t->unreported -= task->early_status != 0;
		tracer_on_death(t, task, status);
		return t->events.n > 0;
	}
	task->stopped = true;
	task->listening = false;
	int event = status >> 16;
	int sig = WSTOPSIG(status);
	task->mid_call = (event && event != PTRACE_EVENT_STOP) || sig == SYSCALL_STOP;
	if (!task->proc && task->early_status) {
		tracer_adopt(t, task);
		t->unreported--;
		task->early_status = 0;
		task->fresh = false;
	}
	if (!task->proc && event != PTRACE_EVENT_EXEC) {
		/* A child may stop before its parent's event. It stays stopped until the parent has reported it. */
		task->early_status = status;
		task->early_ns = clock_ns();
		t->unreported++;
		t->current = NULL;
		return 0;
	}
	if (event)
		on_ptrace_event(t, task, event, sig);
	else if (sig == SYSCALL_STOP) {
		if (!t->ops->syscall_stop || !t->ops->syscall_stop(t, task))
			tracer_syscall_stop(t, task);
	} else
		tracer_on_signal(t, task, sig);
	return t->events.n > 0;
}
