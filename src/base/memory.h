/* Remembers that memory ran out, so that the command can report it when it ends. */
#ifndef SCTRACE_BASE_MEMORY_H
#define SCTRACE_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Records that an allocation failed. Buffers, vectors, maps and tables call this function, because not all of their
 * callers check for failures.
 */
void memory_note_failure(void);
/* Like calloc(1, size), but records a failure. */
void *memory_zeroed(size_t size);
/*
 * Opens `path` for reading like fopen(3). Records a lack of memory, which the caller might mistake for a missing file.
 */
FILE *memory_fopen(const char *path);
/* Returns true if an allocation has failed. Parts of the output may then be missing. */
bool memory_ran_out(void);

#endif
