/* SPDX-License-Identifier: MIT */
/* Handles threads and processes that the program creates, and their ends. */
#ifndef SCTRACE_ENGINE_PATCH_LIFE_CHILDREN_H
#define SCTRACE_ENGINE_PATCH_LIFE_CHILDREN_H

#include "engine/patch/state.h"

/* Returns the task's struct patch_task, which is created if there is none. */
struct patch_task *children_give_state(struct task *task);
/* tracer_ops.unseen_clone: recognises a clone(2) that the agent has made, and sets *flags to the flags of this call. */
bool children_unseen_clone(struct tracer *t, const struct task *parent, int event, uint64_t *flags);
/* tracer_ops.new_task: gives the child its parent's image, or a copy of it. */
void children_on_new_task(struct tracer *t, struct task *parent, struct task *child, uint64_t flags);
/* tracer_ops.first_stop: arms a new task. */
void children_on_first_stop(struct tracer *t, struct task *task);
/* tracer_ops.death: releases what the engine knows about the task. */
void children_on_death(struct tracer *t, struct task *task);

/* Puts the agent into the images that execve(2) creates. */

/*
 * Puts the agent into the image of a stopped task, unless `why` already gives a reason not to. `at` and `mask` are
 * those of setup_image(). Afterwards the registers of the task are set to `r`. If the agent cannot be put into the
 * image, the image falls back, and `why` gives the reason. Returns false if the task has died.
 */
bool exec_enter_image(struct patch *p, struct task *task, uint64_t at, const struct cpu_regs *r, const uint64_t *mask,
		      struct buf *why);
/* tracer_ops.signal: if unattended setup has failed, sets up the image again. Otherwise calls signals_stop(). */
enum tracer_verdict exec_signal(struct tracer *t, struct task *task, const siginfo_t *si);
/* tracer_ops.exec: ends a recorded or traced execve(2), and puts the agent into the new image before it runs. */
bool exec_done(struct tracer *t, struct task *task);

#endif
