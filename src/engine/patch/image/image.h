/* SPDX-License-Identifier: MIT */
/*
 * Images, that is, address spaces with the agent in them: functions that create and release an image, and that decide
 * which calls the agent makes in an image.
 */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_IMAGE_H
#define SCTRACE_ENGINE_PATCH_IMAGE_IMAGE_H

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
/*
 * Called at the first stop of a forked child: gives the image its own agent_words, makes the agent use locks, and releases
 * the copy of the parent's vfork frame.
 */
void image_begin_child(struct patch *p, struct task *task);
/* From now on, ptrace traces the image's calls instead of the agent. The footer shows `why`. */
void image_fall_back(struct patch *p, struct task *task, const char *why);
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
/*
 * Returns the number of calls that the agent has counted in the image's region, which other images may use as well, and
 * of those that it has recorded in all images.
 */
uint64_t image_count_calls(const struct patch *p, const struct image *img);
/* Makes the agent pass all calls to the tracer (`off`), or make the calls itself again. */
void image_switch(struct patch *p, struct image *img, bool off);
/* Makes the agent in the task's memory pass all calls to the tracer, even if the image is not known. */
void image_refuse_all(const struct task *task);
/*
 * Returns true if no other thread can run in the task's memory now. The parent of a vfork(2) child sleeps. The threads to
 * which sctrace is attaching are stopped.
 */
bool image_others_wait(const struct patch *p, const struct task *task);
/* Makes the agent use locks. Must be called before another thread or process that uses the same slots can run. */
void image_end_single_thread(struct task *task);

/*
 * Returns the signal actions of the task's process. The result is valid until a process starts or stops to borrow the
 * image's memory.
 */
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

#endif
