/*
 * An attached process must survive if sctrace is killed by SIGKILL. Until the watchdog has turned dispatch off, its calls raise
 * SIGSYS, which would end it; so SIGSYS has a handler of ours (agent_sigsys), which never runs while sctrace lives.
 */
#ifndef SCTRACE_ENGINE_PATCH_THREADS_SIGKILL_GUARD_H
#define SCTRACE_ENGINE_PATCH_THREADS_SIGKILL_GUARD_H

#include "engine/patch/state.h"

/*
 * Installs the handler in an image that is new or was just attached to, whose task may run in the agent. If that fails, there is
 * none.
 */
void sigkill_guard_install(struct patch *p, struct task *task);
/*
 * Restores the program's own action: when the agent leaves, and before a SIGSYS of the program's own is delivered, because the
 * flags and mask of the action count then. `delivers`: the next stop must be one that can deliver a signal.
 */
void sigkill_guard_remove(struct patch *p, struct task *task, bool delivers);
/* The program's rt_sigaction(2) is over: shows it its own action for SIGSYS instead of ours. */
void sigkill_guard_mask(struct task *task);
/*
 * tracer_ops.waited: sends a thread that has stopped with a forced SIGSYS back to before its call. If sctrace is killed after it
 * has taken the stop, the kernel does not deliver the signal (wait_task_stopped() in kernel/exit.c), and the thread goes on where
 * it is: without this, behind a call that was never made.
 */
void sigkill_guard_waited(struct tracer *t, pid_t tid, int status);
/*
 * Tracing has failed: detaches the threads whose forced SIGSYS could not be waited for, before their calls. Otherwise that signal
 * is delivered after sctrace has ended, and ends a thread that had blocked it (force_sig_info_to_task() resets the action).
 */
void sigkill_guard_rescue(struct patch *p);

#endif
