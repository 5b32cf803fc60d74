/* PTRACE_EVENT_EXEC. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_EXEC_H
#define SCTRACE_ENGINE_PTRACE_TASKS_EXEC_H

#include "engine/ptrace/state/tracer.h"

/* The task runs a new program. Its process now has only this thread, which has the leader's id. */
void tracer_on_exec(struct tracer *t, struct task *task);

#endif
