/* Puts the agent into the images that execve(2) creates. */
#ifndef SCTRACE_ENGINE_PATCH_LIFE_EXEC_H
#define SCTRACE_ENGINE_PATCH_LIFE_EXEC_H

#include "engine/patch/state.h"

/*
 * Puts the agent into the image of a stopped task, unless `why` already gives a reason not to. `at` and `mask` are
 * those of setup_image(). Afterwards the registers of the task are set to `r`. If the agent cannot be put into the
 * image, the image falls back, and `why` gives the reason. Returns false if the task has died.
 */
bool exec_enter_image(struct patch *p, struct task *task, uint64_t at, const struct user_regs_struct *r,
		      const uint64_t *mask, struct buf *why);
/* tracer_ops.signal: if unattended setup has failed, sets up the image again. Otherwise calls signals_stop(). */
enum tracer_verdict exec_signal(struct tracer *t, struct task *task, const siginfo_t *si);
/* tracer_ops.exec: ends a recorded or traced execve(2), and puts the agent into the new image before it runs. */
bool exec_done(struct tracer *t, struct task *task);

#endif
