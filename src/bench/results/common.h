/* Code that the files of this folder share. */
#ifndef SCTRACE_BENCH_RESULTS_COMMON_H
#define SCTRACE_BENCH_RESULTS_COMMON_H

#include "bench/results/results.h"

#include <stddef.h>

struct buf;

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
