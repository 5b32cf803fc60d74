/* Decodes a wait status (ptrace(2), "Stopped states"), and acts on it. */
#ifndef SCTRACE_ENGINE_PTRACE_LOOP_STOPS_H
#define SCTRACE_ENGINE_PTRACE_LOOP_STOPS_H

#include "engine/ptrace/state/tracer.h"

/* Handles the wait status of a task. Returns 1 if events are pending, otherwise 0. */
int tracer_stop(struct tracer *t, struct task *task, int status);

#endif
