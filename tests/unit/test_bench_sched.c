/* SPDX-License-Identifier: MIT */
#include "bench/sched.h"

#include "bench/stop.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull

/* Two processes alternate with turns of 10 and 5 ms. The first ends after 25 ms, the second after 40. */
static void make_run(struct sched_run *r)
{
	static const struct sched_slice a[] = {{0, 10 * MS, 0}, {15 * MS, 25 * MS, 0}};
	static const struct sched_slice b[] = {{10 * MS, 15 * MS, 0}, {25 * MS, 40 * MS, 0}};
	*r = (struct sched_run){.procs = calloc(2, sizeof(struct sched_proc)), .n = 2, .window_ns = 25 * MS};
	for (int i = 0; i < 2; i++) {
		vec_push(&r->procs[0].slices, a[i]);
		vec_push(&r->procs[1].slices, b[i]);
		r->procs[i].slices_whole = r->procs[i].done = true;
	}
	r->procs[0].latency_ns = 25 * MS;
	r->procs[1].latency_ns = 40 * MS;
}

static void figures_of_a_known_run(void **state)
{
	(void)state;
	struct sched_run r;
	make_run(&r);
	assert_true(fabs(sched_throughput(&r) - 50) < 1e-9); /* 2 processes end within 40 ms */
	assert_true(fabs(sched_mean_latency(&r) - 32.5 * MS) < 1e-3);
	assert_true(fabs(sched_share(&r, 0) - 0.8) < 1e-9); /* 20 of 25 ms, while both compete */
	assert_true(fabs(sched_share(&r, 1) - 0.2) < 1e-9);
	assert_true(sched_others(&r, 1) == 0);
	assert_true(fabs(sched_others(&r, 2) - 0.5) < 1e-9);  /* the second CPU ran none of the processes */
	assert_true(fabs(sched_others(&r, 64) - 0.5) < 1e-9); /* two processes cannot use more than two CPUs */
	r.procs[1].done = false;
	assert_true(isnan(sched_throughput(&r)) && isnan(sched_mean_latency(&r)));
	r.procs[1].slices_whole = false;
	assert_true(isnan(sched_share(&r, 0)) && isnan(sched_others(&r, 1)));
	sched_run_free(&r);
}

/* One step of nice changes the weight by about a quarter; nice 0 is 1024. */
static void weights_are_the_kernels(void **state)
{
	(void)state;
	assert_int_equal(sched_weight(0), 1024);
	assert_int_equal(sched_weight(-20), 88761);
	assert_int_equal(sched_weight(19), 15);
	assert_int_equal(sched_weight(5), 335);
	for (int nice = -20; nice < 19; nice++) {
		double step = (double)sched_weight(nice) / sched_weight(nice + 1);
		if (step < 1.15 || step > 1.35)
			fail_msg("from nice %d to %d the weight falls by %.2f", nice, nice + 1, step);
	}
}

/* Slices on one CPU never overlap, progress only grows, and all work is done. */
static void one_cpu_has_one_at_a_time(void **state)
{
	(void)state;
	struct cpu_list cpus = {0};
	struct sched_run r = {0};
	assert_int_equal(cpu_list_allowed(&cpus), 0);
	struct sched_plan p = {.procs = 2, .cpus = cpus.v, .ncpus = 1};
	assert_int_equal(sched_calibrate(&p.work, 20 * MS, p.cpus, 1), 0);
	assert_true(p.work.chunks >= SCHED_LOGS);
	assert_int_equal(sched_measure(&p, &r), 0);
	assert_int_equal(r.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct sched_proc *q = &r.procs[i];
		assert_true(q->done);
		assert_int_equal(q->logs, SCHED_LOGS);
		assert_true(q->slices.n > 0);
		for (size_t k = 1; k < q->logs; k++)
			assert_true(q->progress_ns[k] > q->progress_ns[k - 1]);
		assert_true(q->progress_ns[q->logs - 1] <= q->latency_ns);
	}
	for (size_t i = 0; i < r.procs[0].slices.n; i++)
		for (size_t k = 0; k < r.procs[1].slices.n; k++) {
			const struct sched_slice *a = &r.procs[0].slices.v[i];
			const struct sched_slice *b = &r.procs[1].slices.v[k];
			uint64_t from = a->start > b->start ? a->start : b->start;
			uint64_t to = a->end < b->end ? a->end : b->end;
			/*
			 * The edge of a slice is known to within a chunk, and a gap of up to 1.25 chunks is not
			 * noticed.
			 */
			if (to > from + 3 * (uint64_t)p.work.chunk_ns)
				fail_msg("two at once: %llu-%llu and %llu-%llu", (unsigned long long)a->start,
					 (unsigned long long)a->end, (unsigned long long)b->start,
					 (unsigned long long)b->end);
		}
	assert_true(fabs(sched_share(&r, 0) + sched_share(&r, 1) - 1) < 1e-9);
	sched_run_free(&r);
	vec_free(&cpus);
}

/* Called about ten times a second; the last call simulates Ctrl-C. */
static void interrupt_after_some(void *ctx, double done, double all, const char *what)
{
	int *left = ctx;
	(void)done;
	(void)all;
	(void)what;
	if (--*left == 0)
		raise(SIGINT);
}

/* If a measurement that would take an hour is interrupted, the run contains the progress, slices and shares so far. */
static void interrupted_runs_show_how_far_they_came(void **state)
{
	(void)state;
	struct cpu_list cpus = {0};
	struct sched_run r = {0};
	assert_int_equal(cpu_list_allowed(&cpus), 0);
	struct sched_plan p = {.procs = 2, .cpus = cpus.v, .ncpus = 1};
	assert_int_equal(sched_calibrate(&p.work, 20 * MS, p.cpus, 1), 0);
	p.work.chunks *= 100000;
	p.progress = (struct progress){.show = interrupt_after_some, .ctx = &(int){20}};
	stop_catch();
	assert_int_equal(sched_measure(&p, &r), -EINTR);
	stop_release();
	assert_int_equal(r.n, 2);
	assert_true(r.window_ns > 0);
	for (size_t i = 0; i < 2; i++) {
		assert_false(r.procs[i].done);
		assert_true(r.procs[i].slices.n > 0);
	}
	assert_true(isnan(sched_throughput(&r)) && isnan(sched_mean_latency(&r)));
	assert_true(fabs(sched_share(&r, 0) + sched_share(&r, 1) - 1) < 1e-9);
	sched_run_free(&r);
	vec_free(&cpus);
}

static void a_forbidden_cpu_is_an_error(void **state)
{
	(void)state;
	int nowhere = 1000;
	struct sched_run r = {0};
	struct sched_plan p = {.procs = 2, .cpus = &nowhere, .ncpus = 1, .work = {1, 1, 100}};
	assert_true(sched_measure(&p, &r) < 0);
	sched_run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_of_a_known_run),
		cmocka_unit_test(weights_are_the_kernels),
		cmocka_unit_test(one_cpu_has_one_at_a_time),
		cmocka_unit_test(interrupted_runs_show_how_far_they_came),
		cmocka_unit_test(a_forbidden_cpu_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
