/* Computes the summary of samples that R's summary() prints: minimum, quartiles, mean, maximum. */
#ifndef SCTRACE_BENCH_DESCRIBE_H
#define SCTRACE_BENCH_DESCRIBE_H

#include "stats/quantile.h"

struct buf;

/* Sorts the `n` values of `x` and stores their summary in `d`. */
void describe(struct sample_summary *d, double *x, size_t n);
/* Sorts the `n` values of `x` and returns their median, or NAN if `n` is 0. */
double describe_median(double *x, size_t n);
/*
 * Appends `x` as R's summary() prints it: with four significant digits, and with all digits before the decimal point.
 */
void describe_format(struct buf *out, double x);

#endif
