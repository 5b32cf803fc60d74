#include "measure/runner.h"

#include "base/clock.h"
#include "base/memory.h"
#include "stats/random.h"

#include <errno.h>
#include <stdlib.h>

struct round {
	size_t *order; /* the subjects that take part in the next round */
	size_t n;
	struct rng random;
};

/*
 * Runs each remaining subject once, and removes those that cannot run. The order is random: if a subject always ran
 * after the same other subject, it would always find the caches and the CPU in the state in which that subject leaves
 * them.
 */
static int run_round(const struct runner *r, struct round *round, int number)
{
	rng_shuffle(&round->random, round->order, round->n);
	size_t kept = 0;
	for (size_t i = 0; i < round->n; i++) {
		int err = r->run(r->ctx, round->order[i], number);
		if (err < 0)
			return err;
		if (err == 0)
			round->order[kept++] = round->order[i];
	}
	round->n = kept;
	return 0;
}

static void drop_finished(const struct runner *r, struct round *round)
{
	size_t kept = 0;
	for (size_t i = 0; i < round->n; i++)
		if (!r->enough(r->ctx, round->order[i]))
			round->order[kept++] = round->order[i];
	round->n = kept;
}

static int run_all(const struct runner *r, struct round *round)
{
	for (unsigned i = 0; i < r->warmup; i++) {
		int err = run_round(r, round, -1);
		if (err < 0)
			return err;
	}
	uint64_t start = 0;
	for (unsigned i = 0; i < r->max_runs && round->n; i++) {
		if (i == r->min_runs)
			start = clock_ns();
		if (i >= r->min_runs)
			drop_finished(r, round);
		if (i >= r->min_runs && clock_ns() - start > r->budget_ns)
			break;
		int err = run_round(r, round, (int)i);
		if (err < 0)
			return err;
	}
	return 0;
}

int runner_go(const struct runner *r)
{
	struct round round = {.order = memory_zeroed(r->subjects + 1, sizeof(size_t)), .n = r->subjects};
	rng_seed(&round.random, r->seed);
	for (size_t i = 0; i < r->subjects; i++)
		round.order[i] = i;
	int err = run_all(r, &round);
	free(round.order);
	return err;
}
