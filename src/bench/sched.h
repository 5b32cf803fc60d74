/* `bench sched`: how processes that only compute share CPUs: progress, latency, slices, shares. */
#ifndef SCTRACE_BENCH_SCHED_H
#define SCTRACE_BENCH_SCHED_H

#include "base/vec.h"
#include "bench/place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_LOGS   100   /* how often a process logs its progress: at every percent of its work */
#define SCHED_PROCS  128   /* the most processes at once */
#define SCHED_SLICES 16384 /* the most slices kept of one process */

/* Work that takes a known time where nobody disturbs it. */
struct sched_work {
	uint64_t chunk_iterations; /* of an empty loop; some 20 us */
	double chunk_ns;           /* as the fastest took */
	uint64_t chunks;           /* of them in one process's work */
};

struct sched_plan {
	size_t procs; /* 1 to SCHED_PROCS */
	const int *cpus;
	size_t ncpus;
	struct place_policy policy;
	const int *nice; /* given out in turn; NULL: all as policy.nice says */
	size_t nnice;
	struct sched_work work;
	void (*tick)(void *ctx); /* some ten times a second; may be NULL */
	void *tick_ctx;
};

/* Time on a CPU without being switched out, in ns since the common start. */
struct sched_slice {
	uint64_t start, end;
	int cpu;
};

struct sched_proc {
	int nice;
	bool done;
	uint64_t latency_ns;              /* from the common start to its end; where done */
	uint64_t progress_ns[SCHED_LOGS]; /* when each percent was reached, since the common start */
	size_t logs;                      /* how many were */
	VEC(struct sched_slice) slices;
	bool slices_whole;               /* none was left out for want of room */
	uint64_t voluntary, involuntary; /* switches as getrusage(2) counted them while it worked */
};

struct sched_run {
	struct sched_proc *procs; /* as many as planned */
	size_t n;
	uint64_t window_ns; /* from the start until the first one ended, or the interruption: all compete as long */
};

/* How long so much work takes: 0, or -errno. Pins nothing; measure on the CPU that will do it. */
int sched_calibrate(struct sched_work *w, uint64_t time_ns, const int *cpus, size_t ncpus);
/* Runs them once; 0 or -errno; -EINTR when stop_signal() came: `r` has progress and slices until then. */
int sched_measure(const struct sched_plan *plan, struct sched_run *r);
void sched_run_free(struct sched_run *r);

/* Processes per second, from the common start to the last end; NAN where one did not end. */
double sched_throughput(const struct sched_run *r);
/* Mean latency in ns; NAN where one did not end. */
double sched_mean_latency(const struct sched_run *r);
/* CPU time of `proc` within the window over that of all; NAN where slices are missing. */
double sched_share(const struct sched_run *r, size_t proc);
/*
 * The part of the CPU time within the window that the processes could have had on `ncpus` CPUs and had not: strangers', and
 * the kernel's for switching. NAN where slices are missing.
 */
double sched_others(const struct sched_run *r, size_t ncpus);
/* Median length of the slices of `proc` in ns; NAN of none. */
double sched_median_slice(const struct sched_proc *p);
/* The kernel's load weight of a nice value from -20 to 19 (sched_prio_to_weight[] in kernel/sched/core.c). Pure. */
int sched_weight(int nice);

#endif
