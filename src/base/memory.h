/* That memory ran out, known to whoever ends a command. */
#ifndef SCTRACE_BASE_MEMORY_H
#define SCTRACE_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* An allocation failed. Buffers, vectors, maps and tables say so; not every caller of theirs looks. */
void memory_note_failure(void);
/* calloc(3) of one object; that there was no memory for it is noted. */
void *memory_zeroed(size_t size);
/* fopen(3) of a file to be read; that there was no memory for it is noted, for a caller may take it for not there. */
FILE *memory_fopen(const char *path);
/* Did one fail so far? Then something of what was shown may be missing. */
bool memory_ran_out(void);

#endif
