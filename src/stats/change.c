/* SPDX-License-Identifier: MIT */
#include "stats/change.h"

#include "base/memory.h"
#include "stats/quantile.h"
#include "stats/random.h"

#include <errno.h>
#include <math.h>

static double value_at(const double *sorted, size_t n, double u)
{
	size_t i = (size_t)(u * (double)n);
	return sorted[i < n ? i : n - 1];
}

/* Returns the median of one resample. change.h explains the method. */
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
	auto_free double *sorted = sample_sorted(v, &n);
	auto_free double *medians = memory_get(BOOT_RESAMPLES * sizeof(*medians));
	struct rng r;
	rng_seed(&r, seed);
	for (size_t i = 0; i < BOOT_RESAMPLES && n; i++)
		medians[i] = resampled_median(sorted, n, &r);
	if (n) {
		size_t kept = sample_sort(medians, BOOT_RESAMPLES);
		out->low = quantile_sorted(medians, kept, 0.025);
		out->high = quantile_sorted(medians, kept, 0.975);
	}
	return n ? 0 : -EINVAL;
}

bool boot_spans_one(const struct interval *ratio)
{
	return ratio->low <= 1 && ratio->high >= 1;
}

/* The fraction of the sorted values that a trimmed mean leaves out at each end. */
#define TRIMMED 0.2

/* A trimmed mean, the variance of that mean, and the degrees of freedom of the variance. */
struct location {
	double mean, variance, df;
};

/* Hill, "Algorithm 396: Student's t-quantiles", Communications of the ACM 13, 1970. */
double change_student(double alpha, double df)
{
	if (df < 2) {
		/*
		 * The exact quantiles for 1 and 2 degrees of freedom. Between 1 and 2, the quantile for 1 is used: it
		 * is too large, which makes intervals too wide rather than too narrow.
		 */
		return df < 1.999 ? 1 / tan(alpha * M_PI / 2) : sqrt(2 / (alpha * (2 - alpha)) - 2);
	}
	double a = 1 / (df - 0.5);
	double b = 48 / (a * a);
	double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
	double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * M_PI / 2) * df;
	double y = pow(d * alpha, 2 / df);
	if (y > 0.05 + a) {
		/* The quantile of the normal distribution, by Newton's method. */
		double x = 3;
		for (int i = 0; i < 30; i++)
			x += (erfc(x / M_SQRT2) - alpha) / (2 * exp(-x * x / 2) / sqrt(2 * M_PI));
		y = x * x;
		x = -x;
		if (df < 5)
			c += 0.3 * (df - 4.5) * (x + 0.6);
		c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
		y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
		y = expm1(a * y * y);
	} else {
		y = ((1 / (((df + 6) / (df * y) - 0.089 * d - 0.822) * (df + 2) * 3) + 0.5 / (df + 4)) * y - 1) *
			    (df + 1) / (df + 2) +
		    1 / y;
	}
	return sqrt(df * y);
}

/* Returns by how much (at least 1) autocorrelation of `w`, deviations from the mean, increases the variance. */
static double inflation(const double *w, size_t n, double sum_of_squares)
{
	size_t lags = (size_t)sqrt((double)n);
	double f = 1;
	if (!(sum_of_squares > 0) || n < 2 * CHANGE_LEAST)
		return 1;
	for (size_t k = 1; k <= lags; k++) {
		double sum = 0;
		for (size_t i = k; i < n; i++)
			sum += w[i] * w[i - k];
		f += 2 * (1 - (double)k / (double)(lags + 1)) * sum / sum_of_squares;
	}
	return f > 1 ? f : 1;
}

