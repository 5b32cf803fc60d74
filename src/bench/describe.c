#include "bench/describe.h"

#include "base/buf.h"

#include <math.h>

void describe(struct sample_summary *d, double *x, size_t n)
{
	sample_summarise_sorted(x, sample_sort(x, n), d);
}

double describe_median(double *x, size_t n)
{
	return quantile_sorted(x, sample_sort(x, n), 0.5);
}

void describe_format(struct buf *out, double x)
{
	if (isnan(x))
		return;
	if (fabs(x) >= 9999.5)
		buf_addf(out, "%.0f", x);
	else
		buf_addf(out, "%.4g", x);
}
