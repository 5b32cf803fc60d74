/* What follows from the samples of a run, and of two of its subjects: medians, ratios with their intervals, the knee. */
#ifndef SCTRACE_RUN_JUDGE_H
#define SCTRACE_RUN_JUDGE_H

#include "run/run.h"

/*
 * Fills the figures that follow from the samples (subjects' `judged`, the fastest and the reference, which is the one
 * that the method names, else the fastest). 0; -EINVAL: no subject is called as the reference is; -ENOMEM.
 */
int run_judge(struct run *r);

/* The seed of the bootstrap: a report of the same run is the same report. */
uint64_t run_seed(const struct run *r);
/* The 95 % bootstrap interval of the ratio of two medians of TIME; -EINVAL where one has fewer than two samples, -ENOMEM. */
int run_ratio(const struct run *r, const struct run_subject *a, const struct run_subject *b, struct interval *ratio);
/* Is `a` slower than `b`, beyond chance? */
bool run_slower(const struct run *r, const struct run_subject *a, const struct run_subject *b);
/* Was it measured? */
bool run_usable(const struct run_subject *s);
/* The median of a metric; NAN where there is none. */
double run_median(const struct run_subject *s, enum metric m);
/* The one with the least median; NULL where none ran. */
const struct run_subject *run_fastest(const struct run *r);
/* The engine that counted calls; NULL: none did. */
const char *run_engine(const struct run *r);
/* Was only the beginning of the input counted? */
bool run_counted_partly(const struct run_subject *s);
/* How many samples lie outside of Tukey's fences. */
size_t run_outliers(const struct run_subject *s);

/*
 * How much longer a subject of bench load took by its mean than the one without a load ("none"), in percent, and the
 * interval of the ratio of their medians. NAN: that is itself the one, or there is none.
 */
double run_over_none(const struct run *r, const struct run_subject *s, struct interval *ratio);

/* Gains below this share are called none. */
#define RUN_WORTHWHILE 0.10

/* The base name of the first strategy or command that ran with three buffers or more: what a scan is of. NULL: none did. */
const char *run_scanned(const struct run *r);
/*
 * Where a larger buffer stops paying: the row of the base name with the least buffer that no larger one is seen to beat
 * by 10 %, beyond chance; NULL where it did not run.
 */
const struct run_subject *run_knee(const struct run *r, const char *base);
/* Do the 95 % intervals rule out that a larger buffer of the same gains 10 %? */
bool run_none_pays(const struct run *r, const struct run_subject *s);
/* Is there a larger buffer of the same whose median is that much better, beyond chance or not? */
bool run_larger_looks_better(const struct run *r, const struct run_subject *s);

#endif
