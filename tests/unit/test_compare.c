/* SPDX-License-Identifier: MIT */
/* Tests the output of compare for given samples: figures, sentences, warnings. Runs no program. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/size.h"
#include "cli/opt.h"
#include "cmd/cmd.h"
#include "present/page.h"
#include "run/judge.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RUNS 12

/*
 * Adds a row of `strategy` whose runs take about `ms` milliseconds each, in steps of one per mille, of which `user` are
 * user time. Neighbouring rows have their runs in different orders, so that the differences within a round vary, too.
 */
static struct run_subject *add(struct run *r, const char *strategy, double buffer, double ms, double user, double rss)
{
	struct buf name = {0};
	buf_adds(&name, strategy);
	if (buffer > 0) {
		buf_addc(&name, ' ');
		size_format(&name, (uint64_t)buffer);
	}
	struct run_subject *s = run_add_subject(r, buf_str(&name), "s");
	buf_free(&name);
	field_set(&s->base, strategy);
	if (strategy_find(strategy))
		field_set(&s->strategy, strategy);
	s->buffer_bytes = buffer > 0 ? buffer : NAN;
	s->input_bytes = 1 << 20;
	for (int i = 0; i < RUNS; i++) {
		double wall = ms * 1e-3 * (1 + 0.001 * (r->subjects.n % 2 ? i : i * 5 % RUNS));
		reals_add(&s->samples[METRIC_TIME], wall);
		reals_add(&s->samples[METRIC_USER], wall * user);
		reals_add(&s->samples[METRIC_SYSTEM], wall * (1 - user));
		reals_add(&s->samples[METRIC_PEAK_RSS], rss);
	}
	s->first_run_s = s->samples[METRIC_TIME].v[0];
	return s;
}

/* Sets the counts: `calls` calls for the whole input. */
static void count(struct run_subject *s, double calls)
{
	s->counts.known = true;
	s->counts.counted_bytes = s->input_bytes;
	s->counts.calls = calls;
	s->counts.reads = s->counts.writes = s->counts.errors = s->counts.moved_bytes = 0;
	s->counts.in_calls_s = s->counts.in_calls_resolution_s = s->counts.calls_before_main = 0;
	s->counts.bytes_before_main = 0;
}

static void start(struct run *r)
{
	run_init(r, "compare", 0, NULL);
	r->method.known = true;
	r->method.seed = 1;
	r->method.input_bytes = 1 << 20;
	r->method.warmup = 0;
	r->method.counted = TRUTH_YES;
}

static void has(const struct buf *b, const char *text)
{
	if (!strstr(buf_str(b), text))
		fail_msg("'%s' is not in: %s", text, buf_str(b));
}

static void lacks(const struct buf *b, const char *text)
{
	if (strstr(buf_str(b), text))
		fail_msg("'%s' is in: %s", text, buf_str(b));
}

/* Makes a run with the three programs of the lesson (sctrace-buffering(7)) and a scan of buffer sizes. */
static void lesson(struct run *r)
{
	start(r);
	count(add(r, "fgetc/fputc", 0, 20, 0.9, 1.3e6), 552);
	count(add(r, "read/write", 1, 700, 0.1, 1.3e6), 2097190);
	count(add(r, "read/write", 4096, 2, 0.2, 1.3e6), 550);
	count(add(r, "read/write", 65536, 1.95, 0.2, 1.4e6), 70);
	count(add(r, "one-shot", 0, 3, 0.2, 2.4e6), 42);
	assert_int_equal(run_judge(r), 0);
}

/* Shows the run in `format`. */
static void show(struct run *r, const char *format, struct buf *out)
{
	struct page_run one = {r, "run", "run.json"};
	struct page p = {0};
	const struct table_look look = {0};
	page_make(&p, &one, 1);
	page_render(&p, format, &look, out);
	page_free(&p);
}

static void the_knee_is_the_smallest_buffer_that_no_larger_one_beats(void **state)
{
	(void)state;
	struct run r;
	lesson(&r);
	assert_ptr_equal(run_knee(&r, "read/write"), &r.subjects.v[2]);
	assert_null(run_knee(&r, "sendfile"));
	assert_ptr_equal(run_fastest(&r), &r.subjects.v[3]);
	assert_true(fabs(r.subjects.v[1].judged.slowdown - 700 / 1.95) < 0.01);
	run_free(&r);
}

