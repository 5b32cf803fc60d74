/* SPDX-License-Identifier: MIT */
#include "out/summary_table.h"

#include "base/buf.h"
#include "syscall/call_table.h"
#include "syscall/uring_ops.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

static void add(struct summary *s, struct summary_group *g, long nr, unsigned times, double ns, int err, double spread)
{
	struct call_outcome o = {.end = CALL_RETURNED, .ns = ns, .spread_ns = spread, .error = err != 0, .err = err};
	o.bytes = err || nr != SYS_read ? 0 : 1;
	for (unsigned i = 0; i < times; i++)
		summary_record(s, g, syscall_native_arch(), nr, &o);
}

static struct summary three_calls(void)
{
	struct summary s = {0};
	struct summary_group *g = summary_group(&s, "", -1);
	add(&s, g, SYS_read, 4, 1000, 0, 10);
	add(&s, g, SYS_openat, 2, 5000, 0, 10);
	add(&s, g, SYS_openat, 1, 2000, ENOENT, 10);
	add(&s, g, SYS_close, 2, -50, 0, 10);
	return s;
}

static void renders(const struct summary *s, const struct summary_view *v, const char *expected)
{
	struct buf out = {0};
	summary_render(s, v, &out);
	assert_string_equal(buf_str(&out), expected);
	buf_free(&out);
}

static bool has_text(const struct summary *s, const char *text)
{
	struct buf out = {0};
	summary_render(s, &(struct summary_view){0}, &out);
	bool has = strstr(buf_str(&out), text) != NULL;
	buf_free(&out);
	return has;
}

static void text_has_trusss_columns_first(void **state)
{
	(void)state;
	struct summary s = three_calls();
	renders(&s, &(struct summary_view){0},
		"syscall                     seconds     calls   errors        avg        p50        p99        max\n"
		"openat                  0.000012000         3        1    4.00 us    5.00 us    5.00 us    5.00 us\n"
		"read                    0.000004000         4        0    1.00 us    1.00 us    1.00 us    1.00 us\n"
		"close                  <0.000000060         2        0   <0.03 us   <0.03 us   <0.03 us   <0.03 us\n"
		"                      ------------- --------- --------\n"
		"                        0.000016000         9        1\n");
	summary_free(&s);
}

static void a_narrow_terminal_has_fewer_columns(void **state)
{
	(void)state;
	struct summary s = three_calls();
	struct summary_view v = {.width = 80};
	renders(&s, &v,
		"syscall       seconds calls errors      avg      p50      p99      max\n"
		"openat    0.000012000     3      1  4.00 us  5.00 us  5.00 us  5.00 us\n"
		"read      0.000004000     4      0  1.00 us  1.00 us  1.00 us  1.00 us\n"
		"close    <0.000000060     2      0 <0.03 us <0.03 us <0.03 us <0.03 us\n"
		"         ------------ ----- ------\n"
		"          0.000016000     9      1\n");
	v.width = 50;
	struct buf why = {0};
	assert_int_equal(summary_sort_parse("p99", &v.sort, &why), 0);
	renders(&s, &v,
		"syscall       seconds calls errors      p99\n"
		"openat    0.000012000     3      1  5.00 us\n"
		"read      0.000004000     4      0  1.00 us\n"
		"close    <0.000000060     2      0 <0.03 us\n"
		"         ------------ ----- ------\n"
		"          0.000016000     9      1\n");
	assert_int_equal(summary_columns_parse("calls,p50,p90,p99,max", &v.columns, &why), 0);
	struct buf out = {0};
	summary_render(&s, &v, &out);
	/* Columns that the user named stay. */
	assert_non_null(strstr(buf_str(&out), "p50      p90      p99      max\n"));
	buf_clear(&out);
	assert_int_equal(summary_columns_parse("+p50,bytes", &v.columns, &why), 0);
	v.sort = 0;
	summary_render(&s, &v, &out);
	assert_non_null(strstr(buf_str(&out), "errors      p50 bytes\n"));
	buf_clear(&out);
	summary_columns_say(&v.columns, &out);
	assert_string_equal(buf_str(&out), "+p50,bytes");
	buf_free(&out);
	buf_free(&why);
	summary_free(&s);
}

