/* The order of runs: warm-up, then rounds in which each subject runs once, in a new random order for each round. */
#ifndef SCTRACE_MEASURE_RUNNER_H
#define SCTRACE_MEASURE_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct runner {
	size_t subjects;
	unsigned warmup;    /* rounds that are not counted */
	unsigned min_runs;  /* rounds that each subject takes part in */
	unsigned max_runs;  /* the greatest number of rounds */
	uint64_t budget_ns; /* rounds beyond min_runs start within this time after the last of those */
	uint64_t seed;      /* seed of the order */
	/*
	 * Runs `subject` once. `round` counts from 0, and is -1 during warm-up. Returns 0; 1 if this subject cannot run
	 * and drops out; or -errno, which ends everything.
	 */
	int (*run)(void *ctx, size_t subject, int round);
	/* Called after min_runs rounds: true if `subject` has enough runs. */
	bool (*enough)(void *ctx, size_t subject);
	void *ctx;
};

/* Returns 0, -ENOMEM, or the negative result of run(). */
int runner_go(const struct runner *r);

#endif
