/* How far two samples lie apart: an estimate with an interval that resists outliers and drift. */
#ifndef SCTRACE_STATS_CHANGE_H
#define SCTRACE_STATS_CHANGE_H

#include "stats/boot.h" /* struct interval */

#include <stdbool.h>
#include <stddef.h>

/*
 * The confidence of an interval is 1 - CHANGE_ALPHA at each single look. A measurement that looks at the interval up to
 * CHANGE_LOOKS times, and ends as soon as the interval tells what it wants to know, then covers the true value with at
 * least 95 % (Pocock, "Group sequential methods in the design and analysis of clinical trials", Biometrika 64, 1977;
 * table 1: the nominal level for 10 looks is 0.0106).
 */
#define CHANGE_ALPHA 0.01
#define CHANGE_LOOKS 10

/* With fewer values, both samples may be alike by chance. */
#define CHANGE_LEAST 5

struct change_spec {
	const double *a, *b; /* in the order in which they were measured; NANs are left out */
	size_t na, nb;
	bool paired;   /* a[i] and b[i] were measured in the same round: only differences within a round count */
	bool relative; /* the result is a ratio, b / a; otherwise a difference, b - a */
	double alpha;  /* probability of an interval without the true value, for example CHANGE_ALPHA */
};

struct change {
	double value;
	struct interval interval;
};

/*
 * Computes by how much `b` differs from `a`: the difference of their means without the lowest and the highest fifth
 * (Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61, 1974; for pairs, Tukey and
 * McLaughlin, Sankhya A 25, 1963), of logarithms if a ratio is wanted and all values are above zero. The variance is
 * multiplied by what the autocorrelation of the values adds to it (Newey and West, Econometrica 55, 1987), so that a
 * drift during the measurement makes the interval wider. Returns 0, -EINVAL if a sample has fewer than two values, or
 * -ENOMEM.
 */
int change_measure(const struct change_spec *spec, struct change *out);

/* The same for the trimmed mean of one sample: the value, and its interval. `v` has numbers only. */
int change_locate(const double *v, size_t n, double alpha, struct change *out);

/* The quantile 1 - alpha / 2 of Student's t distribution with `df` degrees of freedom, which need not be a whole number. */
double change_student(double alpha, double df);

#endif