/* Calls of which the engine does not know whether they waited have a dash, not a zero. */
static void waits_are_shown_if_there_are_any(void **state)
{
	(void)state;
	struct summary s = {0};
	struct summary_group *g = summary_group(&s, "", -1);
	struct call_outcome o = {.end = CALL_RETURNED, .ns = 1000, .wait = WAIT_NO};
	summary_record(&s, g, syscall_native_arch(), SYS_read, &o);
	struct summary_view v = {.width = 80};
	assert_false(has_text(&s, "wait"));
	o.wait = WAIT_YES;
	o.ns = 2500000;
	summary_record(&s, g, syscall_native_arch(), SYS_read, &o);
	summary_record(&s, g, syscall_native_arch(), SYS_read, &o);
	add(&s, g, SYS_close, 1, 2000, 0, 0);
	o = (struct call_outcome){.end = CALL_RETURNED, .ns = 500, .wait = WAIT_NO};
	summary_record(&s, g, syscall_native_arch(), SYS_close, &o); /* not waiting is known of one of two calls */
	renders(&s, &v,
		"syscall      seconds calls errors     avg     p50     p99     max waits  waited\n"
		"read     0.005001000     3      0 1.67 ms 2.50 ms 2.50 ms 2.50 ms     2 5.00 ms\n"
		"close    0.000002500     2      0 1.25 us 0.50 us 2.00 us 2.00 us     -       -\n"
		"         ----------- ----- ------                                 ----- -------\n"
		"         0.005003500     5      0                                     2 5.00 ms\n");
	v.width = 60; /* waited is left out before avg and max */
	renders(&s, &v,
		"syscall      seconds calls errors     avg     max waits\n"
		"read     0.005001000     3      0 1.67 ms 2.50 ms     2\n"
		"close    0.000002500     2      0 1.25 us 2.00 us     -\n"
		"         ----------- ----- ------                 -----\n"
		"         0.005003500     5      0                     2\n");
	summary_free(&s);
}

/*
 * The CPU time of calls that waited is not known. A row of which some calls are not known has a ~. Calls that did not return
 * may have waited, so the row has no zero.
 */
static void cpu_time_is_that_of_calls_that_did_not_wait(void **state)
{
	static const struct {
		int nr, no, yes, unknown, unfinished;
	} rows[] = {{SYS_read, 3, 1, 0, 0},  {SYS_openat, 2, 0, 1, 0},  {SYS_futex, 0, 2, 0, 0},
		    {SYS_close, 0, 0, 2, 0}, {SYS_getppid, 1, 0, 0, 1}, {SYS_rt_sigsuspend, 0, 0, 0, 1}};
	struct summary s = {0};
	struct summary_group *g = summary_group(&s, "", -1);
	struct buf why = {0};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct call_outcome o = {.end = CALL_RETURNED, .ns = 1000, .wait = WAIT_NO};
		for (int k = 0; k < rows[i].no; k++)
			summary_record(&s, g, syscall_native_arch(), rows[i].nr, &o);
		o.wait = WAIT_YES;
		for (int k = 0; k < rows[i].yes; k++)
			summary_record(&s, g, syscall_native_arch(), rows[i].nr, &o);
		o.wait = WAIT_UNKNOWN;
		for (int k = 0; k < rows[i].unknown; k++)
			summary_record(&s, g, syscall_native_arch(), rows[i].nr, &o);
		o.end = CALL_UNFINISHED;
		for (int k = 0; k < rows[i].unfinished; k++)
			summary_record(&s, g, syscall_native_arch(), rows[i].nr, &o);
	}
	struct summary_view v = {.width = 80, .sort = -1};
	assert_int_equal(summary_columns_parse("seconds,calls,waits,cpu", &v.columns, &why), 0);
	renders(&s, &v,
		"syscall                     seconds     calls    waits        cpu\n"
		"read                    0.000004000         4        1    3.00 us\n"
		"openat                  0.000003000         3        -   ~3.00 us\n"
		"futex                   0.000002000         2        2          -\n"
		"close                   0.000002000         2        -          -\n"
		"getppid                 0.000001000         2        -    1.00 us\n"
		"rt_sigsuspend           0.000000000         1        -          -\n"
		"                      ------------- --------- --------\n"
		"                        0.000012000        14        3\n");
	summary_free(&s);
	buf_free(&why);
}

