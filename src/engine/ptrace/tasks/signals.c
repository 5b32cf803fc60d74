#include "engine/ptrace/tasks/signals.h"

#include "arch/arch.h"
#include "engine/ptrace/state/event.h"
#include "engine/ptrace/tasks/children.h"
#include "engine/ptrace/tasks/main_symbol.h"

#include <errno.h>
#include <signal.h>

void tracer_on_event_stop(struct tracer *t, struct task *task, int sig)
{
	bool stopping = tracer_is_stopping(sig);
	if (task->fresh && !tracer_first_stop(t, task, sig))
		return;
	task->listening = stopping;
	if (stopping == task->group_stopped)
		return;
	task->group_stopped = stopping;
	bool wanted = t->config.want & CAP_EVENTS || task->tid == t->root.pid;
	if (!wanted || !task->proc->counted)
		return;
	struct event *ev = tracer_event(t, stopping ? EV_STOP : EV_CONT, task);
	ev->sig.si_signo = sig;
}

/*
 * Returns true if the task was killed after its signal-delivery-stop, and so gets no other signal. A killed task leaves
 * that stop, so that requests fail with ESRCH, and enters the stop of PTRACE_EVENT_EXIT, which PTRACE_GETSIGINFO then
 * describes.
 */
static bool was_killed(const struct task *task, int sig)
{
	siginfo_t now;
	return ptrace_retry(PTRACE_GETSIGINFO, task->tid, NULL, &now) < 0 ? errno == ESRCH : now.si_signo != sig;
}

void tracer_on_signal(struct tracer *t, struct task *task, int sig)
{
	/*
	 * Only events contain more than the number of a signal. Without events, the siginfo of a SIGCHLD is not read,
	 * because this would delay the program once for each of its children.
	 */
	bool number_only = sig == SIGCHLD && !(t->config.want & CAP_EVENTS);
	siginfo_t si = {.si_signo = sig};
	if (!number_only && ptrace_retry(PTRACE_GETSIGINFO, task->tid, NULL, &si) < 0) {
		/*
		 * The task can no longer be traced, and the origin of the signal is unknown. A SIGSYS is discarded if
		 * the engine uses SIGSYS, because the engine has most likely caused it.
		 */
		task->deliver = sig == SIGSYS && t->ops->signal ? 0 : sig;
		return;
	}
	if (si.si_signo != sig) { /* as in was_killed() */
		task->stopped = false;
		return;
	}
	if (sig == SIGTRAP && t->main.armed && task->proc->pid == t->root.pid && tracer_at_main(t, task))
		return;
	enum tracer_verdict v = t->ops->signal ? t->ops->signal(t, task, &si) : STOP_PASS;
	bool shown = (v == STOP_PASS || v == STOP_IGNORED) && t->config.want & CAP_EVENTS && task->proc->counted;
	/* If the engine could not find out whether it has caused a SIGSYS, the task may just have been killed. */
	if (v == STOP_RESUMED || (shown && v == STOP_PASS && sig == SIGSYS && was_killed(task, sig))) {
		task->stopped = false;
		return;
	}
	if (v == STOP_PASS)
		task->deliver = sig;
	if (!shown)
		return;
	struct event *ev = tracer_event(t, EV_SIGNAL, task);
	ev->sig = si;
	if (arch_ip(task->tid, &ev->ip) < 0)
		ev->ip = 0;
	else if (t->ops->native_ip)
		ev->ip = t->ops->native_ip(t, task, ev->ip);
}
