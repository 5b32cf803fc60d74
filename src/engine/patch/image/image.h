/* SPDX-License-Identifier: MIT */
/* Images: address spaces with the agent. Creates and releases them, and decides which calls the agent makes. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_IMAGE_H
#define SCTRACE_ENGINE_PATCH_IMAGE_IMAGE_H

#include "engine/patch/code/ring.h"
#include "engine/patch/remote/remote.h"
#include "engine/patch/state.h"

struct proc_status;

/* Returns a new image with one reference. */
struct image *image_new(void);
/*
 * Returns the image of a child that got a copy of the memory and the signal actions of `parent`. If all images together
 * would have too many sites, the new image has no sites and is in IMAGE_FALLBACK.
 */
struct image *image_copy(struct patch *p, const struct task *parent);
/* Releases the process's reference to its image. Called when the process has got another image or has ended. */
void image_leave(struct patch *p, struct process *proc);
/* At the first stop of a forked child: gives it agent_words, makes it use locks, releases its copied frame. */
void image_begin_child(struct patch *p, struct task *task);
/*
 * From now on, ptrace traces the image's calls instead of the agent. The footer shows `why`. Threads that are in the agent
 * finish their calls there. Each thread is disarmed at its next call (dispatch_end_slow()). Threads of other processes may
 * use the image, and no thread needs to be stopped, except with a seccomp filter of the program's (threads/dispatch.c).
 */
void image_fall_back(struct patch *p, struct task *task, const char *why);
/* Has the agent been mapped, and is it still there? In an image that has fallen back, threads may still be in it or in a stub. */
bool image_has_agent(const struct image *img);
/* Returns the slot at an address in the program, or NULL if `slot_addr` is not the address of a slot. */
struct agent_slot *image_slot(const struct image *img, uint64_t slot_addr);

/*
 * Lets the agent make call `nr`. Returns false if the call must go to the tracer. If the agent has passed the call to
 * the tracer because a bucket of its histogram is half full, empties the histogram. `refused` means that the agent has
 * just passed this call to the tracer. If the agent's map still has an entry for the call, the agent refused the call's
 * arguments, and the result is false.
 */
bool image_map_call(struct patch *p, struct task *task, int64_t nr, bool refused);
/* Adds to p->calls the system calls that the loader and the C library make in nearly every program. */
void image_expect_usual_calls(struct patch *p);
/* Adds a call to p->calls, unless it must run under ptrace. The agents of the next images make it from the start. */
void image_expect_call(struct patch *p, int64_t nr);
/* Assigns slots of `r` to the calls in p->calls. So the first call of each kind need not stop. */
void image_map_known_calls(const struct patch *p, struct image *img, struct region *r);
/* Adds the calls that any image has made since the last call of this function or of image_map_known_calls(). */
void image_map_new_calls(struct patch *p, const struct task *task);
/* Returns how many calls were counted in the image's region, by all its images, and recorded in all images. */
uint64_t image_count_calls(const struct patch *p, const struct image *img);
/* Makes the agent pass all calls to the tracer (`off`), or make the calls itself again. */
void image_switch(struct patch *p, struct image *img, bool off);
/* Makes the agent in the task's memory pass all calls to the tracer, even if the image is not known. */
void image_refuse_all(const struct task *task);
/* Can no other thread run in the task's memory now? A vfork(2) parent sleeps; threads being attached are stopped. */
bool image_others_wait(const struct patch *p, const struct task *task);
/* Makes the agent use locks. Must be called before another thread or process that uses the same slots can run. */
void image_end_single_thread(struct task *task);

/* Returns the signal actions of the task's process, valid until a process begins or ends to borrow the memory. */
struct image_actions *image_actions_of(const struct task *task);
/* Makes `child` a borrower of its parent's image: it has its own signal actions (clone(2) without CLONE_SIGHAND). */
void image_borrow(const struct task *parent, const struct task *child);

/*
 * Until `child` executes a program or ends, makes the agent leave the child's calls alone, but not those of other threads.
 * `child` runs in the memory of `parent`, and its calls are not counted. `r` holds the registers of the parent, which waits
 * in its vfork-like call. Returns false if the agent did not make that call, or cannot tell the child from other threads.
 */
