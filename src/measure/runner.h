/*
 * Decides the order of runs: first the warm-up, then rounds. In a round each subject runs once. The order of the
 * subjects is random, and different in each round.
 */
#ifndef SCTRACE_MEASURE_RUNNER_H
#define SCTRACE_MEASURE_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct runner {
	size_t subjects;
	unsigned warmup;    /* number of warm-up rounds, which are not counted */
	unsigned min_runs;  /* number of rounds in which every subject takes part */
	unsigned max_runs;  /* maximum number of rounds */
	uint64_t budget_ns; /* after min_runs rounds, further rounds start only within this time */
	uint64_t seed;      /* seed of the random order */
	/*
	 * Runs `subject` once. `round` starts at 0, and is -1 during the warm-up. Returns 0; 1 if the subject cannot
	 * run and must not be run again; or -errno to end all runs.
	 */
	int (*run)(void *ctx, size_t subject, int round);
	/* Returns true if `subject` has enough runs. Called only after min_runs rounds. */
	bool (*enough)(void *ctx, size_t subject);
	void *ctx;
};

/* Runs the warm-up and all rounds. Returns 0 or the negative result of `run`. */
int runner_go(const struct runner *r);

#endif
