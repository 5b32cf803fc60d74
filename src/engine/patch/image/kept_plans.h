/*
 * Keeps plans (module.h) for later runs. Without them, each call site costs a stop and an analysis of its code, which
 * together can take longer than a short program. The plans are in sctrace-sites, in the folder of engine/kept.h. They are
 * valid for the file with the same device, inode and time of last change. They are used only for the program in which
 * they were learned: patching a site takes time, which is wasted if another program never reaches the site. Plans that
 * were learned from other users' programs are not kept.
 */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_KEPT_PLANS_H
#define SCTRACE_ENGINE_PATCH_IMAGE_KEPT_PLANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module;
struct patch;
struct plan;
struct kept_plans;

/* The number of plans that are kept. If there are more, those that were not used for the longest time are removed. */
#define KEPT_PLANS_MAX 1024

/*
 * Reads the kept plans. `rights` are sctrace's own capabilities: plans that a run with other capabilities has kept are
 * not used. Returns NULL if nothing can be kept. The caller frees the result with kept_plans_close().
 */
struct kept_plans *kept_plans_open(uint64_t rights);
/* Does nothing if `k` is NULL. */
void kept_plans_close(struct kept_plans *k);
/* Can this plan of the module be kept? */
bool kept_plans_suit(const struct module *mod, const struct plan *plan);
/* Are there plans for the program with this short name that kept_plans_add() has not added yet? */
bool kept_plans_exist(struct kept_plans *k, const char *program);
/* The agent makes the calls at the sites of these plans from the start of the next image (image_expect_call()). */
void kept_plans_expect_calls(struct patch *p, const char *program);
/* Adds the plans in p->kept for the module's file and the program with this short name to `mod`. */
void kept_plans_add(struct patch *p, struct module *mod, const char *program);
/* Writes the plans of these modules that can be kept, and earlier ones that were not used or overlapped others. */
void kept_plans_save(const struct kept_plans *k, struct module *const *mods, size_t n);

#endif