static void truss_is_reproduced_exactly(void **state)
{
	(void)state;
	struct summary s = three_calls();
	struct summary_view v = {.format = SUMMARY_TRUSS};
	renders(&s, &v,
		"syscall                     seconds   calls  errors\n"
		"openat                  0.000012000       3       1\n"
		"read                    0.000004000       4       0\n"
		"close                   0.000000000       2       0\n"
		"                      ------------- ------- -------\n"
		"                        0.000016000       9       1\n");
	struct call_stats *c = summary_call(&s, s.groups.v[0], syscall_native_arch(), SYS_read);
	c->entered = c->returned = 123456789;
	c->ns = 20e9;
	renders(&s, &v,
		"syscall                     seconds   calls  errors\n"
		"read                   20.000000000 123456789       0\n"
		"openat                  0.000012000       3       1\n"
		"close                   0.000000000       2       0\n"
		"                      ------------- ------- -------\n"
		"                       20.000012000 123456794       1\n");
	summary_free(&s);
}

static void strace_is_reproduced_exactly(void **state)
{
	(void)state;
	struct summary s = three_calls();
	struct summary_view v = {.format = SUMMARY_STRACE};
	renders(&s, &v,
		"% time     seconds  usecs/call     calls    errors syscall\n"
		"------ ----------- ----------- --------- --------- ----------------\n"
		" 75.00    0.000012           4         3         1 openat\n"
		" 25.00    0.000004           1         4           read\n"
		"  0.00    0.000000           0         2           close\n"
		"------ ----------- ----------- --------- --------- ----------------\n"
		"100.00    0.000016           1         9         1 total\n");
	struct buf why = {0};
	assert_int_equal(summary_columns_parse("name,calls,max-time", &v.columns, &why), 0);
	assert_int_equal(summary_sort_parse("calls", &v.sort, &why), 0);
	renders(&s, &v,
		"syscall              calls  longest\n"
		"---------------- --------- --------\n"
		"read                     4 0.000001\n"
		"openat                   3 0.000005\n"
		"close                    2 0.000000\n"
		"---------------- --------- --------\n"
		"total                    9 0.000005\n");
	buf_free(&why);
	summary_free(&s);
}

static void csv_is_in_seconds(void **state)
{
	(void)state;
	struct summary s = three_calls();
	struct summary_view v = {.format = SUMMARY_CSV};
	struct buf out = {0};
	summary_render(&s, &v, &out);
	assert_non_null(strstr(buf_str(&out), "syscall,seconds,calls,errors,avg,p50,p99,max\n"));
	assert_non_null(strstr(buf_str(&out), "\nread,4e-06,4,0,1e-06,1e-06,1e-06,1e-06\n"));
	assert_non_null(strstr(buf_str(&out), "\nclose,,2,0,,,,\n"));
	assert_null(strstr(buf_str(&out), "total"));
	buf_free(&out);
	struct buf why = {0};
	assert_int_equal(summary_columns_parse("+bytes", &v.columns, &why), 0);
	summary_render(&s, &v, &out);
	assert_non_null(strstr(buf_str(&out), "syscall,seconds,calls,errors,avg,p50,p99,max,bytes\n"));
	buf_free(&out);
	buf_free(&why);
	summary_free(&s);
}

static void unfinished_and_doubtful_calls_are_marked(void **state)
{
	(void)state;
	struct summary s = {0};
	struct summary_group *g = summary_group(&s, "", -1);
	add(&s, g, SYS_read, 2, 1000, 0, 500);
	summary_record(&s, g, syscall_native_arch(), SYS_exit_group, &(struct call_outcome){.end = CALL_UNFINISHED});
	assert_false(has_text(&s, "unfinished"));
	summary_record(&s, g, syscall_native_arch(), SYS_flock, &(struct call_outcome){.end = CALL_UNFINISHED});
	renders(&s, &(struct summary_view){0},
		"syscall                     seconds     calls   errors unfinished        avg        p50        p99    "
		"    max\n"
		"read                    0.000002000         2        0          0   ~1.00 us   ~1.00 us   ~1.00 us   "
		"~1.00 us\n"
		"exit_group              0.000000000         1        0          1          -          -          -    "
		"      -\n"
		"flock                   0.000000000         1        0          1          -          -          -    "
		"      -\n"
		"                      ------------- --------- -------- ----------\n"
		"                        0.000002000         4        0          2\n");
	summary_free(&s);
}

