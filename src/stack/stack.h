/* SPDX-License-Identifier: MIT */
/* Stacks of stopped programs: the functions that led to a call (-k), and aggregated stacks (--stacks). */
#ifndef SCTRACE_STACK_STACK_H
#define SCTRACE_STACK_STACK_H

#include "base/map.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct event;
struct stack;

/* One frame of a stack; index 0 is the innermost. All pointers are valid until the callback returns. */
struct stack_frame {
	unsigned index;
	uint64_t ip;          /* address in the program; in outer frames, the address after the call instruction */
	const char *module;   /* path of the mapped file, or "[vdso]"; NULL if no file is mapped at `ip` (code
			       * generated at run time) */
	uint64_t module_addr; /* `ip` as an address in the module's symbol table, which nm(1) prints */
	const char *function; /* NULL if there is no symbol */
	uint64_t offset;      /* distance of `ip` from the start of the function */
	const char *file;     /* source file; NULL without debugging information */
	int line;             /* line of the call */
};

/* Called for each frame; false ends the walk. */
typedef bool (*stack_frame_fn)(void *ctx, const struct stack_frame *f);

/* A method of walking stacks. Which one is built in depends on the libraries that were found when sctrace was built. */
struct stack_ops {
	const char *name;
	int (*open)(struct stack **out, struct buf *why);
	int (*walk)(struct stack *s, const struct event *ev, stack_frame_fn fn, void *ctx);
	void (*forget)(struct stack *s, pid_t pid);
	void (*close)(struct stack *s);
};

struct stack {
	const struct stack_ops *ops;
};

/* Prepares for walking stacks: sets *out. Returns 0, or -ENOSYS with the reason in `why`. */
int stack_open(struct stack **out, struct buf *why);
/*
 * Walks the stack of the thread of `ev`, and calls `fn` for each frame. Reads the memory of the process through
 * `ev->mem`. The thread must be in a ptrace-stop of the calling thread. Facts about the process are cached until its mappings change (execve(2), dlopen(3)). If the
 * stack cannot be walked, there is a single frame: the instruction pointer. Returns the number of frames, or -errno
 * (-ESRCH if the task is gone).
 */
int stack_walk(struct stack *s, const struct event *ev, stack_frame_fn fn, void *ctx);
/* Must be called when a process has exited: frees its cache, if it has one. */
void stack_forget(struct stack *s, pid_t pid);
void stack_close(struct stack *s); /* `s` may be NULL */

/* Appends "libc.so.6(write+0x14) [0x10a4c0]", followed by " file.c:12" if that is known. Names are escaped. */
void stack_frame_text(struct buf *out, const struct stack_frame *f);

/*
 * Aggregated stacks in the format that flame-graph tools and speedscope read. Each line is a stack and its weight:
 * "program;main;f;write 12". A zeroed struct is empty. To add a stack, call stack_folded_begin(), then
 * stack_folded_frame() for each frame (it is a stack_frame_fn whose ctx is the struct stack_folded), then
 * stack_folded_take(), and stack_folded_add() as soon as the weight is known. The weights of equal stacks are added.
 */
struct stack_folded {
	struct map index; /* hash of the text -> struct folded_line */
	VEC(struct folded_line *) lines;
	VEC(char *) frames; /* the frames of the stack that is being added, innermost first */
	char *program;
};

void stack_folded_begin(struct stack_folded *f, const char *program);
bool stack_folded_frame(void *folded, const struct stack_frame *frame);
/* Appends the program and its frames to `stack`. */
void stack_folded_take(struct stack_folded *f, struct buf *stack);
/* Adds `weight` (a number of calls or nanoseconds) to the line of `stack` and `leaf`, the name of the call. */
void stack_folded_add(struct stack_folded *f, const char *stack, const char *leaf, uint64_t weight);
/* Appends all lines, sorted by text. */
void stack_folded_text(struct buf *out, struct stack_folded *f);
void stack_folded_free(struct stack_folded *f);

/*
 * Makes names of C++ and Rust functions readable (demangle.c): appends what a mangled name stands for, such as
 * "std::vector<int>::push_back(int&&)" or "core::fmt::write". Returns false if the name is not mangled, if it is too long,
 * or if sctrace was built without libiberty. The name is not trusted: at most DEMANGLED_MOST bytes are appended.
 */
bool demangle(const char *name, struct buf *out);
#define DEMANGLED_MOST 4096

#endif
