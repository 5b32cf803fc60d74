/* While the child of a vfork-like call uses the stack, the agent's frame is kept in agent_data.kept. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_VFORK_FRAME_H
#define SCTRACE_ENGINE_PATCH_IMAGE_VFORK_FRAME_H

#include "engine/patch/state.h"

/*
 * Is `ip` after a vfork-like call that the agent has made, and before the point where the thread has put the kept frame
 * back on its stack and, if it is the parent, has released it? r9 is then the frame's number.
 */
bool vfork_frame_is_kept(uint64_t ip);
/* Is this the child of a vfork-like call, which has not left the agent? The parent gets a result above 0. */
bool vfork_frame_is_child(const struct user_regs_struct *r);
/* Has a child that has a stack of its own, and is at `ip`, already made room there for the agent's frame? */
bool vfork_frame_has_room(uint64_t ip);
/* Returns the number of the frame that this thread has reserved for a call that it has not made yet, or 0. */
uint64_t vfork_frame_reserved(const struct user_regs_struct *r);
/* Copies frame `number` to *kept. Returns 0, or -errno: -EINVAL if no frame has this number. */
int vfork_frame_read(const struct task *task, uint64_t number, struct agent_frame *kept);
/* If the thread is where the agent has another value in r9, sets r9 to the program's. Returns 0 or -errno. */
int vfork_frame_restore_r9(const struct task *task, struct user_regs_struct *r);
/* Stores the fs base of a thread that is in its vfork-like call. Returns 0 or -errno; -EINVAL if the agent did not make it. */
int vfork_frame_note_fs(const struct task *task, const struct user_regs_struct *r);
/* Allows other threads to use frame `number`. Does nothing if no frame has this number. */
void vfork_frame_release(const struct task *task, uint64_t number);

#endif
