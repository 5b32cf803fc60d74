/* The figures of a box plot. */
#ifndef SCTRACE_STATS_BOX_H
#define SCTRACE_STATS_BOX_H

#include "stats/quantile.h"

#include <stddef.h>

/*
 * The whiskers end at the smallest and the largest value within Tukey's fences. Values outside the fences are outliers
 * (Tukey 1977, 2C).
 */
struct box {
	struct sample_summary summary;
	double whisker_low, whisker_high;
	double *outliers; /* in ascending order; freed by box_free() */
	size_t noutliers;
};

/*
 * Fills in `b` from `n` values in any order. NANs are ignored. Free it with box_free(). Returns 0, or -EINVAL if there
 * are no values.
 */
int box_init(struct box *b, const double *v, size_t n);
void box_free(struct box *b);

#endif
