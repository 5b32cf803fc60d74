/* SPDX-License-Identifier: MIT */
/*
 * The table of the operations that `bench syscall` measures. Each operation is compiled into two loops. Their times
 * together tell the cost of the operation and the cost of the loop itself (see op_solve()).
 */
#ifndef SCTRACE_BENCH_OP_H
#define SCTRACE_BENCH_OP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buf;

/*
 * The objects that an operation uses. The operation's setup() creates them and its teardown() frees them. Before
 * setup(), only `dir` is set; the descriptors are -1 and all else is zero.
 */
struct op_state {
	const char *dir; /* directory for files */
	int fd, fd2;
	FILE *file;
	char *mem;
	size_t size, at; /* size: bytes of `mem` or of the file; at: the loop's position in it */
	uint32_t word;   /* the word that futex(2) works on */
	int pid, tid;
	struct sigaction old_action;
	sigset_t old_mask;
	char data[64];
	char path[256];
	uint64_t wrong; /* how often the operation did not do what it should */
};

/*
 * Type of the two loops of an operation. Both have `n` iterations. `once` executes the operation once in each
 * iteration, and `twice` executes it twice.
 */
typedef void op_loop_fn(struct op_state *s, uint64_t n);

struct op {
	const char *name;
	const char *group;
	const char *about;
	op_loop_fn *once, *twice;
	int (*setup)(struct op_state *s, struct buf *why); /* may be NULL; returns 0, or -errno with the reason in
							    * `why` if the operation cannot run on this machine */
	void (*teardown)(struct op_state *s);              /* may be NULL */
	enum op_cost {
		OP_CHEAP,
		OP_DEAR
	} cost;    /* OP_DEAR: the operation creates a process or thread, which takes microseconds or more */
	bool trap; /* the operation enters the kernel by an exception, so system call tracers do not see it */
};

/* Returns row `i` of the table of operations, or NULL after the last row. */
const struct op *op_at(size_t i);
/* Returns the operation with this name, or NULL. */
const struct op *op_find(const char *name);
/* Returns the empty loop, whose time is subtracted from the times of the other operations. */
const struct op *op_empty(void);

/*
 * Initialises `s` and calls the setup() of `op`. Files are created in `dir`. Returns 0, or -errno with the reason in
 * `why`.
 */
int op_open(const struct op *op, struct op_state *s, const char *dir, struct buf *why);
void op_close(const struct op *op, struct op_state *s);
/*
 * op.c: opens a file without a name in `dir` (O_TMPFILE, or with its name removed at once), so that no file
 * remains if the process is killed. Returns the descriptor, or -1 with errno.
 */
int op_nameless_file(const char *dir);

/*
 * OP_BARRIER() makes the compiler assume that all memory is read and written here, OP_KEEP(x) also that `x` is used.
 * Without these, the compiler would delete an empty loop, and call a pure function once instead of in each iteration.
 */
#define OP_BARRIER() __asm__ volatile("" ::: "memory")
#define OP_KEEP(x)   __asm__ volatile("" ::"r"(x) : "memory")

/*
 * Counts a failure of the operation, by a branch that is almost never taken. An addition without a branch would put a
 * load and a store into each iteration, and the empty loop has neither.
 */
#define OP_WRONG_IF(failed)                                                                                            \
	do {                                                                                                           \
		if (__builtin_expect((failed), 0))                                                                     \
			s->wrong++;                                                                                    \
	} while (0)

/*
 * Begins the definition of an operation. The body of the function, which follows, executes the operation once. It is
 * inlined into the two loops NAME_once() and NAME_twice(), which this macro defines.
 */
#define OP(name)                                                                                                       \
	static inline __attribute__((always_inline)) void name(struct op_state *s);                                    \
	static __attribute__((noinline)) void name##_once(struct op_state *s, uint64_t n)                              \
	{                                                                                                              \
		for (uint64_t i = 0; i < n; i++) {                                                                     \
			name(s);                                                                                       \
			OP_BARRIER();                                                                                  \
		}                                                                                                      \
	}                                                                                                              \
	static __attribute__((noinline)) void name##_twice(struct op_state *s, uint64_t n)                             \
	{                                                                                                              \
		for (uint64_t i = 0; i < n; i++) {                                                                     \
			name(s);                                                                                       \
			OP_BARRIER();                                                                                  \
			name(s);                                                                                       \
			OP_BARRIER();                                                                                  \
		}                                                                                                      \
	}                                                                                                              \
	static inline void name(struct op_state *s)

/* Defines an operation that is one expression. The expression is true if the operation has failed. */
#define OP_ONE(name, failed)                                                                                           \
	OP(name)                                                                                                       \
	{                                                                                                              \
		OP_WRONG_IF(failed);                                                                                   \
	}

/* The members of struct op for the two loops of an operation that OP() has defined. */
#define OP_LOOPS(name) .once = name##_once, .twice = name##_twice

#endif
