/* SPDX-License-Identifier: MIT */
/* Fills in the run of each bench test: the method, the lines above the tables (run->head), subjects and notes. */
#ifndef SCTRACE_BENCH_RESULTS_RESULTS_H
#define SCTRACE_BENCH_RESULTS_RESULTS_H

#include "bench/latency.h"
#include "bench/loads.h"
#include "bench/place.h"
#include "bench/sched.h"
#include "bench/switch.h"
#include "bench/syscall.h"
#include "measure/machine_env.h"
#include "run/run.h"

#include <stddef.h>
#include <stdint.h>

struct buf;

/* The state of the machine when a test began. */
struct results_start {
	struct env_activity activity;
	double load; /* load average; 0: unknown */
};

/*
 * Begins a run of `kind`, and describes the machine in it. `argv` is the command line that the user has typed, after
 * "sctrace bench". Files are created in `dir`.
 */
void results_begin(struct run *run, struct results_start *start, const char *kind, int argc, char *const *argv,
		   const char *dir);
/* Ends a run: adds notes about what has disturbed it, and judges it (run/judge.h). */
void results_end(struct run *run, const struct results_start *start);
/* Moves the method, the subjects and the notes of `part`, the run of one test, to `whole`, the run of all tests. */
void results_join(struct run *whole, struct run *part, const char *test);

/*
 * For the following functions, `cpus` are the CPUs of the option --cpus, or an empty list. Results without samples get
 * no subject, only a note.
 */
void results_syscall(struct run *run, const struct cpu_list *cpus, const struct op_plan *plan,
		     const struct op_control *control, const struct op_result *results, size_t n);
void results_switch(struct run *run, const struct switch_plan *plan, const struct switch_result *results, size_t n);
void results_sched(struct run *run, const struct cpu_list *cpus, const struct sched_plan *plan,
		   const struct sched_size *sizes, size_t n);
/* Rows without a wake-up get no subject. */
void results_latency(struct run *run, const struct cpu_list *cpus, const struct latency_plan *plan,
		     const struct latency_row *rows, size_t n);
/*
 * `times` is the number of repetitions of the suite in one run. If nothing was measured (`rows` have no samples), only
 * the method is filled in.
 */
void results_load(struct run *run, const struct cpu_list *cpus, const struct slowdown_plan *plan, uint64_t times,
		  const struct slowdown_row *rows, size_t n);
/*
 * Finds the operations that cannot run on this machine, and appends their names to `without`: the suite of bench load
 * omits them. Adds a note about them.
 */
void results_note_suite(struct run *run, const char *dir, struct buf *without);
/*
 * Adds notes about loads that do less than their names say: 'disk' if `dir`, which contains its files, is on a file
 * system in memory, and 'suite' if some of its operations cannot run on this machine.
 */
void results_note_loads(struct run *run, const char *dir, const struct load *loads, size_t n);

/* Code that the files of this folder share. */

/* Appends a subject and its samples, which are in `unit` ("s", "ns"). */
struct run_subject *results_add(struct run *run, const char *name, const char *unit, const double *samples, size_t n);
/* Appends "CPU 0,2" for the CPUs, or "any CPU" for an empty list. */
void results_say_cpus(struct buf *out, const struct cpu_list *cpus);
/* Sets the member `cpus` of the run's method (NULL for an empty list). */
void results_set_cpus(struct run *run, const struct cpu_list *cpus);
/*
 * Adds a note that some rows have fewer samples than requested. `rows` lists these rows and their numbers of samples
 * ("SAMPLES of NAME, ..."). Adds no note if `rows` is empty, or if a signal ended the test.
 */
void results_note_shortage(struct run *run, const char *test, size_t samples, const struct buf *rows);
/* Adds to subject `to` the work that the load did during the measurement, and the duration of the measurement. */
void results_add_work(struct run_subject *to, const struct load *load);

#endif
