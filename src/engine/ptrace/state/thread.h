/* What the tracer knows of a thread beyond its stop: the call it is in, and what was changed about that call. */
#ifndef SCTRACE_ENGINE_PTRACE_STATE_THREAD_H
#define SCTRACE_ENGINE_PTRACE_STATE_THREAD_H

#include "syscall/life.h"
#include "tracee/tasks.h"

#include <signal.h>

/* CLONE_UNTRACED was taken out of the flags of its clone(2), and must be put back. */
struct untraced {
	enum { UNTRACED_NO, UNTRACED_REGISTER, UNTRACED_MEMORY } where;
	uint64_t addr; /* of the flags in memory (clone3) */
	uint64_t flags;
};

/* What is left to be done at the end of a call that is tampered with. */
struct tamper {
	bool set_result;
	int64_t result;
	uint64_t exit_delay_ns;
	int signal; /* to be delivered then, or 0 */
};

struct thread {
	struct task task; /* first, so that a struct task * of the tracer's is one of these */
	bool in_call;
	struct call call;    /* the current or last one */
	uint64_t entered_ns; /* CLOCK_MONOTONIC: when it was let into the call */
	struct call_life life;
	bool resumes; /* attached to, and no call was seen since: `resumed` is what the thread may be blocked in */
	struct call resumed;
	struct untraced untraced;
	struct tamper tamper;
};

/* Does a PTRACE_EVENT_STOP with this signal begin a group-stop? */
static inline bool tracer_is_stopping(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

static inline struct thread *thread_of(const struct task *task)
{
	return (struct thread *)task;
}

#endif
