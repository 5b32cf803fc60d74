/* The page cache: emptying it of a file, and the proof. */
#ifndef SCTRACE_MEASURE_CACHE_H
#define SCTRACE_MEASURE_CACHE_H

#include <stdbool.h>

/*
 * Drops `path` from the page cache: its dirty pages are written first, then posix_fadvise(2) DONTNEED, and with
 * `everything` /proc/sys/vm/drop_caches, where this is permitted. 0, or -errno where the file cannot be opened.
 */
int cache_drop(const char *path, bool everything);
/* The share of the file's pages that are in the page cache, 0 to 1, by mincore(2); -1 where it cannot be told. */
double cache_resident(const char *path);

#endif
