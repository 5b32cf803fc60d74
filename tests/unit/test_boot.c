/* SPDX-License-Identifier: MIT */
#include "stats/change.h"
#include "stats/quantile.h"
#include "stats/random.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* P(X >= least) for a binomial distribution. */
static double binomial_tail(int n, double p, int least)
{
	double sum = 0;
	for (int k = least; k <= n; k++)
		sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p));
	return sum;
}

/*
 * For odd n the bootstrap distribution of the median is known: it is at most the j-th value with probability
 * P(Bin(n, j/n) >= (n + 1) / 2) (Efron, "Bootstrap methods: another look at the jackknife", 1979, section 3).
 */
static void the_median_follows_its_known_distribution(void **state)
{
	(void)state;
	enum { N = 41 };
	double v[N];
	for (int i = 0; i < N; i++)
		v[i] = i + 1;
	int low = 1;
	int high = 1;
	while (binomial_tail(N, (double)low / N, (N + 1) / 2) < 0.025)
		low++;
	while (binomial_tail(N, (double)high / N, (N + 1) / 2) < 0.975)
		high++;
	struct interval i;
	assert_int_equal(boot_median(v, N, 1, &i), 0);
	assert_true(fabs(i.low - low) <= 1);
	assert_true(fabs(i.high - high) <= 1);
}

/* The shortcut for the median gives the same distribution as a bootstrap that draws each value. */
static void the_shortcut_equals_drawing(void **state)
{
	(void)state;
	enum { N = 30, DRAWS = 20000 };
	double v[N];
	static double medians[DRAWS];
	struct rng r;
	rng_seed(&r, 3);
	for (int i = 0; i < N; i++)
		v[i] = exp(rng_normal(&r));
	for (int d = 0; d < DRAWS; d++) {
		double x[N];
		for (int i = 0; i < N; i++)
			x[i] = v[rng_below(&r, N)];
		sample_sort(x, N);
		medians[d] = quantile_sorted(x, N, 0.5);
	}
	sample_sort(medians, DRAWS);
	struct interval i;
	assert_int_equal(boot_median(v, N, 5, &i), 0);
	/* The ends of the interval must each cut off 2.5 % of the drawn medians, plus or minus 0.7 %. */
	double below = 0;
	double above = 0;
	for (int d = 0; d < DRAWS; d++) {
		below += medians[d] < i.low;
		above += medians[d] > i.high;
	}
	assert_true(below / DRAWS < 0.032);
	assert_true(above / DRAWS < 0.032);
	assert_true(i.low <= quantile_sorted(medians, DRAWS, 0.04));
	assert_true(i.high >= quantile_sorted(medians, DRAWS, 0.96));
}

static void without_values(void **state)
{
	struct interval r;
	(void)state;
	assert_int_equal(boot_median((double[]){NAN}, 1, 9, &r), -EINVAL);
}

/* The first outputs of splitmix64 for seed 1234567, from its authors' published test vector. */
static void the_generator_is_splitmix64(void **state)
{
	(void)state;
	struct rng r;
	rng_seed(&r, 1234567);
	assert_true(rng_next(&r) == 6457827717110365317u);
	assert_true(rng_next(&r) == 3203168211198807973u);
	assert_true(rng_next(&r) == 9817491932198370423u);
	size_t order[100];
	size_t seen = 0, moved = 0;
	for (size_t i = 0; i < 100; i++)
		order[i] = i;
	rng_shuffle(&r, order, 100);
	for (size_t i = 0; i < 100; i++) {
		seen += order[i];
		moved += order[i] != i;
	}
	assert_int_equal(seen, 4950);
	assert_true(moved > 50);
	for (int i = 0; i < 1000; i++)
		assert_true(rng_below(&r, 3) < 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_median_follows_its_known_distribution),
		cmocka_unit_test(the_shortcut_equals_drawing),
		cmocka_unit_test(without_values),
		cmocka_unit_test(the_generator_is_splitmix64),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
