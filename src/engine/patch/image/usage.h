/*
 * Which calls the images of a program have made. Programs share files, above all the C library, but each program reaches
 * only some of the call sites in them, and patching a site takes time: each page with a patched site must be copied. So
 * once an image of a program has ended, only sites of calls that it has made are patched in the program's next images.
 * This is only a guess about the future: a call at another site stops, as at an unknown site, and the site is patched
 * then.
 */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_USAGE_H
#define SCTRACE_ENGINE_PATCH_IMAGE_USAGE_H

#include "engine/patch/state.h"

/* Returns what is known about the program with this short name, or NULL if the name is empty or there are too many. */
struct usage *usage_find(struct patch *p, const char *program);
void usage_free_all(struct patch *p);

/* Must be called when the image has its counters. Notes their values if the image's usage will be of interest. */
void usage_begin(struct image *img);
/* Must be called before the image loses its counters. Notes which calls were made since usage_begin(). */
void usage_end(struct image *img);

/* Should the site of this call (-1: unknown) be patched in a new image of the program? `u` may be NULL. */
bool usage_includes(const struct usage *u, int nr);
/* Notes that the program makes this call (-1: unknown). `u` may be NULL. */
void usage_add(struct usage *u, int nr);
/*
 * Notes that the program has several threads. From now on, all sites are patched at its start: some sites cannot be
 * patched while threads are running.
 */
void usage_note_threads(struct usage *u);

#endif
