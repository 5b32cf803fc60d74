/* SPDX-License-Identifier: MIT */
/* Tests the tables of -c for the counts of a fake engine. */
#include "trace/totals.h"

#include "base/buf.h"
#include "syscall/call_table.h"
#include "trace/out.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

/*
 * An engine whose collect() always returns the same counts, for process 7 under two names, because execve(2) changed
 * the name.
 */
struct fake {
	struct engine engine;
	int result;
};

static void record(struct summary *s, const char *name, long nr, unsigned times)
{
	struct summary_group *g = summary_group(s, name, 7);
	for (unsigned i = 0; i < times; i++)
		summary_record(s, g, syscall_native_arch(), nr,
			       &(struct call_outcome){.end = CALL_RETURNED, .ns = 3000, .cost_ns = 1000});
}

static int fake_collect(struct engine *e, struct summary *s)
{
	const struct fake *f = (const struct fake *)e;
	record(s, "sh", SYS_read, 1);
	record(s, "cat", SYS_read, 3);
	record(s, "cat", SYS_close, 2);
	return f->result;
}

static void fake_footer(const struct engine *e, struct buf *text)
{
	(void)e;
	buf_adds(text, "engine: fake");
}

static const struct engine_ops fake_ops = {.name = "fake", .collect = fake_collect, .footer = fake_footer};

struct fixture {
	struct fake fake;
	struct trace_out out;
	struct trace_failure failure;
	struct trace_totals t;
	struct strings selection;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->fake.engine.ops = &fake_ops;
	f->out.fd = -1;
	f->t.c = (struct trace_totals_config){.engine = &f->fake.engine,
					      .out = &f->out,
					      .failure = &f->failure,
					      .choice = "",
					      .selection = &f->selection};
	f->t.c.view.format = SUMMARY_CSV;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	trace_totals_free(&f->t);
	buf_free(&f->out.buf);
	buf_free(&f->failure.why);
	free(f);
	return 0;
}

static const struct call_stats *row(struct fixture *f, size_t group, long nr)
{
	return summary_call(&f->t.summary, f->t.summary.groups.v[group], syscall_native_arch(), nr);
}

static void the_counts_of_the_engine_are_printed(void **state)
{
	struct fixture *f = *state;
	struct engine_result r = {0};
	trace_totals_final(&f->t, &r);
	assert_non_null(strstr(buf_str(&f->out.buf), "\nread,"));
	assert_non_null(strstr(buf_str(&f->out.buf), "\nclose,"));
	assert_int_equal(f->failure.err, 0);
}

static void calls_that_are_not_selected_are_dropped(void **state)
{
	struct fixture *f = *state;
	struct engine_result r = {0};
	struct filter only = {0};
	struct buf why = {0};
	size_t at;
	assert_int_equal(filter_parse(&only, "read", &at, &why), 0);
	f->t.c.calls = &only;
	trace_totals_final(&f->t, &r);
	assert_non_null(strstr(buf_str(&f->out.buf), "\nread,"));
	assert_null(strstr(buf_str(&f->out.buf), "close"));
	filter_free(&only);
}

/* Without the end of the program, its times are not known. They are not 0. */
static void times_are_known_only_at_the_end(void **state)
{
	struct fixture *f = *state;
	static char *const program[] = {(char *)"cat", NULL};
	struct engine_result r = {.processes = 2};
	f->t.c.program = program;
	f->t.c.view.format = SUMMARY_TEXT;
	trace_totals_final(&f->t, &r);
	assert_non_null(strstr(buf_str(&f->out.buf), "\nprogram: its times are not known"));
	assert_null(strstr(buf_str(&f->out.buf), " wall"));
	buf_clear(&f->out.buf);
	f->t.c.view.format = SUMMARY_JSON;
	trace_totals_final(&f->t, &r);
	assert_non_null(strstr(buf_str(&f->out.buf), "\"user_s\": null"));
	assert_non_null(strstr(buf_str(&f->out.buf), "\"processes\": 2, \"exit_status\": null"));
}

static void the_cost_of_tracing_can_be_named(void **state)
{
	struct fixture *f = *state;
	struct engine_result r = {0};
	f->t.c.overhead_set = true;
	f->t.c.overhead_ns = 500;
	trace_totals_final(&f->t, &r);
	assert_true(row(f, 0, SYS_read)->ns == 2500);
	assert_true(row(f, 1, SYS_read)->ns == 3 * 2500);
	assert_true(row(f, 1, SYS_read)->ns_squared == 3 * 2500 * 2500);
}

static void a_process_has_one_row_and_its_busiest_name(void **state)
{
	struct fixture *f = *state;
	struct engine_result r = {0};
	f->t.c.by = BY_PROCESS;
	trace_totals_final(&f->t, &r);
	assert_int_equal(f->t.summary.groups.n, 1);
	assert_string_equal(f->t.summary.groups.v[0]->name, "cat");
	assert_int_equal(row(f, 0, SYS_read)->returned, 4);
}

static void calls_counted_from_events_are_not_collected(void **state)
{
	struct fixture *f = *state;
	struct engine_result r = {0};
	f->t.c.by_events = true;
	record(&f->t.summary, "x", SYS_close, 1);
	trace_totals_final(&f->t, &r);
	assert_null(strstr(buf_str(&f->out.buf), "read"));
	assert_non_null(strstr(buf_str(&f->out.buf), "\nclose,"));
}

static void the_last_table_has_a_heading_and_a_footer(void **state)
{
	struct fixture *f = *state;
	struct engine_result r = {.lost = 3};
	f->t.c.view.format = SUMMARY_TEXT;
	f->t.c.several = true;
	trace_totals_final(&f->t, &r);
	assert_non_null(strstr(buf_str(&f->out.buf), " s, in total:\n"));
	assert_non_null(strstr(buf_str(&f->out.buf), "\nengine: fake\nlost: 3 calls could not be counted\n"));
}

static void one_call_is_not_several(void **state)
{
	struct fixture *f = *state;
	struct engine_result r = {.lost = 1, .before_main = 1, .main_found = MAIN_SYMBOL, .wall_ns = 1};
	f->t.c.view.format = SUMMARY_TEXT;
	f->t.c.program = (char *const[]){"x", NULL};
	trace_totals_final(&f->t, &r);
	assert_non_null(strstr(buf_str(&f->out.buf), "; 1 call before main\n"));
	assert_non_null(strstr(buf_str(&f->out.buf), "\nlost: 1 call could not be counted\n"));
}

static void an_engine_that_fails_is_named(void **state)
{
	struct fixture *f = *state;
	struct engine_result r = {0};
	f->fake.result = -EIO;
	trace_totals_final(&f->t, &r);
	assert_int_equal(f->failure.err, -EIO);
	assert_string_equal(buf_str(&f->failure.why), "cannot read the counts of engine fake: Input/output error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_counts_of_the_engine_are_printed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(calls_that_are_not_selected_are_dropped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(times_are_known_only_at_the_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_cost_of_tracing_can_be_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_has_one_row_and_its_busiest_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(calls_counted_from_events_are_not_collected, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_last_table_has_a_heading_and_a_footer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_call_is_not_several, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_engine_that_fails_is_named, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
