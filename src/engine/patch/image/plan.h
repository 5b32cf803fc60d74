/* What is known about the call sites of files, so that the next image that maps a file need not stop at each site once. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_PLAN_H
#define SCTRACE_ENGINE_PATCH_IMAGE_PLAN_H

#include "engine/patch/remote/maps.h"

struct proc_status;
struct site;

/* Notes the owner of a new image, whose status is `s`. To be called before its first instruction. */
void plan_note_owner(const struct patch *p, struct task *task, const struct proc_status *s);
/* A site in mapping `m` was decided: remembers it for the next image that maps the file. */
void plan_remember(struct patch *p, struct task *task, const struct site *s, const struct mapping *m);
/* The end of the padding in [lo, hi) of a mapped file that plans for this image use; `lo` if they use none. */
uint64_t plan_used_until(const struct patch *p, const struct image *img, const struct mapping *m, uint64_t lo,
			 uint64_t hi);
/* The first site of an image was decided, in mapping `m`: if that is where the image began, it is the loader. */
void plan_note_loader(struct patch *p, struct task *task, const struct mapping *m);
/* Patches the known sites of the loader, in a new image that begins at `entry`. */
void plan_apply_loader(struct patch *p, struct task *task, uint64_t entry);
/*
 * Patches the known sites of all files that the loader has mapped so far, at a stop after a call at `ip` that cannot be avoided
 * anyway. Only once per image, and only if the loader made the call: other programs may map a file to read it, as translators of
 * code do.
 */
void plan_apply_mapped(struct patch *p, struct task *task, uint64_t ip);
/* At the first stop in a known file, patches all its known sites. Was the one at `ip` among them? */
bool plan_apply(struct patch *p, struct task *task, const struct mapping *m, uint64_t ip);
void plan_free_all(struct patch *p);

#endif
