/* SPDX-License-Identifier: MIT */
#include "bench/latency.h"
#include "bench/loads.h"

#include "base/buf.h"
#include "base/clock.h"
#include "bench/stop.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void add(struct latency_result *r, uint64_t late)
{
	struct latency_result one = {
		.n = 1, .sum = (double)late, .squares = (double)late * (double)late, .min = late, .max = late};
	hist_add(&one.hist, late, 1);
	latency_merge(r, &one);
	latency_free(&one);
}

static void merging_keeps_figures(void **state)
{
	(void)state;
	struct latency_result a = {0};
	struct latency_result b = {.missed = 2};
	static const uint64_t first[] = {4000, 5000, 6000};
	static const uint64_t second[] = {3000, 90000};
	for (size_t i = 0; i < 3; i++)
		add(&a, first[i]);
	for (size_t i = 0; i < 2; i++)
		add(&b, second[i]);
	latency_merge(&a, &b);
	assert_int_equal(a.n, 5);
	assert_int_equal(a.missed, 2);
	assert_int_equal(a.min, 3000);
	assert_int_equal(a.max, 90000);
	assert_int_equal(a.hist.total, 5);
	assert_true(fabs(latency_mean(&a) - 21600) < 1e-6);
	/* sd(c(4000, 5000, 6000, 3000, 90000)) of R */
	assert_true(fabs(latency_stddev(&a) - 38253.1044) < 0.01);
	latency_free(&a);
	latency_free(&b);
}

static void wake_ups_are_counted(void **state)
{
	(void)state;
	struct latency_result r = {0};
	const struct latency_plan p = {.interval_ns = 1000000, .time_ns = 50000000};
	assert_int_equal(latency_measure(&p, &r), 0);
	assert_true(r.n > 0);
	/* Each expiration within the 50 ms either woke the task or was missed. */
	assert_int_equal(r.n + r.missed, 50);
	assert_int_equal(r.hist.total, r.n);
	assert_true((double)r.min <= latency_mean(&r) && latency_mean(&r) <= (double)r.max);
	latency_free(&r);
}

static void names_of_loads_are_parsed(void **state)
{
	(void)state;
	struct load l;
	struct buf why = {0};
	assert_int_equal(load_parse(&l, "none", &why), 0);
	assert_int_equal(l.parts, 0);
	assert_int_equal(load_parse(&l, "suite+disk", &why), 0);
	assert_int_equal(l.parts, 2);
	assert_string_equal(l.kind[1]->name, "disk");
	static const char *const bad[] = {"", "+", "cpu+", "none+cpu", "CPU", "cpux", "cp"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		buf_clear(&why);
		if (load_parse(&l, bad[i], &why) != -EINVAL || !why.len)
			fail_msg("'%s' was taken for a load", bad[i]);
	}
	buf_free(&why);
}

static void completion_offers_every_load(void **state)
{
	struct buf words = {0};
	(void)state;
	buf_adds(&words, "none");
	for (size_t i = 0; load_kind_at(i); i++)
		buf_addf(&words, " %s", load_kind_at(i)->name);
	assert_string_equal(LOAD_WORDS, buf_str(&words));
	buf_free(&words);
}

/* Killed orphans disappear only after the process that adopted them has reaped them. */
static bool ends_soon(pid_t group)
{
	for (int i = 0; i < 30000; i++) {
		if (kill(-group, 0) < 0)
			return true;
		clock_sleep_ns(1000000);
	}
	return false;
}

/* Each load works, reports its amount of work, and leaves no process or file. */
static void loads_work_and_end(void **state)
{
	(void)state;
	for (size_t i = 0; load_kind_at(i); i++) {
		struct load l;
		struct buf why = {0};
		struct kid_guard guard;
		pid_t kids[LOAD_KIDS];
		assert_int_equal(kid_guard_open(&guard), 0);
		assert_int_equal(load_parse(&l, load_kind_at(i)->name, &why), 0);
		if (load_start(&l, "/tmp", &guard, &why) < 0)
			fail_msg("%s", buf_str(&why));
		size_t n = l.nkids;
		memcpy(kids, l.kids, sizeof(kids));
		/*
		 * Waits until the load has done some work since load_start(), which may take a while on a busy machine.
		 */
		for (int k = 0; k < 30000 && l.board[0]->work == l.start_work[0]; k++)
			clock_sleep_ns(1000000);
		if (load_stop(&l, &guard, &why) < 0)
			fail_msg("%s", buf_str(&why));
		assert_true(l.work[0] > 0);
		for (size_t k = 0; k < n; k++)
			if (!ends_soon(kids[k]))
				fail_msg("something of %s is left", load_kind_at(i)->name);
		kid_guard_close(&guard);
		buf_free(&why);
	}
}

static void a_load_that_cannot_run_has_a_reason(void **state)
{
	(void)state;
	struct load l;
	struct buf why = {0};
	struct kid_guard guard;
	assert_int_equal(kid_guard_open(&guard), 0);
	assert_int_equal(load_parse(&l, "disk", &why), 0);
	assert_true(load_start(&l, "/nonexistent", &guard, &why) < 0);
	assert_non_null(strstr(buf_str(&why), "disk"));
	kid_guard_close(&guard);
	buf_free(&why);
}

/* If the parent is killed by SIGKILL, the loads and their children end, too. */
static void loads_end_when_their_parent_is_killed(void **state)
{
	(void)state;
	int fds[2];
	pid_t group = 0;
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct load l;
		struct buf why = {0};
		struct kid_guard guard;
		if (kid_guard_open(&guard) < 0 || load_parse(&l, "net", &why) < 0 ||
		    load_start(&l, "/tmp", &guard, &why) < 0 || write(fds[1], &l.kids[0], sizeof(pid_t)) < 0)
			_exit(1);
		pause();
	}
	assert_int_equal(read(fds[0], &group, sizeof(group)), sizeof(group));
	assert_int_equal(kill(-group, 0), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(ends_soon(group));
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merging_keeps_figures),
		cmocka_unit_test(wake_ups_are_counted),
		cmocka_unit_test(names_of_loads_are_parsed),
		cmocka_unit_test(completion_offers_every_load),
		cmocka_unit_test(loads_work_and_end),
		cmocka_unit_test(a_load_that_cannot_run_has_a_reason),
		cmocka_unit_test(loads_end_when_their_parent_is_killed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
