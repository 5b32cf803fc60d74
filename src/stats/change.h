/* SPDX-License-Identifier: MIT */
/* The difference or ratio of two samples, with an interval that outliers and drift do not distort. */
#ifndef SCTRACE_STATS_CHANGE_H
#define SCTRACE_STATS_CHANGE_H

#include "stats/change.h" /* struct interval */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bootstrap confidence intervals of medians. */

#define BOOT_RESAMPLES 10000

struct interval {
	double low, high;
};

/*
 * Computes the 95 % percentile bootstrap interval (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993,
 * chapter 13) of the median of `n` values: the 2.5 % and 97.5 % quantiles of the medians of BOOT_RESAMPLES resamples.
 *
 * Only the median of each resample is needed, so its n values are not drawn one by one. The k-th smallest of the n
 * indices in a resample is floor(n U), where U is the k-th smallest of n uniform numbers and therefore Beta(k, n + 1 -
 * k) distributed (David and Nagaraja, "Order Statistics", 2003, section 2.3). The medians have exactly the distribution
 * of the bootstrap, and the time for a resample does not grow with n.
 *
 * NANs are ignored. The same seed gives the same interval. With fewer than about ten values the interval is as wide as
 * the range of the values, so callers should print n as well. Returns 0, or -EINVAL if there are no values.
 */
int boot_median(const double *v, size_t n, uint64_t seed, struct interval *out);
/* Returns true if the interval of a ratio contains 1: "no difference seen". */
bool boot_spans_one(const struct interval *ratio);

/*
 * The probability of a wrong conclusion from a measurement. A measurement may test its interval up to CHANGE_LOOKS
 * times, and end as soon as the interval shows whether there is a difference. Each of these intervals is then computed
 * with `alpha` = CHANGE_ALPHA / CHANGE_LOOKS, so that the sum of these probabilities is CHANGE_ALPHA (Bonferroni).
 */
#define CHANGE_ALPHA 0.01
#define CHANGE_LOOKS 5

/* A sample with fewer values than this cannot prove a difference. */
#define CHANGE_LEAST 5

struct change_spec {
	const double *a, *b; /* the values in the order in which they were measured; NANs are ignored */
	size_t na, nb;
	bool paired;   /* a[i] and b[i] were measured in the same round: only differences within a round are used */
	bool relative; /* true: the result is the ratio b / a; false: the difference b - a */
	double alpha;  /* probability that the interval does not contain the true value, such as CHANGE_ALPHA */
};

struct change {
	double value;
	struct interval interval;
};

/*
 * Computes by how much `b` differs from `a`: the difference of their trimmed means, without the lowest and the highest
 * fifth of the values (Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61, 1974; for
 * pairs, Tukey and McLaughlin, Sankhya A 25, 1963). For a ratio of positive values, the means of their logarithms are
 * used. The variance is increased according to the autocorrelation of the values (Newey and West, Econometrica 55,
 * 1987), so that a drift during the measurement makes the interval wider. Returns 0, or -EINVAL if a sample has fewer
 * than two values.
 */
int change_measure(const struct change_spec *spec, struct change *out);

/* Like change_measure(), computes the trimmed mean of one sample. Returns -EINVAL for fewer than two values. */
int change_locate(const double *v, size_t n, double alpha, struct change *out);

/* Returns the quantile 1 - alpha / 2 of Student's t distribution; `df` may be fractional. */
double change_student(double alpha, double df);

#endif
