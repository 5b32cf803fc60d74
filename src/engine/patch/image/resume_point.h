/*
 * The positions of threads when their process was attached to. A thread that was in a call returns to the instruction
 * after the call. Until the thread has returned, the instructions at that position must not move into a stub.
 */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_RESUME_POINT_H
#define SCTRACE_ENGINE_PATCH_IMAGE_RESUME_POINT_H

#include "engine/patch/state.h"

/* Notes the position of a task. If the task is not stopped, it may be anywhere. */
void resume_point_note(struct patch *p, const struct task *task);
/*
 * Forgets the position of the task. Called when the task has stopped at a call that it made after the agent was mapped,
 * because it is then no longer in an earlier call.
 */
void resume_point_forget(struct patch *p, const struct task *task);
/* May a thread still be in a call that it made before the agent was mapped, and return into [lo, hi)? */
bool resume_point_may_be_in(const struct patch *p, uint64_t lo, uint64_t hi);

#endif
