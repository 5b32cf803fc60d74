/* A stop at a call: reads it, makes its events, and tampers with it. */
#ifndef SCTRACE_ENGINE_PTRACE_CALLS_STOP_H
#define SCTRACE_ENGINE_PTRACE_CALLS_STOP_H

#include "engine/ptrace/state/tracer.h"

/* A syscall-stop, or a stop by a seccomp filter of ours: PTRACE_GET_SYSCALL_INFO tells whether the call enters or returns. */
void tracer_syscall_stop(struct tracer *t, struct task *task);

/* Is the task's present call wanted as an event? */
bool tracer_wants_call(const struct tracer *t, const struct task *task);

#endif
