/* SPDX-License-Identifier: MIT */
/* `bench sched`: measures how CPU-bound processes share the CPUs: their progress, latency, slices and shares. */
#ifndef SCTRACE_BENCH_SCHED_H
#define SCTRACE_BENCH_SCHED_H

#include "base/memory.h"
#include "bench/place.h"
#include "bench/stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_LOGS   100   /* a process logs its progress at each percent of its work */
#define SCHED_PROCS  128   /* the largest number of processes at once */
#define SCHED_SLICES 16384 /* the largest number of slices kept for one process */

/* An amount of computation, and the time that it takes if nothing interrupts it. */
struct sched_work {
	uint64_t chunk_iterations; /* iterations of an empty loop in one chunk, which takes about 20 us */
	double chunk_ns;           /* duration of the fastest chunk that was measured */
	uint64_t chunks;           /* number of chunks that each process computes */
};

struct sched_plan {
	size_t procs; /* 1 to SCHED_PROCS */
	const int *cpus;
	size_t ncpus;
	struct place_policy policy;
	const int *nice; /* nice values, assigned to the processes in turn; NULL: policy.nice for all */
	size_t nnice;
	struct sched_work work;
	struct progress progress;
};

/*
 * A period during which a process ran on a CPU and was not switched out. Times are in ns since the common start, at
 * which all processes of the run began their work.
 */
struct sched_slice {
	uint64_t start, end;
	int cpu;
};

struct sched_proc {
	int nice;
	bool done;
	uint64_t latency_ns;              /* time from the common start until the process finished; valid if `done` */
	uint64_t progress_ns[SCHED_LOGS]; /* times at which each percent of the work was done, in ns since the common
					   * start */
	size_t logs;                      /* number of entries in progress_ns */
	VEC(struct sched_slice) slices;
	bool slices_whole;               /* false: some slices are missing, because there were more than SCHED_SLICES */
	uint64_t voluntary, involuntary; /* context switches during the work, as counted by getrusage(2) */
};

struct sched_run {
	struct sched_proc *procs; /* array with one element for each process */
	size_t n;
	uint64_t window_ns; /* time from the common start until the first process finished, or until the
			     * interruption; during this time all processes compete */
};

/*
 * Finds the chunk size, and the number of chunks that take `time_ns`, in a child that runs on the `ncpus` CPUs. Returns
 * 0 or -errno.
 */
int sched_calibrate(struct sched_work *w, uint64_t time_ns, const int *cpus, size_t ncpus);
/*
 * Runs the processes once. Returns 0 or -errno. If stop_signal() is set, returns -EINTR; `r` then contains the progress
 * and the slices up to the interruption.
 */
int sched_measure(const struct sched_plan *plan, struct sched_run *r);
void sched_run_free(struct sched_run *r);

/* All repetitions with one number of processes. */
struct sched_size {
	size_t procs;
	struct sched_run *runs;
	size_t n; /* number of elements of `runs`: the completed runs, or one interrupted run if none completed */
};

/*
 * Fills in the `n` sizes, whose numbers of processes are `procs`. Runs each number of processes once in each of `runs`
 * rounds, so that changes of the machine over time affect all of them equally. If stop_signal() is set, ends early and
 * keeps the results so far. Returns 0 or -errno. Call sched_sizes_free() in every case.
 */
int sched_measure_all(const struct sched_plan *plan, const int *procs, struct sched_size *sizes, size_t n, size_t runs);
void sched_sizes_free(struct sched_size *sizes, size_t n);

/*
 * Returns the number of processes divided by the time in seconds from the common start to the last finish; NAN if a
 * process did not finish.
 */
double sched_throughput(const struct sched_run *r);
/* Returns the mean of latency_ns over all processes; NAN if a process did not finish. */
double sched_mean_latency(const struct sched_run *r);
/*
 * Returns the CPU time of process `proc` within the window, divided by the CPU time that all processes received within
 * it; NAN if slices are missing.
 */
double sched_share(const struct sched_run *r, size_t proc);
/*
 * Returns the share (0 to 1) of the CPU time within the window, on `ncpus` CPUs, that the processes did not receive,
 * because other programs or the kernel's switching used it. NAN if slices are missing.
 */
double sched_others(const struct sched_run *r, size_t ncpus);
/* Returns the kernel's load weight for a nice value from -20 to 19 (sched_prio_to_weight[] in kernel/sched/core.c). */
int sched_weight(int nice);

#endif
