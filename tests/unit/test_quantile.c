/* SPDX-License-Identifier: MIT */
#include "stats/quantile.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* R's data sets mtcars$mpg and cars$dist; the expected figures are what R prints for summary(), sd() and quantile(). */
static const double mpg[] = {21.0, 21.0, 22.8, 21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8,
			     16.4, 17.3, 15.2, 10.4, 10.4, 14.7, 32.4, 30.4, 33.9, 21.5, 15.5,
			     15.2, 13.3, 19.2, 27.3, 26.0, 30.4, 15.8, 19.7, 15.0, 21.4};
static const double dist[] = {2,  10, 4,  22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28,  26, 34,
			      34, 46, 26, 36, 60, 80, 20, 26, 54, 32, 40, 32, 40, 50, 42,  56, 76,
			      84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85};

static void assert_near(double a, double b, double within)
{
	if (!(fabs(a - b) <= within))
		fail_msg("%.10g is not %.10g", a, b);
}

static void summaries_are_those_of_r(void **state)
{
	(void)state;
	struct sample_summary s;
	sample_summarise(mpg, COUNT(mpg), &s);
	assert_int_equal(s.n, 32);
	assert_near(s.min, 10.4, 1e-12);
	assert_near(s.q1, 15.425, 1e-12);
	assert_near(s.median, 19.2, 1e-12);
	assert_near(s.mean, 20.090625, 1e-12);
	assert_near(s.q3, 22.8, 1e-12);
	assert_near(s.max, 33.9, 1e-12);
	assert_near(s.stddev, 6.026948, 5e-7);
	assert_near(s.cv, 6.026948 / 20.090625, 1e-7);
	sample_summarise(dist, COUNT(dist), &s);
	assert_near(s.q1, 26, 1e-12);
	assert_near(s.median, 36, 1e-12);
	assert_near(s.mean, 42.98, 1e-12);
	assert_near(s.q3, 56, 1e-12);
	assert_near(s.stddev, 25.76938, 5e-6);
}

/* quantile(1:10, c(.1, .333, .99)) in R 4: 1.9, 3.997, 9.91. */
static void quantiles_are_type_7(void **state)
{
	(void)state;
	double v[] = {10, 9, 8, 7, 6, 5, 4, 3, NAN, 2, 1};
	size_t n = sample_sort(v, COUNT(v));
	assert_int_equal(n, 10);
	assert_near(quantile_sorted(v, n, 0.1), 1.9, 1e-12);
	assert_near(quantile_sorted(v, n, 0.333), 3.997, 1e-12);
	assert_near(quantile_sorted(v, n, 0.99), 9.91, 1e-12);
	const double endless[] = {1, INFINITY, INFINITY};
	assert_true(isinf(quantile_sorted(endless, 3, 0.75)) && isinf(quantile_sorted(endless, 3, 0.25)));
	assert_near(quantile_sorted(v, n, 0), 1, 0);
	assert_near(quantile_sorted(v, n, 1), 10, 0);
}

static void few_values_have_no_spread(void **state)
{
	(void)state;
	struct sample_summary s;
	double one = 7;
	sample_summarise(NULL, 0, &s);
	assert_true(s.n == 0 && isnan(s.median) && isnan(s.mean));
	sample_summarise(&one, 1, &s);
	assert_true(s.median == 7 && s.q1 == 7 && isnan(s.stddev) && s.outliers_high == 0);
}

/* cars$dist: fences 26 - 45 and 56 + 45. R's boxplot() shows only 120 as an outlier, with whiskers at 2 and 93. */
static void outliers_lie_beyond_the_fences(void **state)
{
	(void)state;
	struct box b;
	assert_int_equal(box_init(&b, dist, COUNT(dist)), 0);
	assert_near(b.summary.fence_low, -19, 1e-12);
	assert_near(b.summary.fence_high, 101, 1e-12);
	assert_near(b.whisker_low, 2, 0);
	assert_near(b.whisker_high, 93, 0);
	assert_int_equal(b.noutliers, 1);
	assert_near(b.outliers[0], 120, 0);
	box_free(&b);
	const double both[] = {50, -100, 51, 52, 53, 300, 54, 55, 56, 301};
	assert_int_equal(box_init(&b, both, COUNT(both)), 0);
	assert_int_equal(b.summary.outliers_low, 1);
	assert_int_equal(b.summary.outliers_high, 2);
	assert_true(b.outliers[0] == -100 && b.outliers[1] == 300 && b.outliers[2] == 301);
	assert_true(b.whisker_low == 50 && b.whisker_high == 56);
	box_free(&b);
	assert_int_equal(box_init(&b, NULL, 0), -EINVAL);
	box_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(summaries_are_those_of_r),
		cmocka_unit_test(quantiles_are_type_7),
		cmocka_unit_test(few_values_have_no_spread),
		cmocka_unit_test(outliers_lie_beyond_the_fences),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
