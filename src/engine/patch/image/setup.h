/* Putting the agent into an image. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_SETUP_H
#define SCTRACE_ENGINE_PATCH_IMAGE_SETUP_H

#include "engine/patch/state.h"

struct areas;
struct proc_status;

/*
 * Would a forced SIGSYS or SIGTRAP change what the process ignores or has pending? Then the agent must not go in, and `why` says
 * so. `s` is its /proc/PID/status.
 */
bool setup_is_refused(const struct patch *p, const struct proc_status *s, struct buf *why);
/*
 * Puts the agent into the image of a stopped task. `at` is the address of code of the program that may be overwritten for a
 * moment; `saved` are the registers of the task, which the caller restores, and `mask` is its signal mask, or NULL if that is not
 * known. 0 or -errno; -ESRCH if the task died, -E2BIG if its
 * address-space limit is too small. If it fails,
 * the image is as before, and should fall back.
 */
int setup_image(struct patch *p, struct task *task, uint64_t at, const struct user_regs_struct *saved,
		const uint64_t *mask);
/*
 * All that the engine has mapped in a ready image, the agent's code first. False if memory ran out. The caller frees it with
 * vec_free().
 */
bool setup_areas(struct patch *p, const struct image *img, struct areas *areas);
/* Gives the image of `task`, which shared counters with another, counters of its own. 0 or -errno. */
int setup_own_region(struct patch *p, struct task *task);

#endif
