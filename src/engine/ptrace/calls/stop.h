/* Handles a stop at a call: reads it, creates its events, and tampers with the call. */
#ifndef SCTRACE_ENGINE_PTRACE_CALLS_STOP_H
#define SCTRACE_ENGINE_PTRACE_CALLS_STOP_H

#include "engine/ptrace/state/tracer.h"

/* Handles a syscall-stop, or a stop by sctrace's seccomp filter. */
void tracer_syscall_stop(struct tracer *t, struct task *task);

/* Returns true if the task's current call must be reported as an event. */
bool tracer_wants_call(const struct tracer *t, const struct task *task);

#endif
