/* Detaches from all tasks without harming them. */
#ifndef SCTRACE_ENGINE_PTRACE_LOOP_DETACH_H
#define SCTRACE_ENGINE_PTRACE_LOOP_DETACH_H

#include "engine/ptrace/state/tracer.h"

/* Stops all tasks and detaches from them. Tasks that do not stop in time are detached when sctrace exits. */
void tracer_detach_all(struct tracer *t);
/* engine_ops.detach. */
int tracer_detach(struct engine *e);
/* engine_ops.is_needed: calls that a seccomp filter stops fail without a tracer. */
bool tracer_is_needed(const struct engine *e);

#endif
