/* `bench sched`: how processes that only compute share CPUs: progress, latency, slices, shares. */
#ifndef SCTRACE_BENCH_SCHED_H
#define SCTRACE_BENCH_SCHED_H

#include "base/vec.h"
#include "bench/place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_LOGS   100   /* a process logs its progress at each percent of its work */
#define SCHED_PROCS  128   /* the largest number of processes at once */
#define SCHED_SLICES 16384 /* the largest number of slices kept for one process */

/* Work that takes a known time if nothing disturbs it. */
struct sched_work {
	uint64_t chunk_iterations; /* iterations of an empty loop; about 20 us */
	double chunk_ns;           /* time of the fastest chunk */
	uint64_t chunks;           /* number of chunks in the work of one process */
};

struct sched_plan {
	size_t procs; /* 1 to SCHED_PROCS */
	const int *cpus;
	size_t ncpus;
	struct place_policy policy;
	const int *nice; /* assigned in turn; NULL: all use policy.nice */
	size_t nnice;
	struct sched_work work;
	void (*tick)(void *ctx); /* called about ten times a second; may be NULL */
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
	uint64_t latency_ns;              /* from the common start to its end, if it ended */
	uint64_t progress_ns[SCHED_LOGS]; /* when each percent was reached, in ns since the common start */
	size_t logs;                      /* number of percents reached */
	VEC(struct sched_slice) slices;
	bool slices_whole;               /* no slice was dropped for lack of room */
	uint64_t voluntary, involuntary; /* switches during the work, as counted by getrusage(2) */
};

struct sched_run {
	struct sched_proc *procs; /* one for each planned process */
	size_t n;
	uint64_t window_ns; /* from the start until the first process ended, or until the interruption: all compete
			     * during this time */
};

/*
 * Measures how long a given amount of work takes. Returns 0 or -errno. Does not pin; run it on the CPU that will do the
 * work.
 */
int sched_calibrate(struct sched_work *w, uint64_t time_ns, const int *cpus, size_t ncpus);
/*
 * Runs the processes once. Returns 0 or -errno. If stop_signal() is set, returns -EINTR with progress and slices so far
 * in `r`.
 */
int sched_measure(const struct sched_plan *plan, struct sched_run *r);
void sched_run_free(struct sched_run *r);

/* Processes per second, from the common start to the last end; NAN if a process did not end. */
double sched_throughput(const struct sched_run *r);
/* Mean latency in ns; NAN if a process did not end. */
double sched_mean_latency(const struct sched_run *r);
/* CPU time of `proc` within the window, as a share of that of all processes; NAN if slices are missing. */
double sched_share(const struct sched_run *r, size_t proc);
/*
 * The share of the CPU time within the window that the processes could have had on `ncpus` CPUs and did not get,
 * because other programs or the kernel's switching used it. NAN if slices are missing.
 */
double sched_others(const struct sched_run *r, size_t ncpus);
/* Median length of the slices of `proc` in ns; NAN if there are none. */
double sched_median_slice(const struct sched_proc *p);
/* The kernel's load weight of a nice value from -20 to 19 (sched_prio_to_weight[] in kernel/sched/core.c). Pure. */
int sched_weight(int nice);

#endif
