/*
 * Estimates the difference or ratio of two samples, with a confidence interval that is not distorted by outliers or
 * drift.
 */
#ifndef SCTRACE_STATS_CHANGE_H
#define SCTRACE_STATS_CHANGE_H

#include "stats/boot.h" /* struct interval */

#include <stdbool.h>
#include <stddef.h>

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

/*
 * Computes the trimmed mean of one sample and its interval, by the method of change_measure(). NANs are ignored.
 * Returns 0, or -EINVAL if there are fewer than two values.
 */
int change_locate(const double *v, size_t n, double alpha, struct change *out);

/*
 * Returns the quantile 1 - alpha / 2 of Student's t distribution with `df` degrees of freedom, which may be fractional.
 */
double change_student(double alpha, double df);

#endif
