/* SPDX-License-Identifier: MIT */
#include "stats/hist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Each value is in its bucket, buckets have no gaps between them, and none is wider than 1/32 of its smallest value. */
static void buckets_hold_their_values(void **state)
{
	(void)state;
	for (uint64_t v = 1; v < UINT64_MAX / 3; v = v * 2 + v / 3 + 1) {
		uint32_t b = hist_bucket(v);
		assert_true(hist_bucket_low(b) <= v);
		assert_true(v < hist_bucket_low(b + 1));
		assert_int_equal(hist_bucket(hist_bucket_low(b)), b);
		assert_int_equal(hist_bucket(hist_bucket_low(b + 1) - 1), b);
		if (v >= 64)
			assert_true(hist_bucket_low(b + 1) - hist_bucket_low(b) <= hist_bucket_low(b) / 32);
	}
}

static void quantiles_of_known_values(void **state)
{
	(void)state;
	struct hist h = {0};
	assert_true(hist_quantile(&h, 0.5) == 0);
	for (uint64_t v = 1; v <= 50; v++)
		hist_add(&h, v, 1);
	assert_true(hist_quantile(&h, 0) == 1);
	assert_true(hist_quantile(&h, 0.5) == 25);
	assert_true(hist_quantile(&h, 0.9) == 45);
	assert_true(hist_quantile(&h, 1) == 50);
	hist_free(&h);
}

static void merging_keeps_every_count(void **state)
{
	(void)state;
	struct hist a = {0};
	struct hist b = {0};
	hist_add(&a, 1000000, 3);
	hist_add(&b, 7, 2);
	hist_add(&b, UINT64_MAX, 1);
	hist_merge(&a, &b);
	assert_int_equal(a.total, 6);
	assert_true(hist_quantile(&a, 0.2) == 7);
	assert_true(hist_quantile(&a, 1) > 1e19);
	hist_free(&a);
	hist_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_hold_their_values),
		cmocka_unit_test(quantiles_of_known_values),
		cmocka_unit_test(merging_keeps_every_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
