/* From addresses to names: the function, the source file and line, by libdw (elfutils). */
#ifndef SCTRACE_STACK_SYMBOL_H
#define SCTRACE_STACK_SYMBOL_H

#include "stack/stack.h"
#include "stack/unwind.h"

struct symbols; /* the modules of one process */

/* Looks at the mappings of `pid`; NULL: no memory, or no such process. */
struct symbols *symbol_open(pid_t pid);
void symbol_close(struct symbols *s); /* NULL is fine */
/* The mappings have changed: looks again, and keeps what it knows of modules that stayed. Frames given before are invalid. */
int symbol_refresh(struct symbols *s);
/* Fills all of `f` but `index`; `exact` as in unwind_fn. What is not known stays NULL. */
void symbol_resolve(struct symbols *s, uint64_t ip, bool exact, struct stack_frame *f);

/*
 * Walks thread `tid`, in a ptrace stop, as unwind_walk() does, by elfutils' own unwinder: slower, but it reads .eh_frame
 * and .debug_frame without a table, and 32-bit programs.
 */
int symbol_walk(struct symbols *s, pid_t tid, unwind_fn fn, void *ctx);

#endif
