/* SPDX-License-Identifier: MIT */
/* What the patch engine does with a thread that has stopped. */
#ifndef SCTRACE_ENGINE_PATCH_THREADS_THREADS_H
#define SCTRACE_ENGINE_PATCH_THREADS_THREADS_H

#include "engine/patch/state.h"

/* Handles calls that come from outside the agent: sends them to the agent, or lets them run under ptrace (dispatch.c). */

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
#define CLOCK_IS_FORBIDDEN "it has disabled the time stamp counter" /* why an image falls back */
/* Runs call `nr` under ptrace, at the instruction that ends at r->CPU_IP. The task is disarmed for this call. */
void dispatch_run_slow(const struct patch *p, struct task *task, struct cpu_regs *r, int64_t nr);
/* At the entry of a call from a stub: makes it return to its site instead if stacks are read (CAP_STOPS). */
void dispatch_leave_stub(const struct patch *p, const struct task *task);
/*
 * Called at the entry of call `nr`, with registers `r`, if the image has fallen back. From now on, the call is handled like one
 * that dispatch_run_slow() began. Returns false if the agent has just been removed: the task then makes the call again.
 */
bool dispatch_begin_fallback(struct patch *p, struct task *task, int64_t nr, struct cpu_regs *r);
/* Called when a call that ran under ptrace has ended: notes what the call changed, and arms the task again. */
void dispatch_end_slow(struct patch *p, struct task *task);

/*
 * Called when the engine's code in the program has raised `sig` (SIGSEGV or SIGBUS), and the signal was discarded:
 * restores the program's action and mask if the kernel has changed them.
 */
void dispatch_mend_fault(struct patch *p, struct task *task, int sig);
/* Called when `sig` is about to be delivered: notes whether its handler runs with SIGSYS blocked. */
void dispatch_note_delivery(const struct patch *p, struct task *task, int sig);
/* Notes that `action` is, or is about to be, the action of `sig`. */
void dispatch_note_action(struct task *task, int sig, const uint64_t action[ACTION_WORDS]);
/*
 * Called when a SIGSYS that the program sent itself is about to be delivered to an armed thread: restores the action
 * and the mask that a forced SIGSYS has changed. If the signal has replaced the forced SIGSYS of a call, also makes
 * this call. `delivers` is false if the signal is discarded instead.
 */
void dispatch_mend_sigsys(struct patch *p, struct task *task, const siginfo_t *si, bool delivers);

/* Handles signals for the program, and signals that the agent's code raises (patch_signals.c). */

/* tracer_ops.signal: a signal-delivery-stop. */
enum tracer_verdict signals_stop(struct tracer *t, struct task *task, const siginfo_t *si);

/*
 * An attached process must survive if sctrace is killed by SIGKILL. Until the watchdog has turned dispatch off, the
 * calls of the process raise SIGSYS, whose default action would end the process. So the engine installs a handler for
 * SIGSYS (agent_sigsys), which never runs while sctrace lives (sigkill_guard.c).
 */

/* Installs the handler, if possible, in a new or just attached image, whose task can run the agent's code. */
void sigkill_guard_install(struct patch *p, struct task *task);
/*
 * Restores the program's own action. Needed before the agent is unmapped, and before a SIGSYS that the program sent
 * itself is delivered, because the flags and the mask of the program's action must apply to this signal. `delivers`
 * means that the next stop must be one that can deliver a signal.
 */
void sigkill_guard_remove(struct patch *p, struct task *task, bool delivers);
/*
 * Restores the program's action if it is to ignore SIGSYS: execve(2) keeps that, but resets the handler to the default.
 * Called before execve(2), and for a new child that is not traced.
 */
void sigkill_guard_inherit(struct patch *p, struct task *task);
/*
 * Must this signal be discarded, because the program ignores it, although the kernel has the engine's handler? A SIGSYS
 * that a seccomp filter has forced is not ignored: it resets the program's action to the default.
 */
bool sigkill_guard_ignores(const struct task *task, const siginfo_t *si);
/* Called after the program's rt_sigaction(2): shows the program its own action for SIGSYS instead of agent_sigsys. */
void sigkill_guard_mask(struct task *task);
/*
 * tracer_ops.waited: moves a thread that has stopped with a forced SIGSYS back to before its call. If sctrace is killed
 * after it has waited for this stop, the kernel does not deliver the signal (wait_task_stopped() in kernel/exit.c), and
 * the thread continues at its instruction pointer. Without this function, the thread would continue after a call that
 * was never made.
 */
