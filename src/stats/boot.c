#include "stats/boot.h"

#include "base/memory.h"
#include "stats/quantile.h"
#include "stats/random.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sorted copy of a sample. */
struct sorted {
	double *v;
	size_t n;
};

static int sorted_init(struct sorted *s, const double *v, size_t n)
{
	s->v = memory_get((n ? n : 1) * sizeof(*v));
	if (n)
		memcpy(s->v, v, n * sizeof(*v));
	s->n = sample_sort(s->v, n);
	return s->n ? 0 : -EINVAL;
}

static double value_at(const struct sorted *s, double u)
{
	size_t i = (size_t)(u * (double)s->n);
	return s->v[i < s->n ? i : s->n - 1];
}

/* Returns the median of one resample. boot.h explains the method. */
static double resampled_median(const struct sorted *s, struct rng *r)
{
	size_t k = (s->n + 1) / 2;
	double u = rng_beta(r, (double)k, (double)(s->n + 1 - k));
	double low = value_at(s, u);
	if (s->n % 2)
		return low;
	/* The next larger one of the n uniform numbers is the smallest of n - k uniform numbers between u and 1. */
	double above = u + (1 - u) * (1 - pow(rng_unit(r), 1 / (double)(s->n - k)));
	return (low + value_at(s, above)) / 2;
}

static void interval_of(double *medians, struct interval *out)
{
	size_t n = sample_sort(medians, BOOT_RESAMPLES);
	out->low = quantile_sorted(medians, n, 0.025);
	out->high = quantile_sorted(medians, n, 0.975);
}

static void resample(const struct sorted *s, uint64_t seed, struct interval *out)
{
	double *medians = memory_get(BOOT_RESAMPLES * sizeof(*medians));
	struct rng r;
	rng_seed(&r, seed);
	for (size_t i = 0; i < BOOT_RESAMPLES; i++)
		medians[i] = resampled_median(s, &r);
	interval_of(medians, out);
	free(medians);
}

int boot_median(const double *v, size_t n, uint64_t seed, struct interval *out)
{
	struct sorted s;
	int rc = sorted_init(&s, v, n);
	if (rc == 0)
		resample(&s, seed, out);
	free(s.v);
	return rc;
}

bool boot_spans_one(const struct interval *ratio)
{
	return ratio->low <= 1 && ratio->high >= 1;
}
