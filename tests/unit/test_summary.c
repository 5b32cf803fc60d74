/* SPDX-License-Identifier: MIT */
#include "stats/summary.h"

#include "base/buf.h"
#include "syscall/call_table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct call_outcome fine = {.end = CALL_RETURNED, .ns = 100};

static uint64_t all_calls(const struct summary *s)
{
	uint64_t n = 0;
	for (size_t i = 0; i < s->groups.n; i++)
		for (size_t k = 0; k < s->groups.v[i]->calls.n; k++)
			n += call_stats_calls(s->groups.v[i]->calls.v[k]);
	return n;
}

static void too_many_numbers_share_a_row(void **state)
{
	struct summary s = {0};
	struct summary into = {0};
	struct buf name = {0};
	uint32_t arch = syscall_native_arch();
	(void)state;
	struct summary_group *g = summary_group(&s, "", -1);
	for (int64_t nr = 0; nr < 20000; nr++)
		summary_record(&s, g, arch, 1000000 + nr, &fine);
	for (int64_t nr = 0; nr < 20000; nr++)
		summary_record(&s, g, arch, 1000000 + nr, &fine);
	assert_true(g->calls.n < 5000);
	assert_int_equal(all_calls(&s), 40000);
	/* Known calls still have separate rows. */
	summary_record(&s, g, arch, syscall_number(arch, "write"), &fine);
	assert_int_equal(g->calls.v[g->calls.n - 1]->nr, syscall_number(arch, "write"));
	summary_merge(&into, &s);
	assert_int_equal(all_calls(&into), 40001);
	syscall_name(&name, arch, SYSCALL_OTHERS);
	assert_string_equal(buf_str(&name), "(all others)");
	buf_free(&name);
	summary_free(&s);
	summary_free(&into);
}

static void too_many_groups_share_one(void **state)
{
	struct summary s = {0}, into = {0};
	uint32_t arch = syscall_native_arch();
	(void)state;
	for (int64_t id = 0; id < SUMMARY_GROUPS_MAX + 500; id++)
		summary_record(&s, summary_group(&s, "a process", id), arch, 1, &fine);
	assert_int_equal(s.groups.n, SUMMARY_GROUPS_MAX + 1);
	assert_int_equal(all_calls(&s), SUMMARY_GROUPS_MAX + 500);
	const struct summary_group *last = s.groups.v[SUMMARY_GROUPS_MAX];
	assert_string_equal(last->name, "(all others)");
	assert_int_equal(call_stats_calls(last->calls.v[0]), 500);
	assert_ptr_equal(summary_group(&s, "a process", 7), s.groups.v[7]);
	summary_merge(&into, &s);
	summary_merge(&into, &s);
	assert_int_equal(into.groups.n, SUMMARY_GROUPS_MAX + 1);
	assert_int_equal(all_calls(&into), 2 * (SUMMARY_GROUPS_MAX + 500));
	summary_free(&s);
	summary_free(&into);
}

static void too_many_errors_are_bounded(void **state)
{
	struct summary s = {0};
	uint64_t count = 0;
	uint32_t arch = syscall_native_arch();
	(void)state;
	struct summary_group *g = summary_group(&s, "", -1);
	for (int64_t nr = 0; nr < 10; nr++)
		for (int err = 1; err < 4096; err++)
			summary_errno(&s, g, &(struct call_errno){arch, nr, err, 1});
	for (size_t i = 0; i < g->errnos.n; i++)
		count += g->errnos.v[i].count;
	assert_int_equal(count, 10 * 4095);
	assert_true(g->errnos.n < 15000);
	summary_free(&s);
}

static void wrong_totals_are_detected(void **state)
{
	struct summary s = {0};
	(void)state;
	struct summary_group *g = summary_group(&s, "", -1);
	struct call_outcome failed = {.end = CALL_RETURNED, .ns = 50, .error = true, .err = 2};
	struct call_outcome again = {.end = CALL_RESTARTED, .ns = 50};
	struct call_outcome lost = {.end = CALL_UNFINISHED, .ns = 50};
	summary_record(&s, g, syscall_native_arch(), 0, &fine);
	summary_record(&s, g, syscall_native_arch(), 0, &failed);
	summary_record(&s, g, syscall_native_arch(), 0, &again);
	summary_record(&s, g, syscall_native_arch(), 0, &lost);
	struct call_stats *c = g->calls.v[0];
	assert_true(call_stats_consistent(c));
	assert_int_equal(call_stats_calls(c), 3);
	assert_int_equal(call_stats_unfinished(c), 1);
	/* Only calls that returned have a time. */
	assert_true(c->ns == fine.ns + failed.ns);
	assert_true(call_stats_mean(c) <= c->max_ns);
	assert_true(call_stats_quantile(c, 0) >= 50 && call_stats_quantile(c, 1) <= 100);
	c->errors = 9;
	assert_false(call_stats_consistent(c));
	summary_free(&s);
}

/*
 * Returns the standard deviation of `n` calls: one takes `min`, one `max`, and the others the mean. The sum of squares is
 * wrong by `wrong`, because the engine did not measure it exactly.
 */
static double deviation(uint64_t n, double min, double max, double wrong)
{
	const double rest = (double)(n - 2), mean = (min + max) / 2;
	return call_stats_stddev(&(struct call_stats){.returned = n,
						      .ns = (double)n * mean,
						      .ns_squared = min * min + max * max + rest * mean * mean + wrong,
						      .min_ns = min,
						      .max_ns = max});
}

/* The patch engine computes the sum of squares from a histogram, so this sum may contradict the range of the times. */
static void the_deviation_agrees_with_the_range(void **state)
{
	(void)state;
	assert_true(deviation(2, 274.8, 274.8, 847) == 0);
	assert_true(fabs(deviation(2, 645, 755, -9000) - 110 / sqrt(2)) < 1e-9);
	assert_true(fabs(deviation(2, 645, 755, 9000) - 110 / sqrt(2)) < 1e-9);
	/* The correct deviation is the smallest one for this range. The largest one is that of calls at both ends of it. */
	assert_true(fabs(deviation(5, 100, 300, -1) - sqrt(200 * 200 / 8.0)) < 1e-9);
	assert_true(fabs(deviation(5, 100, 300, 1e6) - sqrt(5 * 200 * 200 / 16.0)) < 1e-9);
	assert_true(fabs(deviation(5, 100, 300, 4000) - sqrt(24000 / 4.0)) < 1e-9);
	assert_true(isnan(deviation(5, 100, 300, NAN)));
	assert_true(isnan(call_stats_stddev(&(struct call_stats){.returned = 1, .min_ns = 5, .max_ns = 5})));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_many_numbers_share_a_row),        cmocka_unit_test(too_many_groups_share_one),
		cmocka_unit_test(too_many_errors_are_bounded),         cmocka_unit_test(wrong_totals_are_detected),
		cmocka_unit_test(the_deviation_agrees_with_the_range),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
