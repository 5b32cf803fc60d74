/* SPDX-License-Identifier: MIT */
#include "stats/change.h"

#include "stats/random.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MOST 100

/* Values of published tables of Student's t (two-sided). */
static void quantiles(void **state)
{
	static const struct {
		double alpha, df, t;
	} rows[] = {
		{0.01, 1, 63.657}, {0.01, 2, 9.925},   {0.01, 3, 5.841},   {0.01, 5, 4.032},    {0.01, 10, 3.169},
		{0.01, 30, 2.750}, {0.01, 120, 2.617}, {0.01, 1e6, 2.576}, {0.05, 4, 2.776},    {0.05, 20, 2.086},
		{0.05, 60, 2.000}, {0.001, 6, 5.959},  {0.001, 40, 3.551}, {0.0005, 10, 5.049},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double t = change_student(rows[i].alpha, rows[i].df);
		if (fabs(t - rows[i].t) > 0.001 * rows[i].t)
			fail_msg("alpha %g, df %g: %g, and not %g", rows[i].alpha, rows[i].df, t, rows[i].t);
	}
}

static int measure(const double *a, const double *b, size_t n, bool paired, bool relative, struct change *out)
{
	return change_measure(&(struct change_spec){a, b, n, n, paired, relative, CHANGE_ALPHA}, out);
}

static void ratios(void **state)
{
	double a[50];
	double b[50];
	double same[50];
	(void)state;
	for (int i = 0; i < 50; i++) {
		a[i] = 100 + i % 5;
		b[i] = 200 + i % 7;
		same[i] = 100 + (i * 3) % 5;
	}
	struct change c;
	assert_int_equal(measure(a, b, 50, false, true, &c), 0);
	assert_true(c.interval.low > 1.9 && c.interval.high < 2.1);
	assert_true(c.interval.low < c.value && c.value < c.interval.high);
	assert_int_equal(measure(a, same, 50, false, true, &c), 0);
	assert_true(boot_spans_one(&c.interval));
	assert_int_equal(measure(a, b, 50, false, false, &c), 0);
	assert_true(c.interval.low > 98 && c.interval.high < 104);
	assert_int_equal(change_measure(&(struct change_spec){a, b, 0, 50, false, true, CHANGE_ALPHA}, &c), -EINVAL);
	assert_int_equal(change_measure(&(struct change_spec){a, b, 50, 1, true, true, CHANGE_ALPHA}, &c), -EINVAL);
	const double nothing[] = {NAN, NAN, 1};
	assert_int_equal(measure(nothing, a, 3, false, true, &c), -EINVAL);
}

/* Values may be zero, which has no logarithm. */
static void zeros(void **state)
{
	const double zero[] = {0, 0, 0, 0, 0};
	const double some[] = {0, 10, 11, 9, 10};
	const double more[] = {20, 21, 19, 20, 0};
	struct change c;
	(void)state;
	assert_int_equal(measure(zero, zero, 5, false, true, &c), 0);
	assert_true(c.value == 1 && c.interval.low == 1 && c.interval.high == 1);
	assert_int_equal(measure(some, more, 5, false, true, &c), 0);
	assert_true(fabs(c.value - 19.0 / 9.0) < 0.2 && c.interval.low < c.value && c.value < c.interval.high);
	/* The interval of a ratio of times contains no negative ratio. */
	const double wide[] = {0, 0, 1, 2, 90};
	assert_int_equal(measure(some, wide, 5, false, true, &c), 0);
	assert_true(c.interval.low == 0 && c.value > 0 && c.interval.high > c.value);
	const double negative[] = {-1, 0, 1, 2, 90};
	assert_int_equal(measure(some, negative, 5, false, true, &c), 0);
	assert_true(c.interval.low < 0);
	assert_int_equal(measure(zero, some, 5, false, true, &c), 0);
	assert_true(isnan(c.value) && isnan(c.interval.low));
}

/* A change that affects all runs of a round does not affect the differences within the round. */
static void pairs(void **state)
{
	double a[40];
	double b[40];
	struct rng r;
	struct change c;
	(void)state;
	rng_seed(&r, 7);
	for (int i = 0; i < 40; i++) {
		double weather = exp(rng_normal(&r));
		a[i] = weather * exp(0.001 * rng_normal(&r));
		b[i] = 1.01 * weather * exp(0.001 * rng_normal(&r));
	}
	assert_int_equal(measure(a, b, 40, false, true, &c), 0);
	assert_true(boot_spans_one(&c.interval));
	assert_int_equal(measure(a, b, 40, true, true, &c), 0);
	assert_true(c.interval.low > 1.008 && c.interval.high < 1.012);
}

