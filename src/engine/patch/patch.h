/* SPDX-License-Identifier: MIT */
/* What the patch engine does when processes and threads begin and end, and when it is attached and detached. */
#ifndef SCTRACE_ENGINE_PATCH_PATCH_H
#define SCTRACE_ENGINE_PATCH_PATCH_H

#include "engine/patch/state.h"

struct cost_numbers;

/* Handles threads and processes that the program creates, and their ends (children.c). */

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

/* Puts the agent into the images that execve(2) creates (children.c). */

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

/* Puts the agent into running processes (patch_attach.c). */

/* Stops all tasks of the attached processes, puts the agent into these processes, and resumes the tasks. */
void attach_all(struct patch *p);

/* Detaches from processes, so that they continue as if they had never been traced (patch_attach.c). */

/* tracer_ops.detach: disarms a stopped task before it is detached, and moves it out of the agent and the stubs. */
void detach_task(struct tracer *t, struct task *task);
/*
 * tracer_ops.leave: if sctrace attached to the task's process, restores the process's code and unmaps the agent, once
 * for each image. Restores the code of other processes only if handlers will return to instructions that have moved.
 */
void detach_clean(struct tracer *t, struct task *task);

/* Measures the cost of a call through the agent (patch_calibrate.c). */

/*
 * Measures the cost of a call and the length of a tick with a child that has also timed the same call natively. `p` must
 * be an engine created only for this purpose, whose ops, arming and clock are set. Sets *cost and returns 0, or returns
 * -errno.
 */
int patch_calibrate(struct patch *p, struct cost_numbers *cost);

#endif
