/*
 * Keeps the plans of files for later runs, because the decision about a site and the stop for it take longer than many
 * programs run. The plans are in sctrace-sites, in the folder of engine/kept.h. They are valid for the file with the
 * same device, inode and time of last change. Plans that were learned from other users' programs are not kept.
 */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_KEPT_PLANS_H
#define SCTRACE_ENGINE_PATCH_IMAGE_KEPT_PLANS_H

#include <stddef.h>
#include <stdint.h>

struct module;
struct kept_plans;

/*
 * The number of plans that are kept. If there are more, those of the files that were not mapped for the longest time
 * are removed.
 */
#define KEPT_PLANS_MAX 2048

/*
 * Reads the kept plans. `rights` are sctrace's own capabilities: plans that a run with other capabilities has kept are
 * not used. Returns NULL if nothing can be kept.
 */
struct kept_plans *kept_plans_open(uint64_t rights);
void kept_plans_close(struct kept_plans *k);
/* Adds the plans that are kept for the module's file to `mod`. */
void kept_plans_find(const struct kept_plans *k, struct module *mod);
/* Keeps the plans of these modules, and those that are kept for other files. */
void kept_plans_save(const struct kept_plans *k, struct module *const *mods, size_t n);

#endif
