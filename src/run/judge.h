/* SPDX-License-Identifier: MIT */
/*
 * Computes figures from the samples of a run or of two subjects: medians, ratios with their intervals, and the knee
 * of a scan: the buffer size above which larger buffers are not worthwhile.
 */
#ifndef SCTRACE_RUN_JUDGE_H
#define SCTRACE_RUN_JUDGE_H

#include "run/condition.h"
#include "run/run.h"

struct buf;
#include "stats/change.h"

/*
 * Fills in `judged` of each subject, r->fastest and r->reference. The reference is the subject that r->method.reference
 * names, otherwise the fastest one. Returns 0, or -EINVAL if no subject has that name.
 */
int run_judge(struct run *r);

/*
 * Computes the median TIME of `a` divided by that of `b`, and the confidence interval of this ratio. The interval is
 * computed for 1 - CHANGE_ALPHA or more, but shown as a 95 % interval, because times are not distributed exactly as the
 * method assumes (stats/change.h). If the interval does not include the ratio of the medians, it is extended so that it
 * does. If `a` and `b` belong to `r`, and `r` is an unmerged run of `compare`, the two samples of each round form a
 * pair. Returns 0, or -EINVAL if a subject has fewer than CHANGE_LEAST samples.
 */
int run_ratio(const struct run *r, const struct run_subject *a, const struct run_subject *b, struct change *ratio);
/* Returns true if `a` is slower than `b`: the interval of run_ratio() lies above 1. */
bool run_slower(const struct run *r, const struct run_subject *a, const struct run_subject *b);
/* Returns true if the subject was measured. */
bool run_usable(const struct run_subject *s);
/* Returns the median of a metric, or NAN if it has no samples. */
double run_median(const struct run_subject *s, enum metric m);
/* Returns the subject with the smallest median TIME, or NULL if none was measured. */
const struct run_subject *run_fastest(const struct run *r);
/* Returns the name of the engine that counted the calls, or NULL if no calls were counted. */
const char *run_engine(const struct run *r);
/* Returns true if calls were counted for only the first part of the input. */
bool run_counted_partly(const struct run_subject *s);
/* Returns the number of samples of TIME outside Tukey's fences (stats/quantile.h). */
size_t run_outliers(const struct run_subject *s);

/*
 * For bench load: returns by how many percent the mean of `s` exceeds the mean of the subject "none" (no load), and
 * stores the interval of the ratio of the two medians in *ratio. Returns NAN if `s` is "none" itself, or if "none" was
 * not measured.
 */
double run_over_none(const struct run *r, const struct run_subject *s, struct interval *ratio);

/* A smaller gain than this (10 %) is reported as no gain. */
#define RUN_WORTHWHILE 0.10

/*
 * Returns the base name of the first scan: the first strategy or command that was measured with at least three buffer
 * sizes. Returns NULL if there is none.
 */
const char *run_scanned(const struct run *r);
/*
 * Returns the knee of the scan `base`: the row with the smallest buffer for which no larger buffer is faster by at
 * least RUN_WORTHWHILE and by more than chance. Returns NULL if nothing was measured.
 */
const struct run_subject *run_knee(const struct run *r, const char *base);
/*
 * Returns true if the 95 % intervals exclude a gain of more than RUN_WORTHWHILE for every larger buffer of the same
 * strategy.
 */
bool run_none_pays(const struct run *r, const struct run_subject *s);
/*
 * Returns true if the median time of any larger buffer of the same strategy is smaller by more than RUN_WORTHWHILE,
 * even if the difference may be due to chance.
 */
bool run_larger_looks_better(const struct run *r, const struct run_subject *s);

/* Returns the metric of --metric with this name, or NULL. */
const struct run_metric *run_metric_find(const struct run_subject *s, const char *name);
/* Appends the names of these metrics that `names` does not contain yet. */
void run_metric_names(const struct run *r, struct strings *names);
/* Beyond these shares of the processor time, other programs or other guests of the hypervisor disturb a measurement. */
#define RUN_OTHERS_MAX 0.10
#define RUN_STEAL_MAX  0.01
/*
 * If all runs together took less than half a second, the share of other programs is known only with at least this many
 * readings of the load, one before each run. With fewer, a single short-lived thread of the kernel would exceed RUN_OTHERS_MAX.
 */
#define RUN_LOADS_MIN 10

/*
 * For report --fail-if: determines whether a run, or a row of compare, is worse than another one by more than a limit.
 */

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
 * figure, or not enough samples of it, or if a condition about times seems to hold, but run_disturbed() is true for one
 * of the runs.
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