static void groups_have_a_row_each(void **state)
{
	(void)state;
	struct summary s = {0};
	add(&s, summary_group(&s, "3</tmp/a>", -1), SYS_read, 2, 1000, 0, 1);
	add(&s, summary_group(&s, "4</tmp/\033[31mb>", -1), SYS_read, 1, 9000, 0, 1);
	add(&s, summary_group(&s, "5</tmp/\u65e5\u672c/e\u0301>", -1), SYS_read, 1, 500, 0, 1); /* wide, combining */
	summary_group(&s, "6<without calls>", -1);
	struct summary_view v = {.by = "fd"};
	struct buf why = {0};
	assert_int_equal(summary_columns_parse("seconds,calls,bytes", &v.columns, &why), 0);
	renders(&s, &v,
		"fd                          seconds     calls       bytes\n"
		"4</tmp/\\x1b[31mb>       0.000009000         1           1\n"
		"  read                  0.000009000         1           1\n"
		"3</tmp/a>               0.000002000         2           2\n"
		"  read                  0.000002000         2           2\n"
		"5</tmp/\u65e5\u672c/e\u0301>          0.000000500         1           1\n"
		"  read                  0.000000500         1           1\n"
		"                      ------------- --------- -----------\n"
		"                        0.000011500         4           4\n");
	v.format = SUMMARY_CSV;
	v.columns.n = 0;
	struct buf out = {0};
	summary_render(&s, &v, &out);
	assert_non_null(strstr(buf_str(&out), "fd,syscall,seconds,"));
	assert_non_null(strstr(buf_str(&out), "\n3</tmp/a>,read,2e-06,2,"));
	buf_free(&out);
	buf_free(&why);
	summary_free(&s);
}

static void requests_are_not_in_the_total(void **state)
{
	(void)state;
	struct summary s = three_calls();
	const struct call_outcome o = {.end = CALL_RETURNED, .ns = 9000, .error = true, .err = EIO, .bytes = 512};
	summary_record(&s, s.groups.v[0], SYSCALL_URING_ARCH, 1, &o);
	summary_record(&s, s.groups.v[0], SYSCALL_URING_ARCH, 250, &o);
	assert_true(has_text(&s, "io_uring:READV          0.000009000         1        1"));
	assert_true(has_text(&s, "io_uring:250            0.000009000         1        1"));
	assert_true(has_text(&s, "                        0.000016000         9        1\n"));
	assert_int_equal(summary_calls(&s), 9);
	/* These tools do not know such rows. */
	struct buf out = {0};
	summary_render(&s, &(struct summary_view){.format = SUMMARY_STRACE}, &out);
	summary_render(&s, &(struct summary_view){.format = SUMMARY_TRUSS}, &out);
	assert_null(strstr(buf_str(&out), "io_uring"));
	buf_free(&out);
	summary_free(&s);
}

static void words_are_checked(void **state)
{
	(void)state;
	struct buf why = {0};
	struct summary_columns c;
	enum summary_format f;
	int sort;
	assert_int_equal(summary_columns_parse("calls,erors", &c, &why), -EINVAL);
	assert_non_null(strstr(buf_str(&why), "'erors' is not a column"));
	assert_non_null(strstr(buf_str(&why), "did you mean errors?"));
	buf_clear(&why);
	assert_int_equal(summary_columns_parse("", &c, &why), -EINVAL);
	assert_int_equal(summary_sort_parse("none", &sort, &why), 0);
	assert_int_equal(sort, -1);
	assert_int_equal(summary_sort_parse("nam", &sort, &why), -EINVAL);
	assert_int_equal(summary_format_parse("truss", &f, &why), 0);
	assert_int_equal(f, SUMMARY_TRUSS);
	assert_int_equal(summary_format_parse("xml", &f, &why), -EINVAL);
	buf_free(&why);
}

