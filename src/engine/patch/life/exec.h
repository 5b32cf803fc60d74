/* New images. */
#ifndef SCTRACE_ENGINE_PATCH_LIFE_EXEC_H
#define SCTRACE_ENGINE_PATCH_LIFE_EXEC_H

#include "engine/patch/state.h"

/*
 * Puts the agent into the image of a stopped task, unless `why` already says that it must not. `at` and `mask` are as of
 * setup_image(); the task gets registers `r` afterwards. If the agent does not go in, the image falls back, and `why` says why. False if the task
 * has died.
 */
bool exec_enter_image(struct patch *p, struct task *task, uint64_t at, const struct user_regs_struct *r,
		      const uint64_t *mask, struct buf *why);
/* tracer_ops.exec: puts the agent into a new image before its first instruction. */
void exec_done(struct tracer *t, struct task *task);

#endif
