/* `bench load`: measures how much slower the suite (bench/loads.h) or a command runs under loads. */
#ifndef SCTRACE_BENCH_SLOWDOWN_H
#define SCTRACE_BENCH_SLOWDOWN_H

#include "base/memory.h"
#include "bench/loads.h"
#include "bench/stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct run;

struct slowdown_plan {
	char *const *command; /* command line; NULL: the suite */
	const char *self;     /* path of sctrace, which is run with SUITE_WORD */
	const char *without;  /* operations that the suite omits (suite_find_missing()) */
	const char *dir;      /* directory for files */
	uint64_t time_ns;     /* the suite is repeated until it takes about this time without a load; 0: it runs once */
	int runs;             /* number of runs under each load */
	uint64_t seed;        /* seed of the random order of the loads, which is different in each round */
	const int *cpus;      /* the CPUs of the suite or the command; NULL: all */
	size_t ncpus;
	bool show_output, ignore_failure; /* options of the command */
	struct progress progress;
};

/* What was measured under one load. */
struct slowdown_row {
	struct load *load;
	VEC(double) wall, user, system; /* seconds, one value for each run */
};

/*
 * Measures under the load of each of the `n` rows, in rounds, after a run that warms up the caches. Sets *times to the
 * number of repetitions of the suite in one run. Adds notes about loads that did not run to `run`. Returns 0, or -errno
 * with the reason in `why` if it concerns the suite or the command: -ENOENT or -EACCES if the command cannot be run,
 * -ECANCELED if it failed, -ERANGE if plan->time_ns is too short. If stop_signal() is set, keeps the results so far and
 * returns -EINTR or 0.
 */
int slowdown_measure(const struct slowdown_plan *plan, struct slowdown_row *rows, size_t n, uint64_t *times,
		     struct run *run, struct buf *why);
void slowdown_rows_free(struct slowdown_row *rows, size_t n);

#endif
