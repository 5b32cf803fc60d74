/* What the tracer knows about a thread in addition to struct task: its current call, and changes made to that call. */
#ifndef SCTRACE_ENGINE_PTRACE_STATE_THREAD_H
#define SCTRACE_ENGINE_PTRACE_STATE_THREAD_H

#include "syscall/life.h"
#include "tracee/tasks.h"

#include <signal.h>

/* Says where CLONE_UNTRACED was cleared in the flags of the thread's clone(2), so that the bit can be restored. */
struct untraced {
	enum { UNTRACED_NO, UNTRACED_REGISTER, UNTRACED_MEMORY } where;
	uint64_t addr; /* address of the flags if they are in memory (clone3) */
	uint64_t flags;
};

/* What must be done at the end of a call that is tampered with. */
struct tamper {
	bool set_result;
	int64_t result;
	uint64_t exit_delay_ns;
	int signal; /* signal to deliver at the end of the call, or 0 */
};

struct thread {
	struct task task;      /* the first member, so that a struct task * of the tracer can be cast to this type */
	unsigned long options; /* PTRACE_O_* options that are set; 0: not known */
	bool in_call;
	struct call call;    /* the current or last call */
	uint64_t entered_ns; /* CLOCK_MONOTONIC time at which the call started */
	bool entering;       /* stopped at the entry of the call: tracer_resume() will set `entered_ns` */
	struct call_life life;
	bool resumes; /* the thread was attached to and has made no call since; it may be blocked in the call
		       * `resumed` */
	struct call resumed;
	struct untraced untraced;
	struct tamper tamper;
	bool reported_child; /* the kernel has reported the task that the current call has created */
	pid_t vfork_child;   /* the task for which the thread waits in vfork(2), or did; 0: none */
	pid_t vfork_parent;  /* the thread that waits in vfork(2) until this task ends or calls execve(2); 0: none */
};

/* True if a PTRACE_EVENT_STOP with this signal begins a group-stop. */
static inline bool tracer_is_stopping(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

static inline struct thread *thread_of(const struct task *task)
{
	return (struct thread *)task;
}

#endif
