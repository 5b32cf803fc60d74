/* For report --fail-if: determines whether a run or a row is worse than another one by more than a limit. */
#ifndef SCTRACE_RUN_GATE_H
#define SCTRACE_RUN_GATE_H

#include "run/condition.h"
#include "run/run.h"

struct buf;

/* A run and the name by which messages call it. */
struct gate_run {
	const struct run *run;
	const char *label;
};

/*
 * Compares each subject of `base` with the subject of the same name in `run`. If the whole confidence interval of a
 * change fulfils a condition, the gate fails: a line is appended to `failed`. If only a part of the interval fulfils
 * it, or there are too few samples, a line is appended to `undecided`. Counts are compared exactly. The intervals are
 * wide enough that 95 % is the confidence of all of them together (Bonferroni). Returns 0 or -ENOMEM.
 */
int gate_judge(const struct conditions *c, const struct gate_run *base, const struct gate_run *run, struct buf *failed,
	       struct buf *undecided);
/*
 * The same for the subjects of one run of compare: each subject is compared with the one that was named as the
 * reference, or with the first one. Only differences within a round are used, so that a change of the machine's speed
 * during the measurement does not count as a difference.
 */
int gate_judge_rows(const struct conditions *c, const struct run *run, struct buf *failed, struct buf *undecided);

#endif