static void sentences_come_from_the_rows(void **state)
{
	(void)state;
	struct run r;
	struct buf out = {0};
	lesson(&r);
	compare_lessons(&r, &out);
	has(&out, "read/write with a buffer of 1 B makes 2,097,190 calls");
	has(&out, "90 % of its CPU time is in the kernel");
	has(&out, "with 4 KiB it makes 550 calls");
	has(&out, "350 times less");
	has(&out, "No buffer larger than 4 KiB is seen to be faster by 10 % or more");
	has(&out, "fgetc/fputc also handles single bytes, but only makes 552 calls, like read/write with 4 KiB");
	has(&out, "It spends 90 % of its CPU time outside the kernel");
	has(&out, "1.5 times slower nevertheless");
	buf_free(&out);
	run_free(&r);
}

/* "1.0 times faster" would not show how large the difference is. */
static void a_small_difference_is_a_percentage(void **state)
{
	(void)state;
	struct run r;
	struct buf out = {0};
	start(&r);
	add(&r, "slow", 0, 102.5, 0.5, 1e6);
	add(&r, "quick", 0, 100, 0.5, 1e6);
	assert_int_equal(run_judge(&r), 0);
	compare_lessons(&r, &out);
	has(&out, "quick is the fastest, 2.5 % faster than slow");
	buf_free(&out);
	run_free(&r);
}

/* Runs are interleaved, and have an order, only if there are several programs. */
static void a_single_row_has_no_order(void **state)
{
	(void)state;
	struct run r;
	struct buf out = {0};
	start(&r);
	add(&r, "only", 0, 100, 0.5, 1e6);
	assert_int_equal(run_judge(&r), 0);
	compare_notes(&r, &out);
	has(&out, "medians of 12 untraced runs, warm cache");
	add(&r, "another", 0, 200, 0.5, 1e6);
	assert_int_equal(run_judge(&r), 0);
	buf_clear(&out);
	compare_notes(&r, &out);
	has(&out,
	    "medians of 12 untraced runs, interleaved in random order (seed 1), warm cache; user and system: means");
	buf_free(&out);
	run_free(&r);
}

/* If the intervals leave open whether a larger buffer gains something, no sentence says that it gains nothing. */
static void undecided_gains_are_not_denied(void **state)
{
	(void)state;
	struct run r;
	struct buf out = {0};
	start(&r);
	for (double buffer = 1024; buffer <= 4096; buffer *= 2)
		add(&r, "read/write", buffer, 10, 0.5, 1e6 * buffer / 1024);
	assert_int_equal(run_judge(&r), 0);
	compare_lessons(&r, &out);
	has(&out, "No buffer larger than 1 KiB is seen to be faster by 10 % or more; 4 KiB only needs more memory");
	buf_clear(&out);
	show(&r, "html", &out);
	has(&out, "no gain beyond 1K");
	for (size_t i = 0; i < RUNS; i += 2)
		r.subjects.v[0].samples[METRIC_TIME].v[i] *= 1.5;
	assert_int_equal(run_judge(&r), 0);
	buf_clear(&out);
	compare_lessons(&r, &out);
	lacks(&out, "only takes");
	has(&out, "is seen to be faster by 10 % or more (");
	buf_free(&out);
	run_free(&r);
}

/* The time in calls is of another run, and of all processes together, so it can exceed the time of the row. */
static void more_time_in_calls_than_in_all_is_explained(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct run r;
		struct buf out = {0};
		start(&r);
		add(&r, i % 2 ? "sleep 0.1 & wait" : "read/write", 0, 100, 0.5, 1e6);
		count(&r.subjects.v[0], 50);
		field_set(&r.subjects.v[0].counts.engine, "patch");
		r.subjects.v[0].counts.in_calls_s = i < 2 ? 0.090 : 0.190;
		assert_int_equal(run_judge(&r), 0);
		compare_notes(&r, &out);
		(i < 2 ? lacks : has)(&out,
				      "'in calls' exceeds 'wall' in some rows: it is from that run, and adds up ");
		(i == 3 ? has : lacks)(&out, "such as a shell that waits");
		buf_free(&out);
		run_free(&r);
	}
}

