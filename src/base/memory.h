/* That memory ran out, known to whoever ends a command. */
#ifndef SCTRACE_BASE_MEMORY_H
#define SCTRACE_BASE_MEMORY_H

#include <stdbool.h>

/* An allocation failed. Buffers, vectors, maps and tables say so; not every caller of theirs looks. */
void memory_note_failure(void);
/* Did one fail so far? Then something of what was shown may be missing. */
bool memory_ran_out(void);

#endif
