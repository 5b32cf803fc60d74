/* SPDX-License-Identifier: MIT */
#include "stats/quantile.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;
	return (x > y) - (x < y);
}

size_t sample_sort(double *v, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			v[kept++] = v[i];
	if (kept)
		qsort(v, kept, sizeof(*v), compare);
	return kept;
}

double *sample_sorted(const double *v, size_t *n)
{
	double *sorted = memory_get((*n ? *n : 1) * sizeof(*sorted));
	if (*n)
		memcpy(sorted, v, *n * sizeof(*v));
	*n = sample_sort(sorted, *n);
	return sorted;
}

double quantile_sorted(const double *sorted, size_t n, double q)
{
	if (!n)
		return NAN;
	double h = (double)(n - 1) * (q < 0 ? 0 : q > 1 ? 1 : q);
	size_t low = (size_t)h;
	double part = h - (double)low;
	/* Return equal values without subtracting them: if both are infinite, the difference is undefined. */
	if (part == 0 || low + 1 >= n || sorted[low] == sorted[low + 1])
		return sorted[low];
	return sorted[low] + part * (sorted[low + 1] - sorted[low]);
}

double sample_median(double *v, size_t n)
{
	return quantile_sorted(v, sample_sort(v, n), 0.5);
}

/* In one pass, precise even for large values with small differences (Welford, Technometrics 4, 1962). */
static void moments(const double *v, size_t n, struct sample_summary *s)
{
	double mean = 0;
	double squares = 0;
	for (size_t i = 0; i < n; i++) {
		double delta = v[i] - mean;
		mean += delta / (double)(i + 1);
		squares += delta * (v[i] - mean);
	}
	s->mean = n ? mean : NAN;
	s->stddev = n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
	s->cv = mean != 0 ? s->stddev / mean : NAN;
}

/* Fills in `s` from sorted values. */
static void sample_summarise_sorted(const double *sorted, size_t n, struct sample_summary *s)
{
	*s = (struct sample_summary){
		.n = n,
		.min = n ? sorted[0] : NAN,
		.q1 = quantile_sorted(sorted, n, 0.25),
		.median = quantile_sorted(sorted, n, 0.5),
		.q3 = quantile_sorted(sorted, n, 0.75),
		.max = n ? sorted[n - 1] : NAN,
	};
	moments(sorted, n, s);
	s->fence_low = s->q1 - 1.5 * (s->q3 - s->q1);
	s->fence_high = s->q3 + 1.5 * (s->q3 - s->q1);
	while (s->outliers_low < n && sorted[s->outliers_low] < s->fence_low)
		s->outliers_low++;
	while (s->outliers_high < n && sorted[n - 1 - s->outliers_high] > s->fence_high)
		s->outliers_high++;
}

double quantile_sd(double q1, double q3)
{
	return (q3 - q1) / 1.349; /* 2 * 0.6745, the upper quartile of the standard normal distribution */
}

void sample_summarise(const double *v, size_t n, struct sample_summary *s)
{
	auto_free double *sorted = sample_sorted(v, &n);
	sample_summarise_sorted(sorted, n, s);
}

int box_init(struct box *b, const double *v, size_t n)
{
	*b = (struct box){0};
	double *sorted = sample_sorted(v, &n);
	if (!n) {
		free(sorted);
		return -EINVAL;
	}
	struct sample_summary *s = &b->summary;
	sample_summarise_sorted(sorted, n, s);
	b->whisker_low = sorted[s->outliers_low];
	b->whisker_high = sorted[n - 1 - s->outliers_high];
	b->noutliers = s->outliers_low + s->outliers_high;
	/* The low outliers are already at the start of the array. Move the high outliers to the place after them. */
	memmove(sorted + s->outliers_low, sorted + n - s->outliers_high, s->outliers_high * sizeof(*sorted));
	b->outliers = sorted;
	return 0;
}

void box_free(struct box *b)
{
	free(b->outliers);
	*b = (struct box){0};
}
