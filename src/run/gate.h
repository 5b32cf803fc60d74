/* report --fail-if: whether one run is worse than another by more than a limit. */
#ifndef SCTRACE_RUN_GATE_H
#define SCTRACE_RUN_GATE_H

#include "run/condition.h"
#include "run/run.h"

struct buf;

/* A run, and its name in messages. */
struct gate_run {
	const struct run *run;
	const char *label;
};

/*
 * Compares each subject of `base` with that of the same name in `run`. Appends a line to `failed` for each condition that
 * is fulfilled by the whole interval of the change (that is, the gate fails), and to `undecided` for each where the
 * interval includes the limit, or where there are too few samples. Metrics that are counted once are compared exactly.
 * All intervals together have the confidence of one (Bonferroni). Returns 0 or -ENOMEM.
 */
int gate_judge(const struct conditions *c, const struct gate_run *base, const struct gate_run *run, struct buf *failed,
	       struct buf *undecided);

#endif
