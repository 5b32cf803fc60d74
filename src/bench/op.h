/* The operations of `bench syscall` as data: each a pair of loops, so that the loop's own cost can be solved for. */
#ifndef SCTRACE_BENCH_OP_H
#define SCTRACE_BENCH_OP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buf;

/* What an operation works on; made by its setup, undone by its teardown. Zero-initialised, but for `dir`. */
struct op_state {
	const char *dir; /* where files may be made */
	int fd, fd2;
	FILE *file;
	char *mem;
	size_t size, at; /* bytes of `mem` or of the file; where the loop stands in it */
	uint32_t word;   /* futex */
	int pid, tid;
	struct sigaction old_action;
	sigset_t old_mask;
	char data[64];
	char path[256];
	uint64_t wrong; /* how often the operation did not do what it should */
};

/* Runs the operation `n` times (once) or 2n times (twice, two in each iteration). */
typedef void op_loop_fn(struct op_state *s, uint64_t n);

struct op {
	const char *name;
	const char *group;
	const char *about;
	op_loop_fn *once, *twice;
	int (*setup)(struct op_state *s, struct buf *why); /* or NULL; 0 or -errno and `why`: cannot run here */
	void (*teardown)(struct op_state *s);              /* or NULL */
	enum op_cost { OP_CHEAP, OP_DEAR } cost;           /* OP_DEAR: makes a process or thread, microseconds and up */
	bool trap; /* it enters the kernel by an exception, which no tracer of calls sees */
};

/* All operations of one part; the parts make up op_list(). */
extern const struct op ops_self[];
extern const size_t ops_self_count;
extern const struct op ops_file[];
extern const size_t ops_file_count;
extern const struct op ops_task[];
extern const size_t ops_task_count;

/* Row `i` over all parts, NULL behind the last. */
const struct op *op_at(size_t i);
/* The operation called `name`, or NULL. */
const struct op *op_find(const char *name);
/* The empty loop: what is subtracted from the others. */
const struct op *op_empty(void);

/* Sets a state up for `op`, working files in `dir`; 0, or -errno and `why`. */
int op_open(const struct op *op, struct op_state *s, const char *dir, struct buf *why);
void op_close(const struct op *op, struct op_state *s);

/*
 * What the compiler may not see through: it must take every iteration for one that reads and writes all memory, and each
 * value handed to it as used. Without it an empty loop is deleted and a repeated pure call is made once.
 */
#define OP_BARRIER() __asm__ volatile("" ::: "memory")
#define OP_KEEP(x)   __asm__ volatile("" ::"r"(x) : "memory")

/*
 * Counts what went wrong in a body. A branch that is never taken, and no addition: that would put a load and a store into
 * every iteration, which the empty loop has not.
 */
#define OP_WRONG_IF(failed)                                                                                            \
	do {                                                                                                           \
		if (__builtin_expect((failed), 0))                                                                     \
			s->wrong++;                                                                                    \
	} while (0)

/* Makes the two loops of an operation from its body, a function of the state that is inlined into both. */
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
