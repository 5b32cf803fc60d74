/*
 * The operations of `bench syscall` as data. Each has two loops, so that the cost of the loop itself can be computed.
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
 * What an operation works on. Its setup fills this in and its teardown undoes that. Starts as zeros, except for `dir`.
 */
struct op_state {
	const char *dir; /* folder for files */
	int fd, fd2;
	FILE *file;
	char *mem;
	size_t size, at; /* size: bytes of `mem` or of the file; at: the loop's position in it */
	uint32_t word;   /* futex */
	int pid, tid;
	struct sigaction old_action;
	sigset_t old_mask;
	char data[64];
	char path[256];
	uint64_t wrong; /* how often the operation failed to do what it should */
};

/* Runs the operation `n` times (once), or 2n times (twice, with two in each iteration). */
typedef void op_loop_fn(struct op_state *s, uint64_t n);

struct op {
	const char *name;
	const char *group;
	const char *about;
	op_loop_fn *once, *twice;
	int (*setup)(struct op_state *s, struct buf *why); /* or NULL; returns 0, or -errno if it cannot run here,
							    * with the reason in `why` */
	void (*teardown)(struct op_state *s);              /* or NULL */
	enum op_cost {
		OP_CHEAP,
		OP_DEAR
	} cost;    /* OP_DEAR: creates a process or thread, which takes
							    * microseconds or more */
	bool trap; /* enters the kernel by an exception, which no system call tracer sees */
};

/* The operations of one part. op_at() joins the parts. */
extern const struct op ops_self[];
extern const size_t ops_self_count;
extern const struct op ops_file[];
extern const size_t ops_file_count;
extern const struct op ops_task[];
extern const size_t ops_task_count;

/* Row `i` over all parts, or NULL after the last. */
const struct op *op_at(size_t i);
/* The operation called `name`, or NULL. */
const struct op *op_find(const char *name);
/* The empty loop, whose time is subtracted from the others. */
const struct op *op_empty(void);

/* Sets up the state for `op`, with files in `dir`. Returns 0, or -errno with the reason in `why`. */
int op_open(const struct op *op, struct op_state *s, const char *dir, struct buf *why);
void op_close(const struct op *op, struct op_state *s);

/*
 * A barrier that the compiler cannot look through. It makes the compiler assume that each iteration reads and writes
 * all memory, and uses each value. Without it, an empty loop is deleted, and a repeated pure call is made once.
 */
#define OP_BARRIER() __asm__ volatile("" ::: "memory")
#define OP_KEEP(x)   __asm__ volatile("" ::"r"(x) : "memory")

/*
 * Counts failures in a body. It is a branch that is never taken, and not an addition, because that would add a load and
 * a store to each iteration, which the empty loop does not have.
 */
#define OP_WRONG_IF(failed)                                                                                            \
	do {                                                                                                           \
		if (__builtin_expect((failed), 0))                                                                     \
			s->wrong++;                                                                                    \
	} while (0)

/* Creates the two loops of an operation from its body, a function of the state that is inlined into both. */
#define OP_LOOPS(body)                                                                                                 \
	static __attribute__((noinline)) void body##_once(struct op_state *s, uint64_t n)                              \
	{                                                                                                              \
		for (uint64_t i = 0; i < n; i++) {                                                                     \
			body(s);                                                                                       \
			OP_BARRIER();                                                                                  \
		}                                                                                                      \
	}                                                                                                              \
	static __attribute__((noinline)) void body##_twice(struct op_state *s, uint64_t n)                             \
	{                                                                                                              \
		for (uint64_t i = 0; i < n; i++) {                                                                     \
			body(s);                                                                                       \
			OP_BARRIER();                                                                                  \
			body(s);                                                                                       \
			OP_BARRIER();                                                                                  \
		}                                                                                                      \
	}

/* Begins a body. */
#define OP_BODY(name) static inline __attribute__((always_inline)) void name(struct op_state *s)

#endif