/* Computes struct location for `v`, which must have at least two values. The contents of `v` are destroyed. */
static void locate(double *v, size_t n, struct location *out)
{
	auto_free double *sorted = sample_sorted(v, &n);
	size_t cut = (size_t)(TRIMMED * (double)n);
	double h = (double)(n - 2 * cut);
	double low = sorted[cut];
	double high = sorted[n - 1 - cut];
	double winsorised = 0;
	double squares = 0;
	out->mean = 0;
	for (size_t i = cut; i < n - cut; i++)
		out->mean += sorted[i] / h;
	for (size_t i = 0; i < n; i++) {
		v[i] = v[i] < low ? low : v[i] > high ? high : v[i];
		winsorised += v[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		v[i] -= winsorised;
		squares += v[i] * v[i];
	}
	double f = inflation(v, n, squares);
	out->variance = f * squares / (h * (h - 1));
	out->df = fmax(1, h / f - 1);
}

static bool all_positive(const double *v, size_t n)
{
	bool all = true;
	for (size_t i = 0; i < n; i++)
		all &= !(v[i] <= 0);
	return all;
}

static bool any_negative(const double *v, size_t n)
{
	bool any = false;
	for (size_t i = 0; i < n; i++)
		any |= v[i] < 0;
	return any;
}

/*
 * Computes struct location for sample `b` (if `of_b`) or `a`. NANs are ignored. If `logs`, computes it for the
 * logarithms of the values. For pairs, computes it for the differences between the values of this sample and `a`.
 * Returns 0, or -EINVAL if there are fewer than two values.
 */
static int locate_sample(const struct change_spec *s, bool of_b, bool logs, struct location *out)
{
	const double *v = of_b ? s->b : s->a;
	size_t n = s->paired ? (s->na < s->nb ? s->na : s->nb) : of_b ? s->nb : s->na;
	auto_free double *kept = memory_get((n + 1) * sizeof(*kept));
	size_t nkept = 0;
	for (size_t i = 0; i < n; i++) {
		double x = logs ? log(v[i]) : v[i];
		if (s->paired)
			x -= logs ? log(s->a[i]) : s->a[i];
		if (!isnan(x))
			kept[nkept++] = x;
	}
	if (nkept >= 2)
		locate(kept, nkept, out);
	return nkept < 2 ? -EINVAL : 0;
}

/* Stores the difference of the two trimmed means in *value, and half the width of its interval in *half. */
static int difference(const struct change_spec *s, bool logs, double *value, double *half)
{
	struct location a = {0};
	struct location b;
	int rc = locate_sample(s, true, logs, &b);
	if (rc == 0 && !s->paired)
		rc = locate_sample(s, false, logs, &a);
	if (rc < 0)
		return rc;
	double variance = a.variance + b.variance;
	double df = b.df;
	if (!s->paired && variance > 0)
		df = variance * variance / (a.variance * a.variance / a.df + b.variance * b.variance / b.df);
	*value = b.mean - a.mean;
	*half = variance > 0 ? change_student(s->alpha, df) * sqrt(variance) : 0;
	return 0;
}

/* Unlike fmax(3), keeps NAN. */
static double not_below_zero(double x)
{
	return x < 0 ? 0 : x;
}

/*
 * Computes a ratio if some values are zero or negative and have no logarithm: 1 + the difference of the trimmed means,
 * divided by the trimmed mean of `a`. If no value is negative, the ratio is not negative either, which the symmetric
 * interval of the difference does not take into account.
 */
static int ratio_of_differences(const struct change_spec *s, struct change *out)
{
	struct change_spec linear = *s;
	struct location a;
	double half = 0;
	linear.relative = linear.paired = false;
	int rc = locate_sample(&linear, false, false, &a);
	linear.paired = s->paired;
	if (rc == 0)
		rc = difference(&linear, false, &out->value, &half);
	if (rc < 0)
		return rc;
	bool both_zero = a.mean == 0 && out->value == 0;
	double unit = both_zero ? 1 : a.mean > 0 ? a.mean : NAN;
	out->interval = (struct interval){1 + (out->value - half) / unit, 1 + (out->value + half) / unit};
	out->value = 1 + out->value / unit;
	if (!any_negative(s->a, s->na) && !any_negative(s->b, s->nb)) {
		out->value = not_below_zero(out->value);
		out->interval =
			(struct interval){not_below_zero(out->interval.low), not_below_zero(out->interval.high)};
	}
	return 0;
}

int change_locate(const double *v, size_t n, double alpha, struct change *out)
{
	struct location l;
	if (locate_sample(&(struct change_spec){.a = v, .na = n}, false, false, &l) < 0)
		return -EINVAL;
	double half = change_student(alpha, l.df) * sqrt(l.variance);
	*out = (struct change){l.mean, {l.mean - half, l.mean + half}};
	return 0;
}

int change_measure(const struct change_spec *s, struct change *out)
{
	double half;
	bool logs = s->relative && all_positive(s->a, s->na) && all_positive(s->b, s->nb);
	if (s->relative && !logs)
		return ratio_of_differences(s, out);
	int rc = difference(s, logs, &out->value, &half);
	if (rc < 0)
		return rc;
	out->interval = (struct interval){out->value - half, out->value + half};
	if (logs) {
		out->value = exp(out->value);
		out->interval = (struct interval){exp(out->interval.low), exp(out->interval.high)};
	}
	return 0;
}
