/* Taking all stops that the kernel has, before any of them is served. */
#ifndef SCTRACE_ENGINE_PTRACE_LOOP_BATCH_H
#define SCTRACE_ENGINE_PTRACE_LOOP_BATCH_H

#include "engine/ptrace/state/tracer.h"

/* Fills t->waited; blocks for the first status. 0, or -errno as tracer_wait(). */
int tracer_take_waiting(struct tracer *t);

#endif
