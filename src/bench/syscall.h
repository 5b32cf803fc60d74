/* `bench syscall`: what one operation costs, from batches, from single calls, or from fresh processes. */
#ifndef SCTRACE_BENCH_SYSCALL_H
#define SCTRACE_BENCH_SYSCALL_H

#include "base/buf.h"
#include "base/vec.h"
#include "bench/op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum op_mode {
	OP_IN_PROCESS,  /* a sample is the mean of a batch long enough for the clock */
	OP_SINGLE,      /* a sample is one call between two reads of the clock */
	OP_PER_PROCESS, /* the same, each in a process started for it, which measures its own control */
};

/* What the method itself costs, measured in the same process; all ns. */
struct op_control {
	double clock_ns;      /* two reads of the clock with nothing between: the median */
	double clock_step_ns; /* the smallest difference that the clock showed */
	double single_ns;     /* the same around an empty loop of one iteration: what OP_SINGLE subtracts */
	double loop_ns;       /* one iteration of the empty loop, by op_solve() */
	double spread_ns;     /* standard deviation (robust) of loop_ns: less than a few of it cannot be told from 0 */
	double single_spread_ns; /* the same of single_ns */
};

struct op_plan {
	enum op_mode mode;
	size_t samples;     /* per operation */
	uint64_t sample_ns; /* how long a batch lasts at least */
	uint64_t limit_ns;  /* no more time than this for one operation: fewer samples then */
	uint64_t seed;      /* of the order, which changes each round */
	const char *dir;    /* for files */
	const char *self;   /* OP_PER_PROCESS: this program, which understands OP_SAMPLE_WORD */
	/* Called between slices; `done` of `all`. May be NULL. */
	void (*progress)(void *ctx, size_t done, size_t all, const char *name);
	void *progress_ctx;
};

struct op_result {
	const struct op *op;
	VEC(double) ns;    /* one per sample, control subtracted (but for the empty loop itself) */
	VEC(double) taken; /* OP_PER_PROCESS: what was subtracted, measured in that process; one per sample */
	uint64_t batch;    /* calls per sample */
	double two_op_ns;  /* the call's cost by op_solve() on this operation's own two loops; NAN: not measured */
	double kernel;     /* calls into the kernel per operation; NAN: not counted */
	uint64_t wrong;    /* operations that did not do what they should */
	uint64_t spent_ns; /* time used so far */
	struct buf why;    /* not empty: it cannot run here */
};

/*
 * Solves once = n * (loop + op), twice = n * (loop + 2 * op) for both; times in ns. Pure.
 */
void op_solve(double once, double twice, double n, double *op, double *loop);
/* A batch of `n` that took `elapsed` ns as ns per operation, clock and loop subtracted. Pure. */
double op_subtract(double elapsed, double n, const struct op_control *c);

/* Measures the controls; 0 or -ENOMEM. Takes some 20 ms. */
int op_control_measure(struct op_control *c);
/* The least sensible sample_ns with this clock: its reading is then below a thousandth of a sample. Pure. */
uint64_t op_least_sample_ns(const struct op_control *c);
/*
 * Measures all `n` results (each with its `op` set, the rest zero), interleaved in ten rounds of random order. Ends early
 * when stop_signal() says so and keeps what is there. 0 or -errno; an operation that cannot run is no error.
 */
int op_measure(const struct op_plan *p, const struct op_control *c, struct op_result *results, size_t n);
void op_result_free(struct op_result *r);

/* What a process of OP_PER_PROCESS measured, ns. */
struct op_once {
	double ns;      /* the call between two reads of the clock */
	double control; /* the same around an empty loop of one iteration: the median of a few, just before */
};
/* `sctrace bench OP_SAMPLE_WORD NAME DIR` times one call and writes a struct op_once to standard output. */
#define OP_SAMPLE_WORD "__sample"
/* That program's work; 0 or -errno. */
int op_sample_write(const char *name, const char *dir, int fd);

#endif
