/* SPDX-License-Identifier: MIT */
#include "compare/compare.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define N 4

struct log {
	int runs[N], warmups[N];
	size_t order[64];
	size_t n;
	size_t out;    /* number of the subject that cannot run */
	int fail_at;   /* number of the run that fails */
	int enough_at; /* number of runs after which the runner may stop */
};

static int note(void *ctx, size_t subject, int round)
{
	struct log *l = ctx;
	if (round < 0)
		l->warmups[subject]++;
	else
		l->runs[subject]++;
	l->order[l->n++] = subject;
	if (l->fail_at && (int)l->n == l->fail_at)
		return -EIO;
	return subject == l->out;
}

static bool enough(void *ctx, size_t subject)
{
	const struct log *l = ctx;
	return l->runs[subject] >= l->enough_at;
}

static struct runner runner(struct log *l)
{
	return (struct runner){.subjects = N,
			       .warmup = 1,
			       .min_runs = 3,
			       .max_runs = 6,
			       .budget_ns = UINT64_MAX,
			       .seed = 1,
			       .run = note,
			       .enough = enough,
			       .ctx = l};
}

static void each_subject_runs_once_in_a_round(void **state)
{
	(void)state;
	struct log l = {.out = N, .enough_at = 3};
	struct runner r = runner(&l);
	assert_int_equal(runner_go(&r), 0);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(l.warmups[i], 1);
		assert_int_equal(l.runs[i], 3);
	}
	for (size_t round = 0; round < 4; round++) {
		int seen = 0;
		for (size_t i = 0; i < N; i++)
			seen |= 1 << l.order[round * N + i];
		assert_int_equal(seen, (1 << N) - 1);
	}
	assert_true(memcmp(l.order + N, l.order + 2 * N, N * sizeof(size_t)) != 0);
}

static void the_seed_fixes_the_order(void **state)
{
	(void)state;
	struct log a = {.out = N, .enough_at = 3};
	struct log b = {.out = N, .enough_at = 3};
	struct log other = {.out = N, .enough_at = 3};
	struct runner r = runner(&a);
	runner_go(&r);
	r.ctx = &b;
	runner_go(&r);
	assert_memory_equal(a.order, b.order, sizeof(a.order));
	r.ctx = &other;
	r.seed = 2;
	runner_go(&r);
	assert_memory_not_equal(a.order, other.order, sizeof(a.order));
}

static void a_subject_that_cannot_run_is_dropped(void **state)
{
	(void)state;
	struct log l = {.out = 2, .enough_at = 100};
	struct runner r = runner(&l);
	assert_int_equal(runner_go(&r), 0);
	assert_int_equal(l.warmups[2], 1);
	assert_int_equal(l.runs[2], 0);
	assert_int_equal(l.runs[0], 6);
}

static void an_error_ends_all(void **state)
{
	(void)state;
	struct log l = {.out = N, .enough_at = 3, .fail_at = 6};
	struct runner r = runner(&l);
	assert_int_equal(runner_go(&r), -EIO);
	assert_int_equal(l.n, 6);
}

static void without_time_there_are_no_extra_rounds(void **state)
{
	(void)state;
	struct log l = {.out = N, .enough_at = 100};
	struct runner r = runner(&l);
	r.budget_ns = 0;
	assert_int_equal(runner_go(&r), 0);
	assert_int_equal(l.runs[0], 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_subject_runs_once_in_a_round),      cmocka_unit_test(the_seed_fixes_the_order),
		cmocka_unit_test(a_subject_that_cannot_run_is_dropped),   cmocka_unit_test(an_error_ends_all),
		cmocka_unit_test(without_time_there_are_no_extra_rounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