bool image_tell_apart(struct patch *p, const struct task *parent, const struct task *child, const struct cpu_regs *r);

/*
 * Notes that the program ignores SIGSYS, although the kernel has the engine's handler. From now on, the agent passes
 * execve(2) to the tracer, because the new program must ignore SIGSYS as well.
 */
void image_note_ignored(const struct task *task);
/* Notes that the task has blocked SIGSYS, or unblocked it. */
void image_note_blocked(struct task *task, bool blocked);
/* Finds out whether the task blocks SIGSYS. Does nothing under a filter, because a filter does not use SIGSYS. */
void image_note_mask(const struct patch *p, struct task *task);
/* Returns the process's handler for SIGSEGV or SIGBUS: 0 for SIG_DFL, 1 for SIG_IGN, or FAULT_UNKNOWN. */
uint64_t image_fault_handler(const struct task *task, int sig);
/* Notes the handler for SIGSEGV or SIGBUS that the process is about to set. */
void image_note_fault(struct task *task, int sig, uint64_t handler);
/*
 * Notes the actions for SIGSEGV and SIGBUS of a program that was just started or attached to, as far as `s` shows them:
 * it does not contain the addresses of handlers. The agent's data must have been set up, unless both actions are the
 * default.
 */
void image_note_faults(struct task *task, const struct proc_status *s);
/*
 * If the task runs in the memory of another process, all calls in this memory that change a handler of SIGSEGV or SIGBUS
 * go to the tracer from now on, also after the task has left this memory.
 */
void image_watch_borrower(const struct task *task);
/* Notes the program's action for SIGSYS. If it is not the default, all calls that change it go to the tracer. */
void image_note_sigsys(struct task *task, const uint64_t action[ACTION_WORDS]);
/* Decides whether the agent answers when the program reads its action of SIGSYS. The answer is the default action. */
void image_answer_query(struct task *task, bool answers);
/* Notes whether the handler of `sig` blocks SIGSYS. If so, all further changes of the handler go to the tracer. */
void image_note_handler(struct task *task, int sig, bool blocks);
/* Called before and after a handler runs: decides whether the tracer must see the task's next rt_sigreturn(2). */
void image_note_frames(struct task *task);
/*
 * Called when a handler is about to run that will return to `ip`, from which an instruction has moved into a stub. Makes the
 * agent send it to the stub, so that its rt_sigreturn(2) need not stop. Returns false if the tracer must do so: in attached
 * processes, and if there are too many such addresses.
 */
bool image_follow(const struct patch *p, const struct task *task, uint64_t ip);
/* Has image_follow() succeeded for this address? */
bool image_is_followed(const struct image *img, uint64_t ip);
/* Called before other code replaces the code of a site: the tracer must see how all later handlers return. */
void image_unfollow(const struct task *task, const struct site *s);
/* Called when the task leaves its image: removes it from the counts in img->sigsys. */
void image_forget_task(const struct task *task);

/* Handles calls by which the program remaps executable memory, unmaps it or makes it writable (image_ranges.c). */

/*
 * Collects the patchable code among `n` mappings, which are in ascending order, in at most AGENT_RANGES rows [lo, hi),
 * followed by a row of zeros: `rows` has room for AGENT_RANGES + 1. If there are more ranges, neighbouring ones are
 * merged. Returns the number of rows without the row of zeros.
 */
size_t ranges_of(const struct mapping *m, size_t n, uint64_t (*rows)[2]);
/* Writes the ranges of img->mappings to the agent's memory. Calls that remap them then go to the tracer. */
void ranges_write(const struct task *task);
/* Called before the task makes call `nr` with registers `r`: restores the sites in code that the call remaps. */
void ranges_watch(struct task *task, int64_t nr, const struct cpu_regs *r);
/*
 * Does the call `c` with these arguments, which the task is about to make, map memory over memory that the engine has
 * mapped, or concern more than that memory? Then the engine must unmap its memory first (threads/withdraw.c).
 */
