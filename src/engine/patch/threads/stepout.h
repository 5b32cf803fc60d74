/* SPDX-License-Identifier: MIT */
/* Moves a stopped thread out of the agent and the stubs. */
#ifndef SCTRACE_ENGINE_PATCH_THREADS_STEPOUT_H
#define SCTRACE_ENGINE_PATCH_THREADS_STEPOUT_H

#include "engine/patch/state.h"

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
/* An execve(2) of the agent has replaced `img`: adds the time of this call, which the agent can no longer add. */
void stepout_exec(const struct image *img);

#endif
