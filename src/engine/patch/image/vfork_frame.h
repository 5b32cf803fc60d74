/* The agent's frame of a vfork-like call is kept in agent_data.vfork_frame while the child uses the stack. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_VFORK_FRAME_H
#define SCTRACE_ENGINE_PATCH_IMAGE_VFORK_FRAME_H

#include "engine/patch/state.h"

/*
 * Is `ip` after a vfork-like call that the agent has made, and before the point where the thread has put the kept frame
 * back on its stack and, if it is the parent, has released the structure?
 */
bool vfork_frame_is_kept(uint64_t ip);
/* Is this the child of a vfork-like call, whose frame is still kept? The parent gets a result above 0. */
bool vfork_frame_is_child(const struct user_regs_struct *r);
/* Has a child that has a stack of its own, and is at `ip`, already made room there for the agent's frame? */
bool vfork_frame_has_room(uint64_t ip);
/* Returns 0 with the structure in *kept, or -errno. */
int vfork_frame_read(const struct task *task, struct agent_vfork_frame *kept);
/* Allows other threads to use the structure. */
void vfork_frame_release(const struct task *task);

#endif
