/* The ptrace(2) options of tasks. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_OPTIONS_H
#define SCTRACE_ENGINE_PTRACE_TASKS_OPTIONS_H

#include "engine/ptrace/state/tracer.h"

/* The options of attached tasks: those of started ones, but our death does not kill them. */
unsigned long tracer_attach_options(const struct tracer *t);
/* Sets the options of a stopped task: only leaders of started or attached processes stop at their exit. */
void tracer_set_options(struct tracer *t, const struct task *task);

#endif
