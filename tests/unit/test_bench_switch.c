/* SPDX-License-Identifier: MIT */
#include "bench/switch.h"

#include "bench/place.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

static void the_cost_of_both_sides_is_subtracted(void **state)
{
	(void)state;
	/* A round of 3000 ns, in which each side spends 400 ns on the pipe, has two switches of 1100 ns. */
	assert_true(switch_solve(3000, 400, 2, 2) == 1100);
	/* sched_yield(2): a round takes 1000 ns, with 1.5 yields of 200 ns and 1.4 switches. */
	assert_true(fabs(switch_solve(1000, 200, 1.5, 1.4) - 500) < 1e-9);
}

static int first_cpu(void)
{
	struct cpu_list l = {0};
	assert_int_equal(cpu_list_allowed(&l), 0);
	int cpu = l.v[0];
	vec_free(&l);
	return cpu;
}

/* On one CPU each round has two switches, according to the kernel's own counters, for each kind that sleeps. */
static void every_kind_switches(void **state)
{
	(void)state;
	int cpu = first_cpu();
	const struct switch_plan plan = {.samples = 5,
					 .sample_ns = 200000,
					 .limit_ns = 2000000000,
					 .size = 4096,
					 .cpu = {cpu, cpu},
					 .policy = {.policy = SCHED_BATCH}};
	for (size_t i = 0; switch_kind_at(i); i++) {
		struct switch_result r = {.kind = switch_kind_at(i)};
		assert_int_equal(switch_measure(&plan, &r), 0);
		if (r.why.len == 0) {
			assert_true(r.ns.n > 0);
			assert_true(r.rounds > 0);
			if (r.kind->tasks == TASKS_USER)
				assert_true(r.voluntary < 0.1);
			else if (r.voluntary + r.involuntary < 1.9 && !r.kind->yields)
				fail_msg("%s: %.3f switches a round", r.kind->name, r.voluntary + r.involuntary);
			else if (r.voluntary < 0.9 && !r.kind->yields)
				fail_msg("%s: %.3f voluntary switches a round", r.kind->name, r.voluntary);
		} else if (strcmp(r.kind->name, "mqueue") != 0 && strcmp(r.kind->name, "bare") != 0) {
			fail_msg("%s: %s", r.kind->name, buf_str(&r.why));
		}
		switch_result_free(&r);
	}
}

static void a_failed_setup_has_a_reason(void **state)
{
	(void)state;
	const struct switch_plan plan = {.samples = 1, .sample_ns = 1000, .limit_ns = 1000000000, .cpu = {4000, 4000}};
	struct switch_result r = {.kind = switch_kind_find("pipe")};
	assert_int_equal(switch_measure(&plan, &r), 0);
	assert_true(r.why.len > 0);
	assert_int_equal(r.ns.n, 0);
	switch_result_free(&r);
}

static void a_lack_of_descriptors_has_a_reason(void **state)
{
	(void)state;
	struct rlimit limit, few;
	struct switch_pair pair = {0};
	struct buf why = {0};
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	int err = switch_kind_find("pipe")->open(&pair, &why);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(err, -EMFILE);
	assert_string_equal(buf_str(&why), "pipe: Too many open files");
	buf_free(&why);
}

static void cpu_lists(void **state)
{
	(void)state;
	struct buf text = {0};
	struct cpu_list l = {0};
	int cpu = first_cpu();
	char word[32];
	snprintf(word, sizeof(word), "%d-%d", cpu, cpu);
	assert_int_equal(cpu_list_parse(&l, word, &text), 0);
	assert_int_equal(l.n, 1);
	cpu_list_format(&text, &l);
	snprintf(word, sizeof(word), "%d", cpu);
	assert_string_equal(buf_str(&text), word);
	static const char *const bad[] = {"",   "x",   "-1",   "0-",  "0,",
					  ",0", "1-0", "9999", "0x0", "99999999999999999999"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		l.n = 0;
		buf_clear(&text);
		if (cpu_list_parse(&l, bad[i], &text) == 0 || !text.len)
			fail_msg("'%s' was taken for a list", bad[i]);
	}
	l.n = 0;
	int made_up[] = {0, 1, 2, 5, 7, 8};
	for (size_t i = 0; i < sizeof(made_up) / sizeof(*made_up); i++)
		vec_push(&l, made_up[i]);
	buf_clear(&text);
	cpu_list_format(&text, &l);
	assert_string_equal(buf_str(&text), "0-2,5,7-8");
	vec_free(&l);
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cost_of_both_sides_is_subtracted),
		cmocka_unit_test(every_kind_switches),
		cmocka_unit_test(a_failed_setup_has_a_reason),
		cmocka_unit_test(a_lack_of_descriptors_has_a_reason),
		cmocka_unit_test(cpu_lists),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
