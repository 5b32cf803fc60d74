/* SPDX-License-Identifier: MIT */
/*
 * An attached process must survive if sctrace is killed by SIGKILL. Until the watchdog has turned dispatch off, the
 * calls of the process raise SIGSYS, whose default action would end the process. So the engine installs a handler for
 * SIGSYS (agent_sigsys), which never runs while sctrace lives.
 */
#ifndef SCTRACE_ENGINE_PATCH_THREADS_SIGKILL_GUARD_H
#define SCTRACE_ENGINE_PATCH_THREADS_SIGKILL_GUARD_H

#include "engine/patch/state.h"

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

#endif
