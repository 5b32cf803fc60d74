/* Remembers that memory ran out, so that the command can report it when it ends. */
#ifndef SCTRACE_BASE_MEMORY_H
#define SCTRACE_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Notes a failed allocation. Buffers, vectors, maps and tables call this, because not all of their callers check. */
void memory_note_failure(void);
/* Like calloc(3) for one object; notes a failure. */
void *memory_zeroed(size_t size);
/* Like fopen(3) for reading; notes a lack of memory, which a caller could mistake for a missing file. */
FILE *memory_fopen(const char *path);
/* True if an allocation has failed. Parts of the output may then be missing. */
bool memory_ran_out(void);

#endif
