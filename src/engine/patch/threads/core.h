/* Prepares a process that is about to dump core (core(5)). */
#ifndef SCTRACE_ENGINE_PATCH_THREADS_CORE_H
#define SCTRACE_ENGINE_PATCH_THREADS_CORE_H

#include "engine/patch/state.h"

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
