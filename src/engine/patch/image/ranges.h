/* Executable memory that the program remaps, unmaps or makes writable. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_RANGES_H
#define SCTRACE_ENGINE_PATCH_IMAGE_RANGES_H

#include "engine/patch/remote/maps.h"

/*
 * The patchable code among `n` mappings, as at most AGENT_RANGES rows [lo, hi) and a row of zeroes after them; if there are
 * more, near ones are merged. Returns how many rows.
 */
size_t ranges_of(const struct mapping *m, size_t n, uint64_t (*rows)[2]);
/* Tells the agent which code img->mappings has now: the agent hands calls over that would remap it. */
void ranges_write(const struct task *task);
/* The task is about to make call `nr` with registers `r`. If that remaps code, restores the sites in it. */
void ranges_watch(struct task *task, int64_t nr, const struct user_regs_struct *r);
/*
 * The task is in the entry stop of a call of its own. If the call is about memory of ours, which would not be mapped
 * without us, the call is skipped, and it will end as if nothing were mapped there.
 */
void ranges_hide(struct patch *p, struct task *task);

#endif
