/* Removes files from the page cache, and finds out how much of a file is still in the page cache. */
#ifndef SCTRACE_MEASURE_CACHE_H
#define SCTRACE_MEASURE_CACHE_H

#include <stdbool.h>

/*
 * Writes the dirty pages of `path` to the device, and removes the file from the page cache by posix_fadvise(2) with
 * POSIX_FADV_DONTNEED. If `everything`, also writes to /proc/sys/vm/drop_caches, if that is permitted. Returns 0 or
 * -errno.
 */
int cache_drop(const char *path, bool everything);
/* Returns the share (0 to 1) of the file's pages that are in the page cache (mincore(2)), or -1 if unknown. */
double cache_resident(const char *path);

#endif
