/* PTRACE_EVENT_EXEC. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_EXEC_H
#define SCTRACE_ENGINE_PTRACE_TASKS_EXEC_H

#include "engine/ptrace/state/tracer.h"

/*
 * Handles PTRACE_EVENT_EXEC: the task runs a new program. It is now the only thread of its process, with the leader's
 * id.
 */
void tracer_on_exec(struct tracer *t, struct task *task);

#endif
