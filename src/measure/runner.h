/* Who runs when: warm-up, then rounds in which every subject runs once, in a new random order each round. */
#ifndef SCTRACE_MEASURE_RUNNER_H
#define SCTRACE_MEASURE_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct runner {
	size_t subjects;
	unsigned warmup;    /* rounds that do not count */
	unsigned min_runs;  /* rounds that every subject takes part in */
	unsigned max_runs;  /* no more than these */
	uint64_t budget_ns; /* rounds beyond min_runs begin within this time from the end of those */
	uint64_t seed;      /* of the order */
	/*
	 * Runs `subject` once; `round` counts from 0, and is -1 for warm-up. 0; 1: this subject is out (it cannot run), go on
	 * with the others; -errno ends everything.
	 */
	int (*run)(void *ctx, size_t subject, int round);
	/* Asked after min_runs: has `subject` been run often enough? */
	bool (*enough)(void *ctx, size_t subject);
	void *ctx;
};

/* 0, -ENOMEM, or what run() gave below zero. */
int runner_go(const struct runner *r);

#endif
