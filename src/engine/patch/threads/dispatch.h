/* A call from outside the agent has stopped: sending it to the agent, or to ptrace. */
#ifndef SCTRACE_ENGINE_PATCH_THREADS_DISPATCH_H
#define SCTRACE_ENGINE_PATCH_THREADS_DISPATCH_H

#include "engine/patch/state.h"

/*
 * Handles the stop: patches the site, or has the call made under ptrace. `r` are the registers, which are changed; of `call` arch
 * and nr are set.
 */
enum tracer_verdict dispatch_stop(struct patch *p, struct task *task, const struct call *call,
				  struct user_regs_struct *r);
/* The same for a call that stopped by a forced SIGSYS (ARM_SUD): the program's mask and action stay as they were. */
enum tracer_verdict dispatch_forced(struct patch *p, struct task *task, const siginfo_t *si,
				    struct user_regs_struct *r);
/*
 * Was this signal forced by the call that the task has stopped at? (A program can send itself one that looks so.) Then *r: its
 * registers.
 */
bool dispatch_is_forced(const struct task *task, const siginfo_t *si, struct user_regs_struct *r);
/* Blocks SIGSYS again in a thread that had blocked it before one was forced. Had it? */
bool dispatch_block_again(const struct task *task);
/* Has call `nr`, whose instruction ends at r->rip, made there, unarmed and traced. */
void dispatch_run_slow(const struct patch *p, struct task *task, struct user_regs_struct *r, int64_t nr);
/*
 * The task is at the entry of a call that it makes from a stub. If stacks are read (CAP_STOPS), the call will return to its site, and
 * the task is where it would be natively while it is stopped.
 */
void dispatch_leave_stub(const struct patch *p, const struct task *task);
/* A call that ran so has come to its end: notes what it changed, and arms the task again. */
void dispatch_end_slow(struct patch *p, struct task *task);

/*
 * Our code in the program has raised `sig` (SIGSEGV or SIGBUS), which was discarded: restores the program's action and mask where the
 * kernel has changed them.
 */
void dispatch_mend_fault(struct patch *p, struct task *task, int sig);
/* `sig` is about to be delivered: notes whether its handler runs with SIGSYS blocked. */
void dispatch_note_delivery(struct task *task, int sig);
/* `action` is, or is about to be, the action of `sig`. */
void dispatch_note_action(struct task *task, int sig, const uint64_t action[ACTION_WORDS]);
/* A SIGSYS of the program's own is about to be delivered to an armed thread: restores what a forced one has reset. */
void dispatch_mend_sigsys(struct patch *p, struct task *task, const siginfo_t *si);

#endif
