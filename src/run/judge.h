/*
 * Computes figures from the samples of a run or of two subjects: medians, ratios with their intervals, and the knee
 * of a scan: the buffer size above which larger buffers are not worthwhile.
 */
#ifndef SCTRACE_RUN_JUDGE_H
#define SCTRACE_RUN_JUDGE_H

#include "run/run.h"
#include "stats/change.h"

/*
 * Fills in `judged` of each subject, `fastest` and `reference`. The reference is the subject that r->method names,
 * otherwise the fastest one. Returns 0, -EINVAL if the reference does not exist, or -ENOMEM.
 */
int run_judge(struct run *r);

/* Returns the seed of the bootstrap. It depends only on the run, so that all reports of a run are identical. */
uint64_t run_seed(const struct run *r);
/* Returns the number of times that intervals of differences within a round could be tested (stats/change.h). */
double run_looks(const struct run *r);
/*
 * Computes the median TIME of `a` divided by that of `b`, and the 95 % confidence interval of this ratio
 * (stats/change.h). If the interval does not include the ratio of the medians, it is extended so that it does. If `a`
 * and `b` belong to `r`, and `r` is an unmerged run of `compare`, the two samples of each round form a pair. Returns 0,
 * -EINVAL if a subject has fewer than two samples, or -ENOMEM.
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
/* Returns the number of samples outside Tukey's fences. */
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
 * Returns true if the 95 % intervals exclude that any larger buffer of the same strategy is faster by more than
 * RUN_WORTHWHILE.
 */
bool run_none_pays(const struct run *r, const struct run_subject *s);
/*
 * Returns true if the median of any larger buffer of the same strategy is smaller by more than RUN_WORTHWHILE, even if
 * this may be chance.
 */
bool run_larger_looks_better(const struct run *r, const struct run_subject *s);

#endif
