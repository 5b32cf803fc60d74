/* How sure a median is: bootstrap intervals. */
#ifndef SCTRACE_STATS_BOOT_H
#define SCTRACE_STATS_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOOT_RESAMPLES 10000

struct interval {
	double low, high;
};

/*
 * The 95 % percentile bootstrap interval (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13) of
 * the median of `n` values: the 2.5 % and 97.5 % quantiles of the medians of BOOT_RESAMPLES resamples.
 *
 * A resample is not drawn value by value: its k-th smallest index is floor(n U) with U the k-th smallest of n uniform
 * numbers, which is Beta(k, n + 1 - k) distributed (David and Nagaraja, "Order Statistics", 2003, section 2.3). The
 * result has exactly the bootstrap's distribution, in a time that does not grow with n.
 *
 * NANs are left out. 0, -EINVAL where no value is left, -ENOMEM. The same seed gives the same interval. With fewer than
 * some ten values the interval is as wide as the values and says little; the caller should tell n.
 */
int boot_median(const double *v, size_t n, uint64_t seed, struct interval *out);
/* The same of median(a) / median(b), both resampled. Where both are 0 the ratio is 1. */
int boot_ratio(const double *a, size_t na, const double *b, size_t nb, uint64_t seed, struct interval *out);
/* Does the interval of a ratio leave open which is greater ("no difference seen")? */
bool boot_spans_one(const struct interval *ratio);

#endif
