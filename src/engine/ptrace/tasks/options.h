/* Computes and sets the ptrace(2) options of tasks. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_OPTIONS_H
#define SCTRACE_ENGINE_PTRACE_TASKS_OPTIONS_H

#include "engine/ptrace/state/tracer.h"

/*
 * Returns the options of attached tasks: those of started tasks, except that the kernel does not kill attached tasks
 * when sctrace dies.
 */
unsigned long tracer_attach_options(const struct tracer *t);
/* Sets the options of a stopped task. Only leaders of started or attached processes stop at their exit. */
void tracer_set_options(struct tracer *t, const struct task *task);

#endif
