/* SPDX-License-Identifier: MIT */
/* Tests the summary of samples with the published tables of R's summary(). */
#include "stats/quantile.h"

#include "base/buf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define QUARTER 125
#define SAMPLES (4 * QUARTER + 1)

/* A column of the published table of experiment E2, for the host or a guest, as R's summary() printed it. */
struct column {
	const char *name;
	double min, q1, median, mean, q3, max;
	const char *shown[6];
};

static const struct column published[] = {
	{"vmware", 25, 30, 38, 43.68, 54, 300, {"25", "30", "38", "43.68", "54", "300"}},
	{"vmwareSH", 117, 233.8, 254, 264.1, 271, 2215, {"117", "233.8", "254", "264.1", "271", "2215"}},
	{"kvm", 1077, 1092, 1120, 1198, 1226, 2829, {"1077", "1092", "1120", "1198", "1226", "2829"}},
	{"kvmSH", 1135, 1170, 1184, 1193, 1196, 2194, {"1135", "1170", "1184", "1193", "1196", "2194"}},
	{"host", 61, 64, 66, 68.45, 67, 804, {"61", "64", "66", "68.45", "67", "804"}},
	{"hostSH", 72, 87, 91, 94.66, 98, 264, {"72", "87", "91", "94.66", "98", "264"}},
};

/* Appends `x` as R's summary() prints it: with four significant digits, and with all digits before the decimal point. */
static void format_as_r(struct buf *out, double x)
{
	buf_addf(out, fabs(x) >= 9999.5 ? "%.0f" : "%.4g", x);
}

/*
 * Makes samples with exactly these quartiles: the quartiles are at their ranks, and the other values are chosen so that
 * the mean is correct.
 */
static void make_samples(const struct column *c, double *x)
{
	const double corners[] = {c->min, c->q1, c->median, c->q3, c->max};
	double low = 0;
	double span = 0;
	for (int i = 0; i < 5; i++)
		low += corners[i];
	for (int i = 0; i < 4; i++) {
		low += (QUARTER - 1) * corners[i];
		span += (QUARTER - 1) * (corners[i + 1] - corners[i]);
	}
	double share = (c->mean * SAMPLES - low) / span;
	assert_true(share >= 0 && share <= 1);
	for (int i = 0; i < SAMPLES; i++) {
		int q = i / QUARTER;
		x[i] = i % QUARTER == 0 ? corners[q] : corners[q] + share * (corners[q + 1] - corners[q]);
	}
}

static void published_columns_come_out_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(published) / sizeof(*published); i++) {
		double x[SAMPLES];
		struct sample_summary d;
		make_samples(&published[i], x);
		/* Shuffles the values, because their order must not matter. */
		for (int a = 0, b = SAMPLES - 1; a < b; a += 2, b -= 3) {
			double t = x[a];
			x[a] = x[b];
			x[b] = t;
		}
		sample_summarise(x, SAMPLES, &d);
		const double got[] = {d.min, d.q1, d.median, d.mean, d.q3, d.max};
		for (int k = 0; k < 6; k++) {
			struct buf b = {0};
			format_as_r(&b, got[k]);
			assert_string_equal(buf_str(&b), published[i].shown[k]);
			buf_free(&b);
		}
	}
}

/* summary(c(1, 2, 3, 4)) of R: 1.00 1.75 2.50 2.50 3.25 4.00; sd() 1.290994. */
static void quartiles_and_spread_are_rs(void **state)
{
	(void)state;
	double x[] = {4, 2, 1, 3};
	struct sample_summary d;
	sample_summarise(x, 4, &d);
	assert_true(d.q1 == 1.75 && d.median == 2.5 && d.q3 == 3.25 && d.mean == 2.5);
	assert_true(fabs(d.stddev - 1.2909944487) < 1e-9);
	assert_true(d.outliers_low == 0 && d.outliers_high == 0);
}

/* Quartiles 3 and 7 give fences at -3 and 13. A value on a fence is not an outlier. */
static void fences_are_tukeys(void **state)
{
	(void)state;
	double x[] = {-3, 2, 3, 4, 5, 6, 7, 8, 13};
	struct sample_summary d;
	sample_summarise(x, 9, &d);
	assert_true(d.q1 == 3 && d.q3 == 7);
	assert_true(d.outliers_low == 0 && d.outliers_high == 0);
	double y[] = {-3.1, 2, 3, 4, 5, 6, 7, 13.1, 50};
	sample_summarise(y, 9, &d);
	assert_true(d.q1 == 3 && d.q3 == 7);
	assert_true(d.outliers_low == 1 && d.outliers_high == 2);
	assert_true(d.max == 50); /* an outlier is counted, not dropped */
}

static void nothing_and_one(void **state)
{
	(void)state;
	struct sample_summary d;
	sample_summarise(NULL, 0, &d);
	assert_true(d.n == 0 && isnan(d.median) && isnan(d.stddev));
	double x = 7;
	sample_summarise(&x, 1, &d);
	assert_true(d.min == 7 && d.max == 7 && d.median == 7 && isnan(d.stddev));
}

static void figures_keep_all_integer_digits(void **state)
{
	(void)state;
	static const struct {
		double x;
		const char *text;
	} rows[] = {{0.31634, "0.3163"}, {15940, "15940"}, {1234567.4, "1234567"}, {9999.4, "9999"}, {9999.6, "10000"}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf b = {0};
		format_as_r(&b, rows[i].x);
		assert_string_equal(buf_str(&b), rows[i].text);
		buf_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_columns_come_out_the_same),
		cmocka_unit_test(quartiles_and_spread_are_rs),
		cmocka_unit_test(fences_are_tukeys),
		cmocka_unit_test(nothing_and_one),
		cmocka_unit_test(figures_keep_all_integer_digits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
