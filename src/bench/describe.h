/* Describes samples in the form of R's summary(). */
#ifndef SCTRACE_BENCH_DESCRIBE_H
#define SCTRACE_BENCH_DESCRIBE_H

#include "stats/quantile.h"

struct buf;

/* Sorts `x` and describes it. */
void describe(struct sample_summary *d, double *x, size_t n);
/* The median of `x`, which it sorts; NAN if there are no values. */
double describe_median(double *x, size_t n);
/* Appends `x` as R's summary prints it: four significant digits, but never fewer than its integer part has. */
void describe_format(struct buf *out, double x);

#endif
