/* Detaching from all tasks, unharmed. */
#ifndef SCTRACE_ENGINE_PTRACE_LOOP_DETACH_H
#define SCTRACE_ENGINE_PTRACE_LOOP_DETACH_H

#include "engine/ptrace/state/tracer.h"

/* Stops all tasks and detaches from them. What does not stop in time is detached by our own exit. */
void tracer_detach_all(struct tracer *t);
/* engine_ops.detach. */
int tracer_detach(struct engine *e);

#endif
