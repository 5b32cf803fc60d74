/* Samples told as R's summary() tells them. */
#ifndef SCTRACE_BENCH_DESCRIBE_H
#define SCTRACE_BENCH_DESCRIBE_H

#include "stats/quantile.h"

struct buf;

/* Sorts `x` and describes it. */
void describe(struct sample_summary *d, double *x, size_t n);
/* The middle of `x`, which it sorts; NAN of none. */
double describe_median(double *x, size_t n);
/* Appends `x` as R prints it in a summary: four significant digits, but never fewer than its whole part has. */
void describe_format(struct buf *out, double x);

#endif
