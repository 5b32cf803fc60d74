/*
 * Waits: the agent finds out whether a thread lost its CPU during a call. It uses the thread's restartable-sequence area
 * (rseq(2)), which the C library registers (agent.S, `arm`).
 */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_WAITS_H
#define SCTRACE_ENGINE_PATCH_IMAGE_WAITS_H

#include "engine/patch/state.h"

/*
 * Returns WATCH_WAITS if this kernel sets rseq_cs to 0 when a thread has lost its CPU, and if the agent may read the fs
 * base. Adds WATCH_CLOSES if it applies. Returns 0 otherwise. The calling thread makes a short pause to find that out.
 */
uint64_t waits_probe(void);
/*
 * Called before the agent is written to an image: allows the agent to find out waits, and looks up the areas of the image's
 * threads if these existed before sctrace attached.
 */
void waits_begin(const struct patch *p, const struct task *task);
/*
 * Called when a task has stopped before a call. If the call changes where the thread's area is, waits are not known in this
 * image any more.
 */
void waits_note_call(const struct task *task, int64_t nr, const struct user_regs_struct *r);
/*
 * Clears the thread's rseq_cs if it points at the agent's section. Called when a thread has left the engine's code for
 * good: after the agent has been unmapped, the kernel could not read the section, and would end the thread by SIGSEGV
 * (rseq(2)).
 */
void waits_leave(const struct task *task);
/* Does the same for all threads of an image, which are stopped. */
void waits_end(const struct patch *p, const struct image *img);

#endif