/*
 * Disturbances of a program that takes about 50 ms: noise, rare long delays, and a drift that is similar in
 * neighbouring runs.
 */
struct noise {
	double spread, delayed, drift, memory;
};

static void fill(struct rng *r, const struct noise *n, double factor, double *v, size_t count)
{
	double drift = n->drift * rng_normal(r);
	for (size_t i = 0; i < count; i++) {
		drift = n->memory * drift + sqrt(1 - n->memory * n->memory) * n->drift * rng_normal(r);
		double late = rng_unit(r) < n->delayed ? -0.1 * log(rng_unit(r)) : 0;
		v[i] = 0.05 * factor * exp(n->spread * rng_normal(r) + drift + late);
	}
}

/* Returns how many of 200 intervals lie above `limit` if the second sample is slower by `factor`. */
static int alarms(const struct noise *n, size_t count, double factor, double limit)
{
	struct rng r;
	int found = 0;
	rng_seed(&r, count);
	for (int i = 0; i < 200; i++) {
		double a[MOST];
		double b[MOST];
		struct change c;
		fill(&r, n, 1, a, count);
		fill(&r, n, factor, b, count);
		assert_int_equal(measure(a, b, count, false, true, &c), 0);
		found += c.interval.low > limit;
	}
	return found;
}

static const struct noise noises[] = {
	{0.015, 0, 0, 0}, {0.015, 0.1, 0, 0}, {0.03, 0.1, 0, 0}, {0.015, 0.05, 0.01, 0.5}, {0.01, 0.05, 0.01, 0.8},
};

/*
 * In 200 comparisons of a program with itself, a limit of 2 % causes at most 2 false alarms, and so does a limit of 0 %
 * without drift.
 */
static void false_alarms_are_rare(void **state)
{
	static const size_t counts[] = {5, 10, 30, MOST};
	(void)state;
	for (size_t i = 0; i < sizeof(noises) / sizeof(*noises); i++)
		for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++) {
			assert_in_range(alarms(&noises[i], counts[k], 1, 1.02), 0, 2);
			if (!(noises[i].drift > 0))
				assert_in_range(alarms(&noises[i], counts[k], 1, 1), 0, 4);
		}
}

/* A slowdown of 5 % exceeds a limit of 2 % in at least 95 of 100 comparisons. */
static void slowdowns_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(noises) / sizeof(*noises); i++)
		assert_in_range(alarms(&noises[i], MOST, 1.05, 1.02), 190, 200);
}

/*
 * A measurement may test the interval after each of several stages, and end at the first difference. The conclusion is
 * still right in 99 of 100 cases.
 */
static void repeated_looks_are_accounted_for(void **state)
{
	enum { TRIALS = 1000 };
	struct rng r;
	int seen = 0;
	(void)state;
	rng_seed(&r, 11);
	for (int i = 0; i < TRIALS; i++) {
		double a[MOST];
		double b[MOST];
		bool differs = false;
		fill(&r, &noises[1], 1, a, MOST);
		fill(&r, &noises[1], 1, b, MOST);
		for (size_t n = MOST / CHANGE_LOOKS; n <= MOST; n += MOST / CHANGE_LOOKS) {
			struct change c;
			assert_int_equal(
				change_measure(
					&(struct change_spec){a, b, n, n, true, true, CHANGE_ALPHA / CHANGE_LOOKS}, &c),
				0);
			differs |= !boot_spans_one(&c.interval);
		}
		seen += differs;
	}
	assert_in_range(seen, 1, TRIALS / 100);
}

static void one_sample(void **state)
{
	const double v[] = {9, 10, 11, 10, 10, 10, 500, 9, 11, 10};
	struct change c;
	(void)state;
	assert_int_equal(change_locate(v, 10, CHANGE_ALPHA, &c), 0);
	assert_true(c.value > 9.9 && c.value < 10.3 && c.interval.low > 8.5 && c.interval.high < 12);
	assert_int_equal(change_locate(v, 1, CHANGE_ALPHA, &c), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles),
		cmocka_unit_test(ratios),
		cmocka_unit_test(zeros),
		cmocka_unit_test(pairs),
		cmocka_unit_test(false_alarms_are_rare),
		cmocka_unit_test(slowdowns_are_found),
		cmocka_unit_test(repeated_looks_are_accounted_for),
		cmocka_unit_test(one_sample),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
