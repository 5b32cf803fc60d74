/* SPDX-License-Identifier: MIT */
/*
 * Which calls the images of a program have made. Programs share files, above all the C library, but each program reaches
 * only some of the call sites in them, and patching a site takes time: each page with a patched site must be copied.
 * Therefore, once one image of a program has ended, its next images get only the sites of calls that the program has
 * made. Exceptions are the sites of the loader, sites whose call is not known, and programs with several threads. The
 * program may also reach other sites. Its first call at such a site stops, and sctrace patches the site at that stop.
 */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_USAGE_H
#define SCTRACE_ENGINE_PATCH_IMAGE_USAGE_H

#include "engine/patch/state.h"

/*
 * Returns the usage of the program with this short name (proc_pid_comm(5)), and creates it at the first use. Returns NULL
 * if the name is empty, if there are too many programs, or if another name has the same hash.
 */
struct usage *usage_find(struct patch *p, const char *program);
void usage_free_all(struct patch *p);

/*
 * Must be called once the image has its counters. Stores their values, unless it is already known which calls the program
 * makes. plan_apply_mapped() calls it again, so that earlier calls of the loader are not included.
 */
void usage_begin(struct image *img);
/*
 * Must be called when the image ends, before its region is released. Adds the calls whose counters have changed since
 * usage_begin() to the program's usage. Calls that are not counted (SLOT_F_PLAIN) are assumed to have been made.
 */
void usage_end(struct image *img);

/*
 * Should a site be patched where call `nr` was made? `nr` is -1 if the call is not known. If nothing is known about the
 * program, or `u` is NULL, the answer is yes.
 */
bool usage_includes(const struct usage *u, int nr);
/* Adds call `nr` to the calls that the program makes. Does nothing if `nr` is -1 or `u` is NULL. */
void usage_add(struct usage *u, int nr);
/*
 * Notes that the program starts threads. From now on, all known sites are patched at the start of each of its images,
 * because some sites cannot be patched while other threads are running. `u` may be NULL.
 */
void usage_note_threads(struct usage *u);

#endif
