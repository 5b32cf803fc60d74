/*
 * Stacks of stopped programs: the functions that led to a call (-k), and aggregated stacks for flame graphs (--stacks).
 */
#ifndef SCTRACE_STACK_STACK_H
#define SCTRACE_STACK_STACK_H

#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct stack;

/*
 * One frame of a stack; index 0 is the innermost. All pointers belong to the stack and are valid until the callback
 * returns.
 */
struct stack_frame {
	unsigned index;
	uint64_t ip;          /* address in the program; in outer frames, of the instruction after the call */
	const char *module;   /* path of the mapped file, "[vdso]", or NULL if no file is mapped there (JIT code) */
	uint64_t module_addr; /* `ip` in the address space of the module's symbol table, as nm(1) prints it */
	const char *function; /* NULL if no symbol is known */
	uint64_t offset;      /* distance of `ip` from the start of the function */
	const char *file;     /* source file, or NULL without debugging information */
	int line;             /* line of the call itself */
};

/* Called for each frame; false ends the walk. */
typedef bool (*stack_frame_fn)(void *ctx, const struct stack_frame *f);

/* A way of walking stacks. One is built in, depending on the libraries that were found when sctrace was built. */
struct stack_ops {
	const char *name;
	int (*open)(struct stack **out, struct buf *why);
	int (*walk)(struct stack *s, pid_t pid, pid_t tid, stack_frame_fn fn, void *ctx);
	void (*forget)(struct stack *s, pid_t pid);
	void (*close)(struct stack *s);
};

struct stack {
	const struct stack_ops *ops;
};

/*
 * Prepares for walking stacks. Returns 0 and sets *out, or -ENOSYS or -ENOMEM with the reason in `why`. Close with
 * stack_close().
 */
int stack_open(struct stack **out, struct buf *why);
/*
 * Walks the stack of thread `tid` of process `pid`, which must be in a ptrace stop of the calling thread. Facts about
 * the process are cached, and read again when its mappings have changed (exec, dlopen). Returns the number of frames,
 * or -errno (-ESRCH: the task is gone). There is at least one frame: if the stack cannot be walked, it is the
 * instruction pointer.
 */
int stack_walk(struct stack *s, pid_t pid, pid_t tid, stack_frame_fn fn, void *ctx);
/* Drops the cache of a process that has ended. Does nothing for an unknown process. */
void stack_forget(struct stack *s, pid_t pid);
void stack_close(struct stack *s); /* accepts NULL */

/* Appends "libc.so.6(write+0x14) [0x10a4c0]", followed by " file.c:12" if known. Names are escaped. */
void stack_frame_text(struct buf *out, const struct stack_frame *f);

/*
 * Aggregated stacks, one per line: "program;main;f;write 12", which flame-graph tools and speedscope read. A struct of
 * zeros is empty. Add a stack with begin, then frame (a stack_frame_fn, ctx = the struct stack_folded) for each frame,
 * then end; equal stacks are summed. If memory runs out, stacks are missing and memory_ran_out() is true.
 */
struct stack_folded {
	struct map index; /* hash of the text -> struct folded_line */
	VEC(struct folded_line *) lines;
	VEC(char *) frames; /* of the stack being added, innermost first */
	char *program;
};

void stack_folded_begin(struct stack_folded *f, const char *program);
bool stack_folded_frame(void *folded, const struct stack_frame *frame);
/* Ends the stack with `leaf` (the name of the call), and adds `weight` (calls or nanoseconds) to its line. */
void stack_folded_end(struct stack_folded *f, const char *leaf, uint64_t weight);
/* For a stack that will be gone when its weight is known: appends it to `stack`, to be added later. */
void stack_folded_take(struct stack_folded *f, struct buf *stack);
void stack_folded_add(struct stack_folded *f, const char *stack, const char *leaf, uint64_t weight);
/* Appends all lines, sorted by text. */
void stack_folded_text(struct buf *out, struct stack_folded *f);
void stack_folded_free(struct stack_folded *f);

#endif
