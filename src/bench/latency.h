/* SPDX-License-Identifier: MIT */
/* `bench latency`: measures how long after the expiration of an absolute timer the waiting task runs. */
#ifndef SCTRACE_BENCH_LATENCY_H
#define SCTRACE_BENCH_LATENCY_H

#include "bench/loads.h"
#include "bench/place.h"
#include "bench/stop.h"
#include "stats/hist.h"

#include <stdbool.h>
#include <stdint.h>

struct run;

struct latency_plan {
	uint64_t interval_ns, time_ns;
	struct place_policy policy;
	const int *cpus; /* NULL: all CPUs */
	size_t ncpus;
	struct progress progress;
};

/* All times are in ns. A zeroed struct is an empty result. latency_merge() combines the results of several runs. */
struct latency_result {
	uint64_t n;
	double sum, squares; /* computed from the samples and not from the histogram, so they are exact */
	uint64_t min, max;
	uint64_t missed; /* timer expirations that passed while the task was still handling an earlier one */
	struct hist hist;
	int lock_err;   /* 0: the memory was locked; otherwise a positive errno */
	bool idle_held; /* /dev/cpu_dma_latency prevented deep idle states */
};

/*
 * Measures in a new process and adds the samples to `r`. Returns 0 or -errno. If stop_signal() is set, returns -EINTR;
 * `r` then contains all samples that were taken before the signal.
 */
int latency_measure(const struct latency_plan *plan, struct latency_result *r);

/* What was measured under one load. */
struct latency_row {
	struct load *load;
	struct latency_result r;
};

/*
 * Measures `runs` times under the load of each row, in rounds: each round measures once under each load, whose files
 * are in `dir`. Adds notes about loads that did not run to `run`. If stop_signal() is set, ends early and keeps the
 * results so far. Returns 0 or -errno.
 */
int latency_measure_all(const struct latency_plan *plan, struct latency_row *rows, size_t n, int runs, const char *dir,
			struct run *run);
/* Adds the samples of `from` to `r`. */
void latency_merge(struct latency_result *r, const struct latency_result *from);
/* Returns the mean in ns, or NAN if there are no samples. */
double latency_mean(const struct latency_result *r);
/* Returns the sample standard deviation (with n - 1 in the denominator), or NAN if there are fewer than two samples. */
double latency_stddev(const struct latency_result *r);
void latency_free(struct latency_result *r);

#endif
