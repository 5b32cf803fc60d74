#include "engine/ptrace/tasks/resume.h"

#include "base/clock.h"
#include "engine/ptrace/state/group.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

void tracer_detach_task(struct tracer *t, struct task *task)
{
	int sig = task->deliver;
	task->deliver = 0;
	/*
	 * If the task is not known to be stopped, it may have just stopped for a signal, which PTRACE_DETACH would
	 * discard. The kernel detaches such a task when sctrace exits.
	 */
	long r = task->stopped ? ptrace_retry(PTRACE_DETACH, task->tid, NULL, sig) : 0;
	/*
	 * If the kernel refuses PTRACE_DETACH, it detaches the task when sctrace exits, but does not deliver the signal
	 * (wait_task_stopped() in kernel/exit.c). So the signal is sent again. A SIGSYS is not sent again, because the
	 * engine may have caused it.
	 */
	bool own = sig == SIGSYS && t->ops->signal;
	if (r < 0 && errno != ESRCH && sig && !own && task->proc)
		syscall(SYS_tgkill, task->proc->pid, task->tid, sig);
	tracer_forget(t, task);
}

void tracer_release(struct tracer *t, struct task *task)
{
	if (t->ops->detach)
		t->ops->detach(t, task);
	tracer_detach_task(t, task);
}

void tracer_resume(struct tracer *t, struct task *task)
{
	if (!task->stopped)
		return;
	if (task->release) {
		tracer_release(t, task);
		return;
	}
	task->stopped = false;
	int sig = task->deliver;
	task->deliver = 0;
	/*
	 * The call begins now. Since its thread stopped, sctrace has handled the stop and has written its output, and
	 * this time is not part of the call's duration.
	 */
	if (thread_of(task)->entering)
		thread_of(task)->entered_ns = clock_ns();
	thread_of(task)->entering = false;
	/* sctrace's filter stops the task at the wanted calls, so PTRACE_SYSCALL is needed only for their ends. */
	int request = task->listening          ? PTRACE_LISTEN
		      : t->ops->resume_request ? t->ops->resume_request(t, task)
		      : !task->proc->counted || (t->filter && !thread_of(task)->in_call) ? PTRACE_CONT
											 : PTRACE_SYSCALL;
	if (ptrace_retry(request, task->tid, NULL, task->listening ? 0 : sig) == 0 || errno == ESRCH)
		return; /* ESRCH: the task was killed in the meantime, and the loop will see its end */
	/* The kernel has refused the request: tracer_check_refused() will give up tracing. */
	task->stopped = true;
	task->deliver = sig;
}
