/* SPDX-License-Identifier: MIT */
/* Called when a call has stopped at a site: decides how the site can be patched, and patches it. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_VISIT_H
#define SCTRACE_ENGINE_PATCH_IMAGE_VISIT_H

#include "engine/patch/state.h"

struct site;

/*
 * Returns the site of the instruction that ends at `ip` and makes call `nr`. At the first call at the site, decides how to
 * patch it, and patches it if possible. Returns NULL if the image has too many sites.
 */
struct site *visit_site(struct patch *p, struct task *task, uint64_t ip, int64_t nr);

#endif
