/* Takes all stops from the kernel before any of them is handled. */
#ifndef SCTRACE_ENGINE_PTRACE_LOOP_BATCH_H
#define SCTRACE_ENGINE_PTRACE_LOOP_BATCH_H

#include "engine/ptrace/state/tracer.h"

/* Fills t->waited. Blocks for the first status. Returns 0, or -errno like tracer_wait(). */
int tracer_take_waiting(struct tracer *t);

#endif
