/* SPDX-License-Identifier: MIT */
/* `bench syscall`: measures the cost of one operation in batches, in single calls, or in new processes. */
#ifndef SCTRACE_BENCH_SYSCALL_H
#define SCTRACE_BENCH_SYSCALL_H

#include "base/buf.h"
#include "base/memory.h"
#include "bench/op.h"
#include "bench/stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum op_mode {
	OP_IN_PROCESS,  /* a sample is the mean of a batch, which takes long enough to be measured with the clock */
	OP_SINGLE,      /* a sample is one call between two readings of the clock */
	OP_PER_PROCESS, /* like OP_SINGLE, but each sample comes from a new process, which also measures the empty
			 * loop */
};

/* The costs of the method itself, in ns, measured in the same process. They are subtracted from the samples. */
struct op_control {
	double clock_ns;         /* median difference of two successive readings of the clock */
	double clock_step_ns;    /* smallest difference between two readings of the clock that is not 0 */
	double single_ns;        /* median time of an empty loop of one iteration between two readings; OP_SINGLE
				  * subtracts it */
	double loop_ns;          /* cost of one iteration of the empty loop, from op_solve() */
	double spread_ns;        /* robust standard deviation of loop_ns; a cost below a few times this value
				  * cannot be distinguished from 0 */
	double single_spread_ns; /* robust standard deviation of single_ns */
};

struct op_plan {
	enum op_mode mode;
	size_t samples;           /* number of samples of each operation */
	uint64_t sample_ns;       /* minimum duration of a batch */
	uint64_t limit_ns;        /* time limit for one operation; if it is reached, there are fewer samples */
	uint64_t seed;            /* seed of the random order of the operations, which is different in each round */
	const char *dir;          /* directory for files */
	const char *self;         /* OP_PER_PROCESS: path of sctrace, which is run with OP_SAMPLE_WORD */
	struct progress progress; /* op_measure() sets all members except `show` and `ctx` */
};

struct op_result {
	const struct op *op;
	VEC(double) ns; /* the samples, less the costs in struct op_control (except for the empty loop) */
	/*
	 * OP_PER_PROCESS: the time of the empty loop that was subtracted from each sample, measured in the same
	 * process.
	 */
	VEC(double) taken;
	uint64_t batch;    /* number of executions of the operation in each sample */
	double two_op_ns;  /* cost of the operation from op_solve() with its own two loops; NAN if not measured */
	double kernel;     /* system calls per operation; NAN if not counted */
	uint64_t wrong;    /* number of operations that did not do what they should */
	uint64_t spent_ns; /* time that the operation has taken so far */
	struct buf why;    /* if not empty: why the operation cannot run on this machine */
};

/* Solves once = n * (loop + op) and twice = n * (loop + 2 * op) for `op` and `loop`. All times are in ns. */
void op_solve(double once, double twice, double n, double *op, double *loop);
/*
 * Returns the cost of one operation in ns. A batch of `n` took `elapsed` ns; the costs of reading the clock and of the
 * loop are subtracted.
 */
double op_subtract(double elapsed, double n, const struct op_control *c);

/* Measures all members of *c, which takes about 20 ms. */
void op_control_measure(struct op_control *c);
/*
 * Returns the smallest reasonable sample_ns for this clock: reading the clock then takes less than a thousandth of a
 * sample.
 */
uint64_t op_least_sample_ns(const struct op_control *c);
/*
 * Measures the `n` results in ten rounds, each in a new random order. The caller has set `op` in each result, and the
 * rest to zero. If stop_signal() is set, ends early and keeps the results so far. Returns 0 or -errno. An operation
 * that cannot run on this machine is not an error.
 */
int op_measure(const struct op_plan *p, const struct op_control *c, struct op_result *results, size_t n);
void op_result_free(struct op_result *r);
/* Checks that the `n` words are names of operations or groups. Returns 0, or -EINVAL with the reason in `why`. */
int op_check(char *const *words, size_t n, struct buf *why);
/*
 * Sets *results to a new zeroed array with the operations that the `n` words name (`n` is 0: with all operations).
 * Returns their number.
 */
size_t op_choose(struct op_result **results, char *const *words, size_t n);

/* The measurement that a process of mode OP_PER_PROCESS reports, in ns. */
struct op_once {
	double ns;      /* time of the call between two readings of the clock */
	double control; /* median time of an empty loop of one iteration between two readings, measured just before */
};
/*
 * `sctrace bench OP_SAMPLE_WORD NAME DIR` is the internal command that times one call, and writes a struct op_once to
 * standard output.
 */
#define OP_SAMPLE_WORD "__sample"
/* Executes the command OP_SAMPLE_WORD. Writes to `fd`. Returns 0 or -errno. */
int op_sample_write(const char *name, const char *dir, int fd);

/* Determines how many system calls each operation really makes: sctrace traces a child that runs the operations. */

/*
 * Sets the member `kernel` of the `n` results: the number of system calls that all threads of the process (but not its
 * children) make for each execution of the operation. `self` is the path of sctrace, which is run with OP_COUNT_WORD;
 * files are created in `dir`. `kernel` stays NAN for an operation that cannot be set up. Returns 0; -EINTR if
 * stop_signal() is set; or another -errno with the reason in `why`.
 */
int op_count_kernel(struct op_result *results, size_t n, const char *self, const char *dir, struct buf *why);

/*
 * Returns how often the operation is executed while its calls are counted. An operation that takes less than `fast_ns`,
 * and so makes less than one call, is executed more often.
 */
uint64_t op_count_times(const struct op_result *r, double fast_ns);

/*
 * `sctrace bench OP_COUNT_WORD DIR NAME TIMES [NAME TIMES...]` is the internal command that runs the operations. To
 * mark where operation i begins and ends, the command calls close() with the numbers INT_MIN + 2i and INT_MIN + 2i + 1,
 * which cannot be descriptors. The tracer recognises these two calls.
 */
#define OP_COUNT_WORD "__count"
/* Executes the command OP_COUNT_WORD. argv[0] is DIR. Returns 0 or -errno. */
int op_count_run(int argc, char *const *argv);

#endif
