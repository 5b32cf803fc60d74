/* SPDX-License-Identifier: MIT */
/* Puts the agent into running processes. */
#ifndef SCTRACE_ENGINE_PATCH_LIFE_PATCH_ATTACH_H
#define SCTRACE_ENGINE_PATCH_LIFE_PATCH_ATTACH_H

#include "engine/patch/state.h"

/* Stops all tasks of the attached processes, puts the agent into these processes, and resumes the tasks. */
void attach_all(struct patch *p);

/* Detaches from processes, so that they continue as if they had never been traced. */

/* tracer_ops.detach: disarms a stopped task before it is detached, and moves it out of the agent and the stubs. */
void detach_task(struct tracer *t, struct task *task);
/*
 * tracer_ops.leave: if sctrace attached to the task's process, restores the process's code and unmaps the agent, once
 * for each image. Restores the code of other processes only if handlers will return to instructions that have moved.
 */
void detach_clean(struct tracer *t, struct task *task);

#endif
