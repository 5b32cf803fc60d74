/* SPDX-License-Identifier: MIT */
/* Handles calls that come from outside the agent: sends them to the agent, or lets them run under ptrace. */
#ifndef SCTRACE_ENGINE_PATCH_THREADS_DISPATCH_H
#define SCTRACE_ENGINE_PATCH_THREADS_DISPATCH_H

#include "engine/patch/state.h"

/* Handles the stop of `call` (only arch and nr are set): patches its site, or runs it under ptrace. Changes `r`. */
enum tracer_verdict dispatch_stop(struct patch *p, struct task *task, const struct call *call, struct cpu_regs *r);
/* Called at a stop for a forced SIGSYS: restores the program's mask and action. The task may end meanwhile. */
void dispatch_mend_forced(struct patch *p, struct task *task);
/* Was this signal forced by the task's call, and not sent by the program? If so, *r is set to the registers. */
bool dispatch_is_forced(const struct task *task, const siginfo_t *si, struct cpu_regs *r);
/* Is a forced SIGSYS pending for this stopped thread? It comes before the thread runs more of the program's code. */
bool dispatch_is_pending(pid_t tid);
/*
 * The thread has stopped with `status`. If the reason is a forced SIGSYS, or if such a signal is pending, moves the
 * thread back to before its call. Returns true if the stop is that of the forced SIGSYS. The caller must not resume the
 * thread with that signal.
 */
bool dispatch_undo(const struct task *task, int status);
/* Blocks SIGSYS again in a thread that had blocked it before one was forced. Returns whether it had. */
bool dispatch_block_again(const struct task *task);
/* Runs call `nr` under ptrace, at the instruction that ends at r->CPU_IP. The task is disarmed for this call. */
void dispatch_run_slow(const struct patch *p, struct task *task, struct cpu_regs *r, int64_t nr);
/* At the entry of a call from a stub: makes it return to its site instead if stacks are read (CAP_STOPS). */
void dispatch_leave_stub(const struct patch *p, const struct task *task);
/* Called when a call that ran under ptrace has ended: notes what the call changed, and arms the task again. */
void dispatch_end_slow(struct patch *p, struct task *task);

/*
 * Called when the engine's code in the program has raised `sig` (SIGSEGV or SIGBUS), and the signal was discarded:
 * restores the program's action and mask if the kernel has changed them.
 */
void dispatch_mend_fault(struct patch *p, struct task *task, int sig);
/* Called when `sig` is about to be delivered: notes whether its handler runs with SIGSYS blocked. */
void dispatch_note_delivery(struct task *task, int sig);
/* Notes that `action` is, or is about to be, the action of `sig`. */
void dispatch_note_action(struct task *task, int sig, const uint64_t action[ACTION_WORDS]);
/*
 * Called when a SIGSYS that the program sent itself is about to be delivered to an armed thread: restores the action
 * and the mask that a forced SIGSYS has changed. If the signal has replaced the forced SIGSYS of a call, also makes
 * this call. `delivers` is false if the signal is discarded instead.
 */
void dispatch_mend_sigsys(struct patch *p, struct task *task, const siginfo_t *si, bool delivers);

#endif
