/* Figures that follow from the samples of a run and of two subjects: medians, ratios with their intervals, the knee. */
#ifndef SCTRACE_RUN_JUDGE_H
#define SCTRACE_RUN_JUDGE_H

#include "run/run.h"
#include "stats/change.h"

/*
 * Fills in the figures that follow from the samples: `judged` of each subject, the fastest, and the reference (named by
 * the method, otherwise the fastest). Returns 0, -EINVAL if the reference does not exist, or -ENOMEM.
 */
int run_judge(struct run *r);

/* The seed of the bootstrap, which makes reports of one run identical. */
uint64_t run_seed(const struct run *r);
/*
 * The ratio of the median TIME of `a` to that of `b`, and the 95 % interval of their ratio (stats/change.h; made wider
 * where it does not include the ratio of the medians). If both are subjects of `r`, a comparison, the interval is that of
 * the ratios within the rounds. Returns 0, -EINVAL if one has fewer than two samples, or
 * -ENOMEM.
 */
int run_ratio(const struct run *r, const struct run_subject *a, const struct run_subject *b, struct change *ratio);
/* True if `a` is slower than `b`, beyond chance. */
bool run_slower(const struct run *r, const struct run_subject *a, const struct run_subject *b);
/* True if it was measured. */
bool run_usable(const struct run_subject *s);
/* The median of a metric; NAN if there is none. */
double run_median(const struct run_subject *s, enum metric m);
/* The subject with the least median; NULL if none ran. */
const struct run_subject *run_fastest(const struct run *r);
/* The engine that counted the calls; NULL if none did. */
const char *run_engine(const struct run *r);
/* True if only the beginning of the input was counted. */
bool run_counted_partly(const struct run_subject *s);
/* The number of samples outside Tukey's fences. */
size_t run_outliers(const struct run_subject *s);

/*
 * For bench load: by how many percent the subject's mean exceeds that without a load ("none"), and the interval of the
 * ratio of their medians. NAN for "none" itself, or if it was not measured.
 */
double run_over_none(const struct run *r, const struct run_subject *s, struct interval *ratio);

/* Gains below this share are reported as none. */
#define RUN_WORTHWHILE 0.10

/*
 * The base name of the first strategy or command that ran with at least three buffers, the subject of a scan. NULL if
 * there is none.
 */
const char *run_scanned(const struct run *r);
/*
 * The knee: the row of the base name with the least buffer that no larger one beats by 10 %, beyond chance. NULL if it
 * did not run.
 */
const struct run_subject *run_knee(const struct run *r, const char *base);
/* True if the 95 % intervals exclude that a larger buffer of the same strategy gains 10 %. */
bool run_none_pays(const struct run *r, const struct run_subject *s);
/* True if a larger buffer of the same strategy has a median that is better by that much, beyond chance or not. */
bool run_larger_looks_better(const struct run *r, const struct run_subject *s);

#endif
