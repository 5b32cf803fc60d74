/* SPDX-License-Identifier: MIT */
/* Handles calls by which the program remaps executable memory, unmaps it or makes it writable. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_IMAGE_RANGES_H
#define SCTRACE_ENGINE_PATCH_IMAGE_IMAGE_RANGES_H

#include "engine/patch/remote/maps.h"

/*
 * Collects the patchable code among `n` mappings, which are in ascending order, in at most AGENT_RANGES rows [lo, hi),
 * followed by a row of zeros: `rows` has room for AGENT_RANGES + 1. If there are more ranges, neighbouring ones are
 * merged. Returns the number of rows without the row of zeros.
 */
size_t ranges_of(const struct mapping *m, size_t n, uint64_t (*rows)[2]);
/* Writes the ranges of img->mappings to the agent's memory. Calls that remap them then go to the tracer. */
void ranges_write(const struct task *task);
/* Called before the task makes call `nr` with registers `r`: restores the sites in code that the call remaps. */
void ranges_watch(struct task *task, int64_t nr, const struct cpu_regs *r);
/*
 * Does the call `c` with these arguments, which the task is about to make, map memory over memory that the engine has
 * mapped, or concern more than that memory? Then the engine must unmap its memory first (threads/withdraw.c).
 */
bool ranges_meet(const struct task *task, const struct call *c, const uint64_t args[6]);
/*
 * Called at the entry stop of a call of the program. If the call concerns memory that the engine has mapped, the call
 * is skipped and gets the result that it would have for unmapped memory, so that the program does not notice the
 * engine's memory. If ranges_meet() is true for the call, the engine could not unmap its memory, and the result is ENOMEM.
 */
void ranges_hide(struct task *task);

#endif
