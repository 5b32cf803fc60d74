/* `bench latency`: the delay of a task that is woken by an absolute timer. */
#ifndef SCTRACE_BENCH_LATENCY_H
#define SCTRACE_BENCH_LATENCY_H

#include "bench/place.h"
#include "stats/hist.h"

#include <stdbool.h>
#include <stdint.h>

struct latency_plan {
	uint64_t interval_ns, time_ns;
	struct place_policy policy;
	const int *cpus; /* or NULL: all */
	size_t ncpus;
	void (*tick)(void *ctx); /* called about ten times a second; may be NULL */
	void *tick_ctx;
};

/*
 * All times are in ns. A struct of zeros means that nothing was measured. latency_merge() adds the results of several
 * runs.
 */
struct latency_result {
	uint64_t n;
	double sum, squares; /* exact, not computed from the histogram */
	uint64_t min, max;
	uint64_t missed; /* expirations that had passed before the task woke for an earlier one */
	struct hist hist;
	int lock_err;   /* 0: the memory was locked; otherwise a positive errno */
	bool idle_held; /* /dev/cpu_dma_latency prevented deep idle states */
};

/*
 * Measures in a process of its own and adds to `r`. Returns 0 or -errno. If stop_signal() is set, returns -EINTR with
 * everything measured so far in `r`.
 */
int latency_measure(const struct latency_plan *plan, struct latency_result *r);
/* Adds all of `from`. Returns 0 or -ENOMEM. */
int latency_merge(struct latency_result *r, const struct latency_result *from);
double latency_mean(const struct latency_result *r);
/* The standard deviation of the sample (n - 1); NAN for a single value. */
double latency_stddev(const struct latency_result *r);
void latency_free(struct latency_result *r);

#endif
