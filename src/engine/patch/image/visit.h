/* A call has stopped at a site: deciding what can be done with the site, and doing it. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_VISIT_H
#define SCTRACE_ENGINE_PATCH_IMAGE_VISIT_H

#include "engine/patch/state.h"

struct site;

/*
 * The site of the instruction that ends at `ip`. At first sight it is decided, and patched if possible. NULL if the image has too
 * many sites, or memory ran out.
 */
struct site *visit_site(struct patch *p, struct task *task, uint64_t ip);

#endif
