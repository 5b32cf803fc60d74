#include "stats/boot.h"

#include "base/memory.h"
#include "stats/quantile.h"
#include "stats/random.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static double value_at(const double *sorted, size_t n, double u)
{
	size_t i = (size_t)(u * (double)n);
	return sorted[i < n ? i : n - 1];
}

/* Returns the median of one resample. boot.h explains the method. */
static double resampled_median(const double *sorted, size_t n, struct rng *r)
{
	size_t k = (n + 1) / 2;
	double u = rng_beta(r, (double)k, (double)(n + 1 - k));
	double low = value_at(sorted, n, u);
	if (n % 2)
		return low;
	/* The next larger one of the n uniform numbers is the smallest of n - k uniform numbers between u and 1. */
	double above = u + (1 - u) * (1 - pow(rng_unit(r), 1 / (double)(n - k)));
	return (low + value_at(sorted, n, above)) / 2;
}

int boot_median(const double *v, size_t n, uint64_t seed, struct interval *out)
{
	double *sorted = sample_sorted(v, &n);
	double *medians = memory_get(BOOT_RESAMPLES * sizeof(*medians));
	struct rng r;
	rng_seed(&r, seed);
	for (size_t i = 0; i < BOOT_RESAMPLES && n; i++)
		medians[i] = resampled_median(sorted, n, &r);
	if (n) {
		size_t kept = sample_sort(medians, BOOT_RESAMPLES);
		out->low = quantile_sorted(medians, kept, 0.025);
		out->high = quantile_sorted(medians, kept, 0.975);
	}
	free(medians);
	free(sorted);
	return n ? 0 : -EINVAL;
}

bool boot_spans_one(const struct interval *ratio)
{
	return ratio->low <= 1 && ratio->high >= 1;
}
