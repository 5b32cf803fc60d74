/* Converts addresses to function names, source files and lines, by libdw (elfutils). */
#ifndef SCTRACE_STACK_SYMBOL_H
#define SCTRACE_STACK_SYMBOL_H

#include "stack/stack.h"
#include "stack/unwind.h"

struct symbols; /* the modules of one process */

/* Reads the mappings of `pid`. Returns NULL if there is no memory or no such process. */
struct symbols *symbol_open(pid_t pid);
void symbol_close(struct symbols *s); /* accepts NULL */
/*
 * Reads changed mappings, and keeps what is known of modules that are still there. Frames from earlier calls become
 * invalid.
 */
int symbol_refresh(struct symbols *s);
/* Fills in all of `f` except `index`; `exact` as in unwind_fn. Unknown members are NULL. */
void symbol_resolve(struct symbols *s, uint64_t ip, bool exact, struct stack_frame *f);

/*
 * Like unwind_walk(), for thread `tid` in a ptrace stop, but with elfutils' unwinder. It is slower, but needs no table:
 * it reads .eh_frame and .debug_frame, also of 32-bit programs.
 */
int symbol_walk(struct symbols *s, pid_t tid, unwind_fn fn, void *ctx);

#endif
