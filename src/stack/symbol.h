/* Finds the function names, source files and lines of addresses, with libdw (elfutils). */
#ifndef SCTRACE_STACK_SYMBOL_H
#define SCTRACE_STACK_SYMBOL_H

#include "stack/stack.h"
#include "stack/unwind.h"

struct symbols; /* the modules of one process */

/* Loads libdw. It must have succeeded before any other function is called. Returns 0, or -ENOSYS and the reason. */
int symbol_load(struct buf *why);
/*
 * Reads the mappings of `pid`. Returns NULL if there is no such process. `devices`, at first empty, keeps what is known
 * of file systems, also for other processes, until symbol_close().
 */
struct symbols *symbol_open(pid_t pid, struct map *devices);
void symbol_close(struct symbols *s); /* `s` may be NULL */
/*
 * Reads the mappings again, but keeps what is known about modules that are still mapped. Frames from earlier calls
 * become invalid. Returns 0 or -errno.
 */
int symbol_refresh(struct symbols *s);
/* Fills in all members of `f` except `index`. `exact` is as in unwind_fn. Unknown members are NULL. */
void symbol_resolve(struct symbols *s, uint64_t ip, bool exact, struct stack_frame *f);

/*
 * Like unwind_walk(), but uses the unwinder of elfutils. It is slower, but does not need .eh_frame_hdr: it reads
 * .eh_frame and .debug_frame, also of 32-bit programs.
 */
int symbol_walk(struct symbols *s, pid_t tid, unwind_fn fn, void *ctx);

#endif
