/* `bench latency`: how late a task wakes up from an absolute timer. */
#ifndef SCTRACE_BENCH_LATENCY_H
#define SCTRACE_BENCH_LATENCY_H

#include "bench/place.h"
#include "stats/hist.h"

#include <stdbool.h>
#include <stdint.h>

struct latency_plan {
	uint64_t interval_ns, time_ns;
	struct place_policy policy;
	const int *cpus; /* or NULL: anywhere */
	size_t ncpus;
	void (*tick)(void *ctx); /* some ten times a second; may be NULL */
	void *tick_ctx;
};

/* All ns. Zero-initialised is nothing measured; results of several runs add up by latency_merge(). */
struct latency_result {
	uint64_t n;
	double sum, squares; /* exact, not of the histogram */
	uint64_t min, max;
	uint64_t missed; /* times that were over before the task woke for the time before */
	struct hist hist;
	int lock_err;   /* 0: the memory was locked; else positive errno */
	bool idle_held; /* deep idle states were held off by /dev/cpu_dma_latency */
};

/*
 * Measures in a process of its own and adds to `r`. 0 or -errno; -EINTR when stop_signal() came: what was measured until
 * then is in `r`.
 */
int latency_measure(const struct latency_plan *plan, struct latency_result *r);
/* Adds all of `from`; 0 or -ENOMEM. */
int latency_merge(struct latency_result *r, const struct latency_result *from);
double latency_mean(const struct latency_result *r);
/* Of the sample (n - 1); NAN of one. */
double latency_stddev(const struct latency_result *r);
void latency_free(struct latency_result *r);

#endif
