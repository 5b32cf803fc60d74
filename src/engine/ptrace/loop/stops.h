/* What a wait status means (ptrace(2), "Stopped states"), and what follows from it. */
#ifndef SCTRACE_ENGINE_PTRACE_LOOP_STOPS_H
#define SCTRACE_ENGINE_PTRACE_LOOP_STOPS_H

#include "engine/ptrace/state/tracer.h"

/* Handles the wait status of a task. 1: events are pending; 0: none. */
int tracer_stop(struct tracer *t, struct task *task, int status);

#endif
