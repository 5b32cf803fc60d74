/* Attaching to running processes. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_ATTACH_H
#define SCTRACE_ENGINE_PTRACE_TASKS_ATTACH_H

#include "engine/ptrace/state/tracer.h"

/* Attaches to all threads of `pid`. Returns 0, or -errno with a sentence in `why`. */
int tracer_attach(struct tracer *t, pid_t pid, struct buf *why);

#endif
