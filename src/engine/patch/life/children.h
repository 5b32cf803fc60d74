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

#endif