/* A picture says no more than the findings: nothing larger than the largest buffer was tried. */
static void the_largest_buffer_has_no_mark(void **state)
{
	(void)state;
	struct run r;
	struct buf out = {0};
	start(&r);
	for (double buffer = 1024; buffer <= 4096; buffer *= 2)
		add(&r, "read/write", buffer, 10 * 1024 / buffer, 0.5, 1e6);
	assert_int_equal(run_judge(&r), 0);
	compare_lessons(&r, &out);
	has(&out, "Larger buffers are faster, up to the largest one that was tried, 4 KiB.");
	show(&r, "html", &out);
	lacks(&out, "no gain");
	buf_free(&out);
	run_free(&r);
}

/* A difference that may be due to chance is not a finding. */
static void no_difference_is_no_sentence(void **state)
{
	(void)state;
	struct run r;
	struct buf out = {0};
	start(&r);
	add(&r, "sendfile", 0, 10, 0.1, 1e6);
	add(&r, "splice", 0, 10.001, 0.1, 1e6);
	field_set(&r.method.reference, "sendfile");
	assert_int_equal(compare_tell(&r), 0);
	assert_true(r.subjects.v[1].judged.same_as_reference);
	assert_non_null(strstr(r.lessons.v[0], "No difference in time is seen between sendfile and splice"));
	show(&r, "text", &out);
	has(&out, "no difference seen");
	field_set(&r.method.reference, "tee");
	assert_int_equal(run_judge(&r), -EINVAL);
	buf_free(&out);
	run_free(&r);
}

static void equal_memory_has_no_sentence(void **state)
{
	(void)state;
	struct run r;
	struct buf out = {0};
	start(&r);
	add(&r, "read/write", 4096, 2, 0.2, 1.4e6);
	add(&r, "one-shot", 0, 3, 0.2, 1.41e6);
	assert_int_equal(run_judge(&r), 0);
	compare_lessons(&r, &out);
	has(&out, "too small for a visible difference");
	lacks(&out, "slower");
	buf_free(&out);
	run_free(&r);
}

static void a_row_that_cannot_run_has_no_figures(void **state)
{
	(void)state;
	struct run r;
	struct buf out = {0};
	lesson(&r);
	struct run_subject *s = run_add_subject(&r, "O_DIRECT 4K", "s");
	field_set(&s->base, "O_DIRECT");
	field_set(&s->strategy, "O_DIRECT");
	field_set(&s->unable, "Invalid argument");
	assert_int_equal(compare_tell(&r), 0);
	show(&r, "text", &out);
	has(&out, "O_DIRECT 4K failed: Invalid argument");
	lacks(&out, "nan");
	assert_ptr_equal(run_fastest(&r), &r.subjects.v[3]);
	buf_free(&out);
	run_free(&r);
}

/* The warning with that name, or NULL. */
static const struct run_warning *warning(const struct run *r, const char *name)
{
	for (size_t i = 0; i < r->warnings.n; i++)
		if (strcmp(r->warnings.v[i].name, name) == 0)
			return &r->warnings.v[i];
	return NULL;
}

static void has_warning(const struct run *r, const char *name, const char *text)
{
	const struct run_warning *w = warning(r, name);
	if (!w || !strstr(w->text, text))
		fail_msg("the warning %s does not say '%s': %s", name, text, w ? w->text : "(none)");
}

/* The time of an empty shell is subtracted, so the times are wrong if it changes during the measurement. */
static void a_changed_shell_is_a_warning(void **state)
{
	(void)state;
	struct run r;
	start(&r);
	add(&r, "sleep 0.01", 0, 8, 0.1, 1e6);
	add(&r, "sleep 1", 0, 1000, 0.1, 1e6);
	r.method.shell_taken_out_s = 0.003;
	/* NAN: a run that was saved by an older version */
	for (size_t i = 0; i < 3; i++) {
		r.method.shell_after_s = (const double[]){0.0025, NAN, 0.001}[i];
		assert_int_equal(compare_tell(&r), 0);
		assert_true((warning(&r, "shell_changed") != NULL) == (i == 2));
	}
	has_warning(&r, "shell_changed", "by more than 10 % of the times of some rows (sleep 0.01); ");
	run_free(&r);
}

