/* SPDX-License-Identifier: MIT */
/*
 * Unattended setup: puts the agent into a new image without a stop. sctrace writes code into unused bytes after the
 * loader's code, and writes the data that this code needs to the stack. The program runs the code on the way to its
 * first instruction. This is possible if the loader was seen before.
 */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_UNATTENDED_H
#define SCTRACE_ENGINE_PATCH_IMAGE_UNATTENDED_H

#include "engine/patch/state.h"

struct proc_status;

/*
 * Prepares unattended setup of the image of `task`, which has stopped at its execve(2). `r` holds its first registers,
 * and `s` is its /proc/PID/status. Returns true if the image is ready. The task will then be armed when the program
 * begins, and the caller must not set the registers. If the image will record, sets *page to the first page of the
 * ring that the task gets, and the caller must call record_adopt(). Returns false if nothing has changed; setup_image() must then set
 * up the image.
 */
bool unattended_start(struct patch *p, struct task *task, const struct cpu_regs *r, const struct proc_status *s,
		      unsigned *page);
/* Is the task, with registers `r`, still in the code of unattended setup? Once it has left, it never returns. */
bool unattended_runs(const struct task *task, const struct cpu_regs *r);
/*
 * Unattended setup has failed, and the task has stopped in its code with registers `r`, in a signal-delivery-stop:
 * undoes everything. If the image was to record, record_leave() must have been called. `r` becomes the task's first
 * registers, which the caller must set. Returns false if the task has ended.
 */
bool unattended_undo(struct patch *p, struct task *task, struct cpu_regs *r);
/* Called before a task is detached: if it has stopped in the code of unattended setup, runs that code to its end. */
void unattended_settle(struct patch *p, struct task *task);

#endif
