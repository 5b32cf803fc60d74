/* Stacks of stopped programs: which functions led to a call (-k), and stacks added up for flame graphs (--stacks). */
#ifndef SCTRACE_STACK_STACK_H
#define SCTRACE_STACK_STACK_H

#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct stack;

/* One level of a stack, the innermost (index 0) first. All pointers are the stack's, valid until the callback returns.
 */
struct stack_frame {
	unsigned index;
	uint64_t ip;        /* address in the program: of the instruction after the call, in outer frames */
	const char *module; /* path of the mapped file, "[vdso]", or NULL: nothing is mapped there from a file (JIT) */
	uint64_t module_addr; /* `ip` as the module's own symbol table counts (what nm(1) prints) */
	const char *function; /* NULL where no symbol is known */
	uint64_t offset;      /* of `ip` in the function */
	const char *file;     /* source file, or NULL without debugging information */
	int line;             /* of the call itself */
};

/* Called for each frame; false ends the walk. */
typedef bool (*stack_frame_fn)(void *ctx, const struct stack_frame *f);

/* A way of walking stacks; one is built in, by what the system had when sctrace was built. */
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

/* Gets ready to walk: 0 and *out, or -ENOSYS or -ENOMEM and `why`. Close with stack_close(). */
int stack_open(struct stack **out, struct buf *why);
/*
 * Walks the stack of thread `tid` of process `pid`, which must be in a ptrace stop of the calling thread. What is known
 * of the process is kept, and read anew when its mappings have changed (exec, dlopen). Returns the number of frames, of
 * which there is at least one (the instruction pointer alone where the stack cannot be walked), or -errno (-ESRCH: the
 * task is gone).
 */
int stack_walk(struct stack *s, pid_t pid, pid_t tid, stack_frame_fn fn, void *ctx);
/* Drops what is kept of a process that has ended; without effect for an unknown one. */
void stack_forget(struct stack *s, pid_t pid);
void stack_close(struct stack *s); /* NULL is fine */

/* Appends "libc.so.6(write+0x14) [0x10a4c0]", with " file.c:12" behind where known; the names are escaped. */
void stack_frame_text(struct buf *out, const struct stack_frame *f);

/*
 * Stacks added up, one line each: "program;main;f;write 12", which flame-graph tools and speedscope read.
 * Zero-initialised is empty. Give one stack by begin, frame (as stack_frame_fn, with ctx = the struct stack_folded) for
 * each frame, and end; equal stacks are added. Where memory ran out, stacks are missing and memory_ran_out() says so.
 */
struct stack_folded {
	struct map index; /* hash of the text -> struct folded_line */
	VEC(struct folded_line *) lines;
	VEC(char *) frames; /* of the stack being given, innermost first */
	char *program;
};

void stack_folded_begin(struct stack_folded *f, const char *program);
bool stack_folded_frame(void *folded, const struct stack_frame *frame);
/* Ends the stack with `leaf` (the call's name) and adds `weight` (calls, or nanoseconds) to its line. */
void stack_folded_end(struct stack_folded *f, const char *leaf, uint64_t weight);
/* The same in two steps, for a stack that will be gone: appends it to `stack`, which is added later. */
void stack_folded_take(struct stack_folded *f, struct buf *stack);
void stack_folded_add(struct stack_folded *f, const char *stack, const char *leaf, uint64_t weight);
/* Appends all lines, sorted by text. */
void stack_folded_text(struct buf *out, struct stack_folded *f);
void stack_folded_free(struct stack_folded *f);

#endif
