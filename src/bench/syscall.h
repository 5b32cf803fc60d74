/* `bench syscall`: the cost of one operation, from batches, from single calls, or from new processes. */
#ifndef SCTRACE_BENCH_SYSCALL_H
#define SCTRACE_BENCH_SYSCALL_H

#include "base/buf.h"
#include "base/vec.h"
#include "bench/op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum op_mode {
	OP_IN_PROCESS,  /* a sample is the mean of a batch that is long enough for the clock */
	OP_SINGLE,      /* a sample is one call between two reads of the clock */
	OP_PER_PROCESS, /* the same, each in a new process, which measures its own control */
};

/* The cost of the method itself, measured in the same process, in ns. */
struct op_control {
	double clock_ns;         /* median time of two successive reads of the clock */
	double clock_step_ns;    /* the smallest difference between two readings */
	double single_ns;        /* the same around an empty loop of one iteration, which OP_SINGLE subtracts */
	double loop_ns;          /* one iteration of the empty loop, from op_solve() */
	double spread_ns;        /* robust standard deviation of loop_ns; values below a few of it cannot be
			       * distinguished from 0 */
	double single_spread_ns; /* the same for single_ns */
};

struct op_plan {
	enum op_mode mode;
	size_t samples;     /* for each operation */
	uint64_t sample_ns; /* least duration of a batch */
	uint64_t limit_ns;  /* time limit for one operation; if it is reached, there are fewer samples */
	uint64_t seed;      /* seed of the order, which changes with each round */
	const char *dir;    /* folder for files */
	const char *self;   /* OP_PER_PROCESS: this program, which understands OP_SAMPLE_WORD */
	/* Called between slices: `done` of `all` are done. May be NULL. */
	void (*progress)(void *ctx, size_t done, size_t all, const char *name);
	void *progress_ctx;
};

struct op_result {
	const struct op *op;
	VEC(double) ns;    /* one for each sample, with the control subtracted (except for the empty loop) */
	VEC(double) taken; /* OP_PER_PROCESS: what was subtracted, as measured in that process; one for each sample */
	uint64_t batch;    /* calls in each sample */
	double two_op_ns;  /* the cost of the call from op_solve() with this operation's two loops; NAN: not measured */
	double kernel;     /* system calls per operation; NAN: not counted */
	uint64_t wrong;    /* operations that failed to do what they should */
	uint64_t spent_ns; /* time used so far */
	struct buf why;    /* if not empty: the reason why it cannot run here */
};

/* Solves once = n * (loop + op), twice = n * (loop + 2 * op) for both unknowns. Times are in ns. Pure. */
void op_solve(double once, double twice, double n, double *op, double *loop);
/* The cost of one operation in ns, from a batch of `n` that took `elapsed` ns, with clock and loop subtracted. Pure. */
double op_subtract(double elapsed, double n, const struct op_control *c);

/* Measures the controls, which takes about 20 ms. Returns 0 or -ENOMEM. */
int op_control_measure(struct op_control *c);
/*
 * The least reasonable sample_ns for this clock, with which reading it takes less than a thousandth of a sample. Pure.
 */
uint64_t op_least_sample_ns(const struct op_control *c);
/*
 * Measures all `n` results (`op` is set, the rest zero) in ten rounds of random order. If stop_signal() is set, it ends
 * early and keeps the results so far. Returns 0 or -errno; an operation that cannot run is not an error.
 */
int op_measure(const struct op_plan *p, const struct op_control *c, struct op_result *results, size_t n);
void op_result_free(struct op_result *r);

/* The measurement of one process of OP_PER_PROCESS, in ns. */
struct op_once {
	double ns;      /* the call between two reads of the clock */
	double control; /* the same around an empty loop of one iteration: the median of a few, just before */
};
/* `sctrace bench OP_SAMPLE_WORD NAME DIR` times one call and writes a struct op_once to standard output. */
#define OP_SAMPLE_WORD "__sample"
/* Runs that command. Returns 0 or -errno. */
int op_sample_write(const char *name, const char *dir, int fd);

#endif