void sigkill_guard_waited(struct tracer *t, pid_t tid, int status);
/*
 * Called when tracing has failed: detaches the threads whose forced SIGSYS could not be waited for, at a position
 * before their calls. Without this function, the signal would be delivered after sctrace has ended, and would end a
 * thread that had blocked SIGSYS (force_sig_info_to_task() resets the action).
 */
void sigkill_guard_rescue(struct patch *p);

/* Moves a stopped thread out of the agent and the stubs (stepout.c in the folder of the processor). */

/*
 * Called for a task in a signal-delivery-stop or an event-stop. If the task is in the agent or a stub, moves it to
 * where it would be natively, and completes or undoes the counting of its call.
 */
void stepout(struct patch *p, struct task *task, enum stepout_for what);
/*
 * Like stepout() for a task with an image. `r` holds the task's registers, and is changed to those that the task would
 * have natively. With STEPOUT_HANDLER, the task itself may get another instruction pointer than `r` (state.h).
 */
void stepout_from(struct patch *p, struct task *task, struct cpu_regs *r, enum stepout_for what);
/*
 * Must a thread with registers `r`, which is about to run a signal handler, stay where it is until the kernel has stored its
 * state for the handler? Always false unless CPU_RESTARTS_EARLY is set. stepout_of_frame() must be called then.
 */
bool stepout_waits(const struct cpu_regs *r);
/* Does the same as stepout() with the state in the signal frame, when the thread is at the first instruction of the handler. */
void stepout_of_frame(struct patch *p, struct task *task);
/* Is `ip` in the agent, a stub or a hop? */
bool stepout_needed(const struct task *task, uint64_t ip);
/*
 * Called at the first stop of a child that the agent's call has created, if the engine will not handle the child's
 * calls. If the child runs in its parent's memory, or has a copy with other counters (`copied`), moves it out of the
 * agent without counting the parent's call. A child whose calls the engine handles leaves the agent by itself.
 */
void stepout_child(struct task *task, bool copied);
/* Why a signal stopped a thread: it is for the program, the agent calls for sctrace, or it did so earlier. */
enum knock { KNOCK_NONE, KNOCK_CALL, KNOCK_PAST };
/*
 * Does this signal come from the agent, which calls for sctrace because it does not make a call (CPU_KNOCKS)? With KNOCK_CALL, *r
 * is set to the registers that the thread would have if its call had stopped, and the thread must continue with changed ones. With
 * KNOCK_PAST, the signal must be discarded: another signal came before it.
 */
enum knock stepout_knock(const struct task *task, const siginfo_t *si, struct cpu_regs *r);
/* Is `ip` where the agent calls for sctrace, or is about to? */
bool stepout_knocks(uint64_t ip);
/* An execve(2) of the agent has replaced `img`: adds the time of this call, which the agent can no longer add. */
void stepout_exec(const struct image *img);

/*
 * Takes the agent out of an image that continues under ptrace. A program may map memory over the agent or its stubs, or
 * make a call for a range that contains them. Just before such a call, the engine unmaps all of its memory, so that the
 * call does what it does natively (withdraw.c).
 */

/*
 * Called when the task has stopped before `call` (only arch and nr are set), with registers `r`. If the call requires it
 * (ranges_meet()), stops all threads of the image, moves them out of the engine's code, restores the program's code, and
 * unmaps the engine's memory. The image falls back, and `r` is changed if the call was to be made from a stub. Returns true
 * if the call must not be made now: another thread is in the engine's code and must run first, or the task has ended.
 */
bool withdraw_before(struct patch *p, struct task *task, const struct call *call, struct cpu_regs *r);

/* Prepares a process that is about to dump core (core(5); withdraw.c). */

/* Is this a signal whose default action dumps core (signal(7))? */
bool core_is_dumped_by(int sig);
/*
 * Called if the task is in the signal-delivery-stop of a signal that dumps core, and the program neither catches nor
 * ignores the signal. Moves all threads of the process to where they would be natively, restores the program's code,
 * unmaps the engine's memory, and makes the image fall back to ptrace. Restores and unmaps nothing if another
 * process uses the image, if a thread does not stop, or if the program has a seccomp filter, which might forbid unmapping.
 * `si` describes the signal. It is set again at the end, because code that ran in the task has replaced it.
 */
void core_prepare(struct patch *p, struct task *task, const siginfo_t *si);

#endif