static void warnings_have_their_reasons(void **state)
{
	(void)state;
	struct run r;
	lesson(&r);
	assert_int_equal(compare_tell(&r), 0);
	assert_non_null(warning(&r, "short_runs"));
	assert_int_equal(r.warnings.n, 1);
	r.method.other_cpu_share = 0.5;
	r.method.steal_share = 0.5;
	r.env.file_system.in_memory = r.env.file_system.compresses = r.env.file_system.shares_extents = TRUTH_YES;
	r.method.cold = TRUTH_YES;
	r.method.input_resident_share = 0.25;
	r.method.warmup = 1;
	r.subjects.v[0].samples[METRIC_TIME].v[0] *= 9;
	r.subjects.v[1].first_run_s = 2;
	r.subjects.v[3].buffer_bytes = 4 << 20;
	field_set(&r.env.cpu.governor, "powersave");
	strings_add(&r.env.kernel.debug_options, "CONFIG_KASAN");
	assert_int_equal(compare_tell(&r), 0);
	static const char *const expected[] = {
		"noisy_machine",  "steal",     "memory_file_system", "compressing_file_system",
		"shared_extents", "governor",  "not_cold",           "debug_kernel",
		"outliers",       "first_run", "small_input"};
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		if (!warning(&r, expected[i]))
			fail_msg("the warning %s is missing", expected[i]);
	has_warning(&r, "outliers", "(fgetc/fputc: 1 of 12)");
	has_warning(&r, "first_run", "read/write 1: 2.00 s, later runs ");
	assert_string_equal(warning(&r, "first_run")->advice, "it was the warm-up and is not part of the figures");
	assert_null(warning(&r, "load"));
	/* Without a warm-up, the first timed run is compared with the others. */
	r.method.warmup = 0;
	r.subjects.v[1].first_run_s = r.subjects.v[1].samples[METRIC_TIME].v[0];
	assert_false(compare_first_differs(&r, &r.subjects.v[1]));
	r.subjects.v[1].first_run_s = r.subjects.v[1].samples[METRIC_TIME].v[0] = 3;
	assert_true(compare_first_differs(&r, &r.subjects.v[1]));
	/*
	 * If a warning applies to many rows, it does not name all of them. If the run was too short to measure other
	 * activity on the machine, the load average before it is used.
	 */
	for (size_t i = 0; i < r.subjects.n; i++)
		r.subjects.v[i].samples[METRIC_TIME].v[1] *= 9;
	r.method.other_cpu_share = NAN;
	r.method.cold = TRUTH_NO;
	r.env.load.one = 3.5;
	r.env.cpu.online = 2;
	assert_int_equal(compare_tell(&r), 0);
	assert_null(warning(&r, "noisy_machine"));
	has_warning(&r, "first_run", "--warmup excludes it from the figures; --cold removes the input ");
	has_warning(&r, "load", "the machine was busy at the start (load average 3.50)");
	has_warning(&r, "outliers", " and 1 more)");
	run_free(&r);
}

/* Each metric is read from the right member of struct sample. */
static void a_saved_run_has_every_sample(void **state)
{
	(void)state;
	struct compare c = {.opt = {.seed = 1}, .work = {.size = 1 << 20}, .resident = -1};
	struct buf why = {0};
	struct subject *s = calloc(1, sizeof(*s));
	s->name = strdup("read/write");
	s->strategy = strategy_find("read/write");
	s->buffer = 4096;
	for (uint64_t i = 1; i <= RUNS; i++)
		vec_push(&s->samples, (struct sample){.wall_ns = 2000000 + i,
						      .peak_rss_bytes = 1300000,
						      .minor_faults = i,
						      .status = 3 << 8});
	vec_push(&c.subjects, s);
	run_init(&c.run, "compare", 0, NULL);
	assert_int_equal(compare_fill(&c), 0);
	const struct run_subject *row = run_find(&c.run, "read/write 4K");
	assert_non_null(row);
	assert_int_equal(row->samples[METRIC_TIME].n, RUNS);
	assert_true(row->samples[METRIC_TIME].v[0] == 0.002000001);
	assert_true(row->samples[METRIC_MINOR_FAULTS].v[4] == 5 && row->samples[METRIC_STATUS].v[0] == 3);
	assert_true(run_median(row, METRIC_PEAK_RSS) == 1300000);
	run_free(&c.run);
	compare_subject_free(s);
	vec_free(&c.subjects);
	buf_free(&why);
}

