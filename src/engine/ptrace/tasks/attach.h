/* Attaching to running processes, and the ptrace(2) options of tasks. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_ATTACH_H
#define SCTRACE_ENGINE_PTRACE_TASKS_ATTACH_H

#include "engine/ptrace/state/tracer.h"

/* Attaches to all threads of `pid`. Returns 0, or -errno with a sentence in `why`. */
int tracer_attach(struct tracer *t, pid_t pid, struct buf *why);
/* Returns the process that traces `pid`, or 0. */
pid_t attach_tracer_of(pid_t pid);
/* Sets the options of a stopped task. Only leaders of started or attached processes stop at their exit. */
void tracer_set_options(struct tracer *t, const struct task *task);

#endif
