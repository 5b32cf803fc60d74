/* New images. */
#ifndef SCTRACE_ENGINE_PATCH_LIFE_EXEC_H
#define SCTRACE_ENGINE_PATCH_LIFE_EXEC_H

#include "engine/patch/state.h"

/* tracer_ops.exec: puts the agent into a new image before its first instruction. */
void exec_done(struct tracer *t, struct task *task);

#endif
