/* Attaching to running processes. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_ATTACH_H
#define SCTRACE_ENGINE_PTRACE_TASKS_ATTACH_H

#include "engine/ptrace/state/tracer.h"

/* Attaches to all threads of `pid`. 0, or -errno and `why` is a sentence. */
int tracer_attach(struct tracer *t, pid_t pid, struct buf *why);

#endif
