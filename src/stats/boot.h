/* Bootstrap confidence intervals of medians. */
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

#endif
