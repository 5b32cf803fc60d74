/* SPDX-License-Identifier: MIT */
/*
 * sctrace's copy of the table of threads that an image has (code/ring.h). A row that is free here may still have its old
 * contents in the program. Before a thread with that thread pointer runs, sctrace assigns a row to it again. This row is never later
 * in the bucket than the old one, so the search finds it first.
 */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_PER_THREAD_H
#define SCTRACE_ENGINE_PATCH_IMAGE_PER_THREAD_H

#include "engine/patch/code/ring.h"
#include "engine/patch/state.h"

/* A bucket without used rows may be NULL. */
struct thread_table {
	struct agent_thread *buckets[THREAD_BUCKETS];
};

/* Returns an empty table. The caller frees it with thread_table_free(). */
struct thread_table *thread_table_new(void);
/* Returns a copy, or NULL if `from` is NULL. */
struct thread_table *thread_table_copy(const struct thread_table *from);
/* `t` may be NULL. */
void thread_table_free(struct thread_table *t);
/*
 * Returns the row of this thread pointer, or a free row for it, whose member `scratch` is 0. Returns NULL if the bucket is full.
 */
struct agent_thread *thread_table_row(struct thread_table *t, uint64_t thread_pointer);
/* Returns the address that row `row` of bucket number `bucket` has in the program. */
uint64_t thread_table_address(const struct thread_table *t, unsigned bucket, const struct agent_thread *row);

/* While the child of a vfork-like call uses the stack, the agent's frame is kept in agent_data.kept. */

/*
 * Is `ip` after a vfork-like call that the agent has made, and before the point where the thread has put the kept frame
 * back on its stack and, if it is the parent, has released it? CPU_KEPT is then the frame's number.
 */
bool vfork_frame_is_kept(uint64_t ip);
/* Is this the child of a vfork-like call, which has not left the agent? The parent gets a result above 0. */
bool vfork_frame_is_child(const struct cpu_regs *r);
/* Has a child that has a stack of its own, and is at `ip`, already made room there for the agent's frame? */
bool vfork_frame_has_room(uint64_t ip);
/* Returns the number of the frame that this thread has reserved for a call that it has not made yet, or 0. */
uint64_t vfork_frame_reserved(const struct cpu_regs *r);
/* Copies frame `number` to *kept. Returns 0, or -errno: -EINVAL if no frame has this number. */
int vfork_frame_read(const struct task *task, uint64_t number, struct agent_frame *kept);
/* If the thread is where the agent has another value in CPU_KEPT, sets it to the program's. Returns 0 or -errno. */
int vfork_frame_restore(const struct task *task, struct cpu_regs *r);
/* Stores the thread pointer of a thread that is in its vfork-like call. Returns 0 or -errno; -EINVAL if the agent did not make it. */
int vfork_frame_note_thread(const struct task *task, const struct cpu_regs *r);
/* Allows other threads to use frame `number`. Does nothing if no frame has this number. */
void vfork_frame_release(const struct task *task, uint64_t number);

/*
 * Waits: the agent finds out whether a thread lost its CPU during a call. It uses the thread's restartable-sequence area
 * (rseq(2)), which the C library registers (agent.S, `arm`).
 */

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
void waits_note_call(const struct task *task, int64_t nr, const struct cpu_regs *r);
/*
 * Clears the thread's rseq_cs if it points at the agent's section. Called when a thread has left the engine's code for
 * good: after the agent has been unmapped, the kernel could not read the section, and would end the thread by SIGSEGV
 * (rseq(2)).
 */
void waits_leave(const struct task *task);
/* Does the same for all threads of an image, which are stopped. */
void waits_end(const struct patch *p, const struct image *img);

#endif
