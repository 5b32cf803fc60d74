/* Detaches from processes, so that they continue as if they had never been traced. */
#ifndef SCTRACE_ENGINE_PATCH_LIFE_DETACH_H
#define SCTRACE_ENGINE_PATCH_LIFE_DETACH_H

#include "engine/patch/state.h"

/* tracer_ops.detach: disarms a stopped task before it is detached, and moves it out of the agent and the stubs. */
void detach_task(struct tracer *t, struct task *task);
/*
 * tracer_ops.leave: if sctrace attached to the task's process, restores the process's code and unmaps the agent, once
 * for each image. Restores the code of other processes only if handlers will return to instructions that have moved.
 */
void detach_clean(struct tracer *t, struct task *task);

#endif
