/*
 * Fills in the run of each bench test from what was measured: the method, the lines above the tables (run->head), the
 * subjects and the notes.
 */
#ifndef SCTRACE_BENCH_RESULTS_RESULTS_H
#define SCTRACE_BENCH_RESULTS_RESULTS_H

#include "base/vec.h"
#include "bench/latency.h"
#include "bench/loads.h"
#include "bench/place.h"
#include "bench/sched.h"
#include "bench/switch.h"
#include "bench/syscall.h"
#include "run/run.h"

#include <stddef.h>
#include <stdint.h>

/* All repetitions of bench sched with one number of processes. */
struct sched_size {
	size_t procs;
	struct sched_run *runs;
	size_t n; /* number of elements of `runs`: the completed runs, or one interrupted run if none completed */
};

/* What bench latency measured under one load. */
struct latency_row {
	struct load *load;
	struct latency_result r;
};

/* What bench load measured under one load. */
struct load_row {
	struct load *load;
	VEC(double) wall, user, system; /* seconds, one value for each run */
};

/* How bench load measured. */
struct load_method {
	const char *command; /* the name of the command; NULL: the suite */
	uint64_t times;      /* how often the suite was run for one sample */
	uint64_t seed;
	const char *without; /* the operations that the suite omitted */
};

/*
 * For all functions, `cpus` are the CPUs of the option --cpus, or an empty list. Results without samples get no
 * subject, only a note.
 */
void results_syscall(struct run *run, const struct cpu_list *cpus, const struct op_plan *plan,
		     const struct op_control *control, const struct op_result *results, size_t n);
void results_switch(struct run *run, const struct switch_plan *plan, const struct switch_result *results, size_t n);
void results_sched(struct run *run, const struct cpu_list *cpus, const struct sched_plan *plan,
		   const struct sched_size *sizes, size_t n);
/* Rows without a wake-up get no subject. */
void results_latency(struct run *run, const struct cpu_list *cpus, const struct latency_plan *plan,
		     const struct latency_row *rows, size_t n);
/* If nothing was measured (`rows` have no samples), only the method is filled in. */
void results_load(struct run *run, const struct cpu_list *cpus, const struct load_method *method,
		  const struct load_row *rows, size_t n);
/*
 * Adds notes about loads that do less than their names say: 'disk' if `dir`, which contains its files, is on a file
 * system in memory, and 'suite' if some of its operations cannot run on this machine.
 */
void results_note_loads(struct run *run, const char *dir, const struct load *loads, size_t n);

#endif
