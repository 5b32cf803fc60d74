/* SPDX-License-Identifier: MIT */
/*
 * Takes the agent out of an image that continues under ptrace. A program may map memory over the agent or its stubs, or
 * make a call for a range that contains them. Just before such a call, the engine unmaps all of its memory, so that the
 * call does what it does natively.
 */
#ifndef SCTRACE_ENGINE_PATCH_THREADS_WITHDRAW_H
#define SCTRACE_ENGINE_PATCH_THREADS_WITHDRAW_H

#include "engine/patch/state.h"

/*
 * Called when the task has stopped before `call` (only arch and nr are set), with registers `r`. If the call requires it
 * (ranges_meet()), stops all threads of the image, moves them out of the engine's code, restores the program's code, and
 * unmaps the engine's memory. The image falls back, and `r` is changed if the call was to be made from a stub. Returns true
 * if the call must not be made now: another thread is in the engine's code and must run first, or the task has ended.
 */
bool withdraw_before(struct patch *p, struct task *task, const struct call *call, struct cpu_regs *r);

/* Prepares a process that is about to dump core (core(5)). */

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
