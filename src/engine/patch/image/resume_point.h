/*
 * Where threads were when their process was attached to. A thread that is in a call then returns to the instruction after it; so
 * the instructions there must not move into a stub while it may be.
 */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_RESUME_POINT_H
#define SCTRACE_ENGINE_PATCH_IMAGE_RESUME_POINT_H

#include "engine/patch/state.h"

/* Notes where a task is; if it is not stopped, it may be anywhere. False if memory ran out. */
bool resume_point_note(struct patch *p, const struct task *task);
/* The task has stopped at a call that it made under the agent: it is no longer in an earlier one. */
void resume_point_forget(struct patch *p, const struct task *task);
/* May a thread still be in a call that was made before the agent came, and return into [lo, hi)? */
bool resume_point_may_be_in(const struct patch *p, uint64_t lo, uint64_t hi);

#endif