bool ranges_meet(const struct task *task, const struct call *c, const uint64_t args[6]);
/*
 * Called at the entry stop of a call of the program. If the call concerns memory that the engine has mapped, the call
 * is skipped and gets the result that it would have for unmapped memory, so that the program does not notice the
 * engine's memory. If ranges_meet() is true for the call, the engine could not unmap its memory, and the result is ENOMEM.
 */
void ranges_hide(struct task *task);

/*
 * sctrace's copy of the table of threads that an image has (code/ring.h). A row that is free here may still have its old
 * contents in the program. Before a thread with that thread pointer runs, sctrace assigns a row to it again. This row is never later
 * in the bucket than the old one, so the search finds it first (per_thread.c).
 */

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
/* Returns the row of this thread pointer, or a free one, with `scratch` 0. NULL: the bucket is full. */
struct agent_thread *thread_table_row(struct thread_table *t, uint64_t thread_pointer);
/* Returns the address that row `row` of bucket number `bucket` has in the program. */
uint64_t thread_table_address(const struct thread_table *t, unsigned bucket, const struct agent_thread *row);

/* While the child of a vfork-like call uses the stack, the agent's frame is kept in agent_data.kept (per_thread.c). */

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
 * (rseq(2)), which the C library registers (agent.S, `arm`; per_thread.c).
 */

/*
 * Returns WATCH_WAITS if this kernel sets rseq_cs to 0 when a thread has lost its CPU, and if the agent may read the fs
 * base. Adds WATCH_CLOSES if it applies. Returns 0 otherwise. The calling thread makes a short pause to find that out.
 */
uint64_t waits_probe(void);
/* Before the agent is written: allows it to find out waits, and looks up the areas of attached threads. */
void waits_begin(const struct patch *p, const struct task *task);
/* Before a call: if it changes where the thread's area is, waits are not known in this image any more. */
void waits_note_call(const struct task *task, int64_t nr, const struct cpu_regs *r);
/*
 * Clears the thread's rseq_cs if it points at the agent's section. Called when a thread has left the engine's code for
 * good: after the agent has been unmapped, the kernel could not read the section, and would end the thread by SIGSEGV
 * (rseq(2)).
 */
void waits_leave(const struct task *task);
/* Does the same for all threads of an image, which are stopped. */
void waits_end(const struct patch *p, const struct image *img);

/*
 * Which calls the images of a program have made. Programs share files, above all the C library, but each program reaches
 * only some of the call sites in them, and patching a site takes time: each page with a patched site must be copied.
 * Therefore, once one image of a program has ended, its next images get only the sites of calls that the program has
 * made. Exceptions are the sites of the loader, sites whose call is not known, and programs with several threads. The
 * program may also reach other sites. Its first call at such a site stops, and sctrace patches the site at that stop
 * (usage.c).
 */

/*
 * Returns the usage of the program with this short name (proc_pid_comm(5)), and creates it at the first use. Returns NULL
 * if the name is empty, if there are too many programs, or if another name has the same hash.
 */
struct usage *usage_find(struct patch *p, const char *program);
void usage_free_all(struct patch *p);

/*
 * Must be called once the image has its counters. Stores their values, unless it is already known which calls the program
 * makes. plan_apply_mapped() calls it again, so that earlier calls of the loader are not included.
 */
void usage_begin(struct image *img);
/*
 * Must be called when the image ends, before its region is released. Adds the calls whose counters have changed since
 * usage_begin() to the program's usage. Calls that are not counted (SLOT_F_PLAIN) are assumed to have been made.
 */
void usage_end(struct image *img);

/* Should a site of call `nr` (-1: unknown) be patched? Yes if nothing is known about the program. */
bool usage_includes(const struct usage *u, int nr);
/* Adds call `nr` to the calls that the program makes. Does nothing if `nr` is -1 or `u` is NULL. */
void usage_add(struct usage *u, int nr);
/*
 * Notes that the program starts threads. From now on, all known sites are patched at the start of each of its images,
 * because some sites cannot be patched while other threads are running. `u` may be NULL.
 */
void usage_note_threads(struct usage *u);

#endif
