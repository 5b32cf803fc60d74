/* SPDX-License-Identifier: MIT */
/* Puts the agent into an image. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_SETUP_H
#define SCTRACE_ENGINE_PATCH_IMAGE_SETUP_H

#include "engine/patch/state.h"

struct areas;
struct region;
struct proc_status;

/*
 * Would a forced SIGSYS change which signals the process has pending? If so, the agent must not be put into the process,
 * and `why` gives the reason. `s` is the process's /proc/PID/status.
 */
bool setup_is_refused(const struct proc_status *s, struct buf *why);
/*
 * Puts the agent into the image of a stopped task. `at` is the address of code of the program that may be overwritten
 * for a short time. `saved` holds the registers of the task, which the caller restores afterwards. `mask` is the task's
 * signal mask, or NULL if it is not known. Returns 0 or -errno: -ESRCH if the task died, -E2BIG if its address-space
 * limit is too small. After an error, the image is unchanged, and the caller should let it fall back.
 */
int setup_image(struct patch *p, struct task *task, uint64_t at, const struct cpu_regs *saved, const uint64_t *mask);
/*
 * Returns the address for the stubs of an image whose first instruction is at `at`, above 4 GiB. Stubs are placed below
 * the loader: far enough away to leave room for the libraries that the loader will map, and near enough for jumps.
 */
uint64_t setup_stubs(uint64_t at);
/* Gives the image the counters in `region`, and the caller's reference to it. The image becomes IMAGE_READY. */
void setup_counters(struct patch *p, const struct task *task, struct region *region);
/* Resets an image into which the agent could not be put. Releases its region. */
void setup_forget(struct patch *p, struct image *img);
/* Returns the initial data of the agent in an image that has counters, and an area for stubs unless `stubs` is 0. */
struct agent_data setup_data(const struct image *img, uint64_t stubs);
/*
 * Called if the agent cannot be used after all: unmaps the memory that setup has mapped, and whose addresses are in `r`
 * (agent.S). `stubs` is the address that the stubs were to have.
 */
void setup_unmap(struct patch *p, struct task *task, const struct cpu_regs *r, uint64_t stubs);
/* Lists all that the engine has mapped in a ready image, the agent's code first. The caller frees it by vec_free(). */
void setup_areas(const struct image *img, struct areas *areas);
/* Gives the image counters of its own, in place of those shared with another image. Returns 0 or -errno. */
int setup_own_region(struct patch *p, struct task *task);

/*
 * Unattended setup: puts the agent into a new image without a stop. sctrace writes code into unused bytes after the
 * loader's code, and writes the data that this code needs to the stack. The program runs the code on the way to its
 * first instruction. This is possible if the loader was seen before (unattended.c).
 */

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
