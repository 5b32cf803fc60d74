/* SPDX-License-Identifier: MIT */
/* Quantiles, and the summary of a sample that R's summary() prints. */
#ifndef SCTRACE_STATS_QUANTILE_H
#define SCTRACE_STATS_QUANTILE_H

#include <stddef.h>

/* Figures that cannot be computed (from no values, or stddev from one value) are NAN. */
struct sample_summary {
	size_t n;
	double min, q1, median, mean, q3, max;
	double stddev;                      /* sample standard deviation: the divisor is n - 1 */
	double cv;                          /* coefficient of variation: stddev / mean */
	double fence_low, fence_high;       /* Tukey's fences: 1.5 interquartile ranges below the first and above the
					     * third quartile */
	size_t outliers_low, outliers_high; /* number of values below and above the fences */
};

/* Sorts `v` in ascending order and removes NANs. Returns the number of values that remain. */
size_t sample_sort(double *v, size_t n);
/*
 * Returns a sorted copy of the *n values of `v` without NANs, and sets *n to the number of values that remain. The
 * caller frees the copy, which is not NULL even if no values remain.
 */
double *sample_sorted(const double *v, size_t *n);
/* Sorts `v` as sample_sort() does. Returns the median, or NAN if there are no values. */
double sample_median(double *v, size_t n);
/*
 * Returns quantile `q` (0 to 1) of sorted values, interpolated linearly between the order statistics with h = (n - 1) q
 * (R's default; type 7 of Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50,
 * 1996). Returns NAN if n is 0.
 */
double quantile_sorted(const double *sorted, size_t n, double q);
/* Returns the deviation of a normal distribution with these quartiles; a few outliers do not change it. */
double quantile_sd(double q1, double q3);
/* Fills in `s` from values in any order, which are not changed. */
void sample_summarise(const double *v, size_t n, struct sample_summary *s);

/* The figures of a box plot. */

/* The whiskers end within Tukey's fences. Values outside the fences are outliers (Tukey 1977, 2C). */
struct box {
	struct sample_summary summary;
	double whisker_low, whisker_high;
	double *outliers; /* in ascending order; freed by box_free() */
	size_t noutliers;
};

/* Fills in `b`, to be freed by box_free(). NANs are ignored. Returns 0, or -EINVAL if there are no values. */
int box_init(struct box *b, const double *v, size_t n);
void box_free(struct box *b);

#endif
