/* Drops files from the page cache, and checks that they are gone. */
#ifndef SCTRACE_MEASURE_CACHE_H
#define SCTRACE_MEASURE_CACHE_H

#include <stdbool.h>

/*
 * Drops `path` from the page cache: writes its dirty pages, then calls posix_fadvise(2) with POSIX_FADV_DONTNEED. With
 * `everything` it also writes to /proc/sys/vm/drop_caches, if permitted. Returns 0, or -errno if the file cannot be
 * opened.
 */
int cache_drop(const char *path, bool everything);
/* The share (0 to 1) of the file's pages that are in the page cache, by mincore(2); -1 if unknown. */
double cache_resident(const char *path);

#endif
