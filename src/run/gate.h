/*
 * For report --fail-if: determines whether a run, or a row of compare, is worse than another one by more than a limit.
 */
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
 * Compares each subject of `base` with the subject of the same name in `run`. If the whole confidence interval of a
 * change fulfils a condition, the gate fails: a line is appended to `failed`. If only a part of the interval fulfils
 * the condition, or there are too few samples, a line is appended to `undecided`. Counts are compared exactly. The
 * intervals are wide enough that all of them together contain the true changes with a probability of 1 - CHANGE_ALPHA
 * (Bonferroni). Returns false if a condition could not be tested for any subject, because the runs do not contain the
 * figure, or not enough samples of it, or if a condition about times seems to hold, but one of the runs was disturbed.
 */
bool gate_judge(const struct conditions *c, const struct gate_run *base, const struct gate_run *run, struct buf *failed,
		struct buf *undecided);
/*
 * Like gate_judge(), but compares the subjects of one run of compare with its reference (--reference), or with the
 * first subject if the user chose no reference. Unless runs were merged, only samples of the same round are compared,
 * so that a change of the machine's speed during the measurement does not count as a difference.
 */
bool gate_judge_rows(const struct conditions *c, const struct run *run, struct buf *failed, struct buf *undecided);

#endif
