/* SPDX-License-Identifier: MIT */
/* Log-linear histograms: 32 buckets per power of two, so a bucket is at most 3.2 % wide (HdrHistogram's layout). */
#ifndef SCTRACE_STATS_HIST_H
#define SCTRACE_STATS_HIST_H

#include <stddef.h>
#include <stdint.h>

#define HIST_SUB_BITS 5

/*
 * Counts of non-negative integers (nanoseconds). A zeroed struct is an empty histogram. Memory is allocated only for
 * the buckets from the lowest to the highest one in use, and for a few beside them.
 */
struct hist {
	uint64_t *count;
	uint32_t first; /* the bucket that count[0] belongs to */
	uint32_t n;     /* number of elements of `count` */
	uint64_t total; /* sum of all counts */
};

/* Returns the bucket of `value`. Each value below 64 has its own bucket. */
uint32_t hist_bucket(uint64_t value);
/* Returns the smallest value of `bucket`. */
uint64_t hist_bucket_low(uint32_t bucket);

void hist_free(struct hist *h);
/* Adds `count` to the bucket of `value`. */
void hist_add(struct hist *h, uint64_t value, uint64_t count);
/* Adds all counts of `from` to `h`. */
void hist_merge(struct hist *h, const struct hist *from);
/*
 * Returns the value at quantile `q` (0 to 1): the middle of the bucket that contains the ceil(q * total)-th smallest
 * value (the inverse of the empirical distribution; Hyndman and Fan 1996, type 1). Returns 0 for an empty histogram.
 */
double hist_quantile(const struct hist *h, double q);
/* Returns quantile_sd() of the quartiles. */
double hist_sd(const struct hist *h);

#endif