/* Buffer sizes of a command are a scan, too. No sentence says that there is no difference if noise may hide one. */
static void commands_are_scanned(void **state)
{
	(void)state;
	struct run r;
	struct buf out = {0};
	start(&r);
	for (double buffer = 1024; buffer <= 65536; buffer *= 8)
		add(&r, "dd bs={buffer}", buffer, 20.0 - buffer / 8192, 0.5, 2e6);
	for (size_t k = 0; k < r.subjects.n; k++)
		for (size_t i = 0; i < RUNS; i++) /* half of the rounds; the rows use different halves */
			r.subjects.v[k].samples[METRIC_TIME].v[i] *= i >> k & 1 ? 1 : 3;
	assert_int_equal(run_judge(&r), 0);
	assert_string_equal(run_scanned(&r), "dd bs={buffer}");
	compare_lessons(&r, &out);
	has(&out,
	    "dd bs={buffer}: No buffer larger than 1 KiB is seen to be faster by 10 % or more (some medians are lower");
	buf_clear(&out);
	show(&r, "html", &out);
	lacks(&out, "no gain");
	has(&out, "to say from which buffer size on larger");
	lacks(&out, "system calls</");
	buf_free(&out);
	run_free(&r);
}

/* Makes the lesson's run with `runs` runs for each row. */
static void short_lesson(struct run *r, size_t runs)
{
	lesson(r);
	for (size_t i = 0; i < r->subjects.n; i++)
		for (size_t m = 0; m < METRICS; m++)
			r->subjects.v[i].samples[m].n = r->subjects.v[i].samples[m].n ? runs : 0;
}

/* With one run for each row, there is no sentence and no interval. */
static void one_run_proves_nothing(void **state)
{
	(void)state;
	struct run r;
	struct buf out = {0};
	short_lesson(&r, 1);
	assert_int_equal(run_judge(&r), 0);
	assert_false(run_slower(&r, &r.subjects.v[1], &r.subjects.v[2]));
	assert_true(isnan(r.subjects.v[1].judged.relative_ci.low));
	assert_ptr_equal(run_knee(&r, "read/write"), &r.subjects.v[2]);
	compare_lessons(&r, &out);
	assert_string_equal(buf_str(&out),
			    "Each row has only 1 run, so any difference may be due to chance; use --runs=5 or more.\n");
	buf_free(&out);
	run_free(&r);
}

/* Four runs are too few for an interval, and thus for a sentence that denies a difference. */
static void four_runs_deny_nothing(void **state)
{
	(void)state;
	struct run r;
	struct buf out = {0};
	short_lesson(&r, 4);
	assert_int_equal(run_judge(&r), 0);
	assert_ptr_equal(run_knee(&r, "read/write"), &r.subjects.v[2]);
	compare_lessons(&r, &out);
	has(&out, "Each row has only 4 runs");
	lacks(&out, "No buffer larger");
	buf_free(&out);
	run_free(&r);
}

/* The dynamic linker reads the same number of bytes for each input, so they are not part of the bytes per call. */
static void bytes_of_the_linker_are_left_out(void **state)
{
	(void)state;
	struct run r;
	struct buf out = {0};
	start(&r);
	struct run_subject *s = add(&r, "read/write", 65536, 20, 0.2, 1.3e6);
	count(s, 60);
	s->counts.calls_before_main = 28;
	s->counts.moved_bytes = 2 * (1 << 20) + 3200;
	s->counts.bytes_before_main = 3200;
	assert_int_equal(run_judge(&r), 0);
	compare_explain(&r, &out);
	has(&out, "28 calls before main, then 32 calls (32 per MiB), 65,536 bytes per call");
	/* A file of an older version does not contain these bytes. */
	s->counts.bytes_before_main = NAN;
	buf_clear(&out);
	compare_explain(&r, &out);
	has(&out, "65,636 bytes per call");
	buf_free(&out);
	run_free(&r);
}