static void errors_and_histograms(void **state)
{
	(void)state;
	struct summary s = three_calls();
	struct buf out = {0};
	summary_render_errors(&s, &out);
	assert_non_null(
		strstr(buf_str(&out), "openat                       1  ENOENT           No such file or directory\n"));
	buf_clear(&out);
	assert_true(summary_render_hist(&s, "openat", 80, &out));
	assert_non_null(strstr(buf_str(&out), " 2  66.7 % ###"));
	buf_clear(&out);
	assert_false(summary_render_hist(&s, "write", 80, &out));
	buf_free(&out);
	summary_free(&s);
}

/* Markdown joins the lines of a paragraph, so that the parts below the table must be blocks and lists. */
static void markdown_keeps_lines_apart(void **state)
{
	(void)state;
	struct summary s = three_calls();
	struct buf out = {0};
	struct summary_below below = {true, "openat", SUMMARY_MARKDOWN, 80};
	summary_render_below(&s, &below, "program: a_\nengine: b\n", &out);
	assert_int_equal(strncmp(buf_str(&out), "\n```\nfailed call ", 17), 0);
	assert_non_null(strstr(buf_str(&out), "No such file or directory\n```\n\n```\nopenat: time from"));
	assert_non_null(strstr(buf_str(&out), "###\n```\n\n- program: a\\_\n- engine: b\n"));
	buf_clear(&out);
	below = (struct summary_below){.hist = "write", .format = SUMMARY_MARKDOWN};
	summary_render_below(&s, &below, "engine: b\n", &out);
	assert_string_equal(buf_str(&out), "\n- engine: b\n");
	buf_clear(&out);
	below = (struct summary_below){.format = SUMMARY_TEXT, .width = 20};
	summary_render_below(&s, &below, "engine: patch, not ptrace\nend\n", &out);
	assert_string_equal(buf_str(&out), "engine: patch, not\n  ptrace\nend\n");
	buf_free(&out);
	summary_free(&s);
}

static void histograms_fit_on_a_screen(void **state)
{
	(void)state;
	static const struct {
		double first, factor;
		unsigned n;
	} shapes[] = {{1, 1.03, 900}, {100, 2, 34}, {50, 40, 7}, {1e6, 1.001, 3000}};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct summary s = {0};
		struct buf out = {0};
		double ns = shapes[i].first;
		struct summary_group *g = summary_group(&s, "", -1);
		for (unsigned k = 0; k < shapes[i].n; k++, ns *= shapes[i].factor)
			add(&s, g, SYS_read, 1 + k % 3, ns, 0, 0);
		assert_true(summary_render_hist(&s, "read", 80, &out));
		unsigned lines = 0, calls = 0, expected = 0;
		for (unsigned k = 0; k < shapes[i].n; k++)
			expected += 1 + k % 3;
		for (const char *p = buf_str(&out); *p; p += strcspn(p, "\n") + 1, lines++) {
			unsigned count;
			assert_true(strcspn(p, "\n") <= 80);
			calls += sscanf(p, "%*f %*s %u", &count) == 1 ? count : 0;
		}
		assert_true(lines <= 15);
		assert_int_equal(calls, expected);
		buf_free(&out);
		summary_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_has_trusss_columns_first),
		cmocka_unit_test(a_narrow_terminal_has_fewer_columns),
		cmocka_unit_test(waits_are_shown_if_there_are_any),
		cmocka_unit_test(cpu_time_is_that_of_calls_that_did_not_wait),
		cmocka_unit_test(truss_is_reproduced_exactly),
		cmocka_unit_test(strace_is_reproduced_exactly),
		cmocka_unit_test(csv_is_in_seconds),
		cmocka_unit_test(unfinished_and_doubtful_calls_are_marked),
		cmocka_unit_test(groups_have_a_row_each),
		cmocka_unit_test(requests_are_not_in_the_total),
		cmocka_unit_test(words_are_checked),
		cmocka_unit_test(errors_and_histograms),
		cmocka_unit_test(markdown_keeps_lines_apart),
		cmocka_unit_test(histograms_fit_on_a_screen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
