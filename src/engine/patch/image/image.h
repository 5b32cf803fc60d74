/* An address space with the agent in it: its life, and which calls the agent makes in it. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_IMAGE_H
#define SCTRACE_ENGINE_PATCH_IMAGE_IMAGE_H

#include "engine/patch/state.h"

struct proc_status;

/* A new image with one reference; NULL if memory ran out. */
struct image *image_new(struct patch *p);
/*
 * The image of a child that got a copy of its parent's memory. `copied_serial` is the number of the last site that was surely
 * patched before the copy was made. If there would be too many sites in all, it has none and is in IMAGE_FALLBACK. NULL if memory
 * ran out.
 */
struct image *image_copy(struct patch *p, const struct image *from, uint32_t copied_serial);
/* The process no longer uses its image: it got another one, or has ended. */
void image_leave(struct patch *p, struct process *proc);
/* A child with a copy of its parent's image is in its first stop: gives it words of its own, and updates with a lock. */
void image_begin_child(struct task *task);
/* Gives up on the agent in this image: from now on its calls are traced by ptrace. `why` is shown in the footer. */
void image_fall_back(struct patch *p, struct task *task, const char *why);
/* The slot at an address in the program, or NULL if that is not the address of a slot. */
struct agent_slot *image_slot(const struct image *img, uint64_t slot_addr);

/*
 * Lets the agent make call `nr`. False if the call must go to the tracer. If the agent has handed it over because its histogram
 * is half full, empties that. `refused`: the agent has just handed this very call over; so if it is mapped, it was because of its
 * arguments.
 */
bool image_map_call(struct patch *p, struct task *task, int64_t nr, bool refused);
/* Enters the calls that earlier images made into img->counters.map, with slots of `r`: their first use need not stop. */
void image_map_known_calls(const struct patch *p, struct image *img, struct region *r);
/* Makes the agent hand all calls over, or make them again. */
void image_switch(struct patch *p, struct image *img, bool off);
/* Empties the map of the agent in the task's memory, whatever image that is: the agent there hands all calls over. */
void image_refuse_all(const struct task *task);
/*
 * Tells the agent to lock its updates from now on, because another thread or process is about to share the slots. To be called
 * before that can run.
 */
void image_end_single_thread(struct task *task);

/* The task has blocked SIGSYS, or unblocked it. */
void image_note_blocked(struct task *task, bool blocked);
/* Reads whether the task blocks SIGSYS. Does nothing under a filter, which does not need to know. */
void image_note_mask(const struct patch *p, struct task *task);
/* Notes the actions for SIGSEGV and SIGBUS of a program that begins, or is attached to. A handler's address is not known from `s`. */
void image_note_faults(struct image *img, const struct proc_status *s);
/*
 * The action of SIGSYS, SIGSEGV or SIGBUS is not the default, so the tracer must see all that is done with them from now on. This
 * stays so, because a child of vfork(2) shares the agent's memory, but not the actions.
 */
void image_watch_actions(const struct task *task);
/* `action` is the program's action for SIGSYS from now on. If it is not the default, all changes of it go to the tracer. */
void image_note_sigsys(struct task *task, const uint64_t action[ACTION_WORDS]);
/* The handler of `sig` will run with SIGSYS blocked from now on, or will not. */
void image_note_handler(struct task *task, int sig, bool blocks);
/* A handler is about to run in the task, or has returned: decides whether the tracer must see its rt_sigreturn(2). */
void image_note_frames(struct task *task);
/* The task leaves the image that it runs in, which no longer counts it among those that block SIGSYS or are awaited. */
void image_forget_task(const struct task *task);

#endif