/* If merged runs have different numbers of calls, these numbers become unknown, and no sentence shows them. */
static void unknown_calls_are_in_no_sentence(void **state)
{
	(void)state;
	struct run r;
	struct buf out = {0};
	start(&r);
	count(add(&r, "fgetc/fputc", 0, 20, 0.9, 1.3e6), NAN);
	count(add(&r, "read/write", 1, 700, 0.1, 1.3e6), NAN);
	count(add(&r, "read/write", 65536, 2, 0.2, 1.3e6), 70);
	assert_int_equal(run_judge(&r), 0);
	compare_lessons(&r, &out);
	compare_explain(&r, &out);
	has(&out, "read/write with a buffer of 1 B takes 704 ms");
	lacks(&out, "9,223,372,036,854,775,808");
	lacks(&out, "nan");
	buf_free(&out);
	run_free(&r);
}

static void the_remaining_time_is_estimated(void **state)
{
	(void)state;
	struct subject s = {.samples = {0}};
	struct subject *one = &s;
	struct compare c = {.subjects = {&one, 1, 1}};
	for (int i = 0; i < 2; i++)
		vec_push(&s.samples, (struct sample){.wall_ns = 100000000});
	c.opt.runs = c.opt.min_runs = 5;
	double left = compare_left_s(&c, 0.2);
	assert_true(left > 0.29 && left < 0.31);
	/* Half of the elapsed time was spent outside the programs. */
	left = compare_left_s(&c, 0.4);
	assert_true(left > 0.58 && left < 0.62);
	c.opt.runs = 0;
	c.opt.max_time = 10000000000u;
	left = compare_left_s(&c, 0.2);
	assert_true(left > 10.29 && left < 10.31);
	c.opt.min_time = 1000000000u;
	left = compare_left_s(&c, 0.2);
	assert_true(left > 0.79 && left < 0.81);
	vec_free(&s.samples);
}

/* Completion and help contain each strategy. */
static void options_name_every_strategy(void **state)
{
	(void)state;
	const struct opt *o = compare_command.table;
	while (o->letter || o->name || o->help) {
		if (o->name && strcmp(o->name, "strategy") == 0)
			break;
		o++;
	}
	struct buf names = {0};
	size_t n;
	const struct strategy *all = strategy_all(&n);
	for (size_t i = 0; i < n; i++)
		buf_addf(&names, "%s%s", i ? " " : "", all[i].name);
	assert_string_equal(o->words, buf_str(&names));
	buf_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_knee_is_the_smallest_buffer_that_no_larger_one_beats),
		cmocka_unit_test(sentences_come_from_the_rows),
		cmocka_unit_test(a_small_difference_is_a_percentage),
		cmocka_unit_test(a_single_row_has_no_order),
		cmocka_unit_test(undecided_gains_are_not_denied),
		cmocka_unit_test(the_largest_buffer_has_no_mark),
		cmocka_unit_test(more_time_in_calls_than_in_all_is_explained),
		cmocka_unit_test(no_difference_is_no_sentence),
		cmocka_unit_test(equal_memory_has_no_sentence),
		cmocka_unit_test(a_row_that_cannot_run_has_no_figures),
		cmocka_unit_test(a_changed_shell_is_a_warning),
		cmocka_unit_test(warnings_have_their_reasons),
		cmocka_unit_test(a_saved_run_has_every_sample),
		cmocka_unit_test(commands_are_scanned),
		cmocka_unit_test(one_run_proves_nothing),
		cmocka_unit_test(four_runs_deny_nothing),
		cmocka_unit_test(bytes_of_the_linker_are_left_out),
		cmocka_unit_test(unknown_calls_are_in_no_sentence),
		cmocka_unit_test(the_remaining_time_is_estimated),
		cmocka_unit_test(options_name_every_strategy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
