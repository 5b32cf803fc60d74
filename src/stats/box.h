/* What a box plot draws of a sample. */
#ifndef SCTRACE_STATS_BOX_H
#define SCTRACE_STATS_BOX_H

#include "stats/quantile.h"

#include <stddef.h>

/* Whiskers end at the outermost values within Tukey's fences; what lies beyond is an outlier (Tukey 1977, 2C). */
struct box {
	struct sample_summary summary;
	double whisker_low, whisker_high;
	double *outliers; /* ascending; the box's own */
	size_t noutliers;
};

/* Fills `b` from `n` values in any order, NANs left out; free with box_free(). 0, -EINVAL: no value, -ENOMEM. */
int box_init(struct box *b, const double *v, size_t n);
void box_free(struct box *b);

#endif
