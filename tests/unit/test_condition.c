/* SPDX-License-Identifier: MIT */
#include "run/condition.h"

#include "base/buf.h"
#include "stats/summary.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_conditions_of_a_budget(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool after_main, chosen;
		enum condition_metric metric;
		enum condition_operator op;
		double limit;
	} rows[] = {
		{"read<=100", false, true, CONDITION_CALLS, OP_AT_MOST, 100},
		{"calls<500", false, false, CONDITION_CALLS, OP_LESS, 500},
		{"errors=0", false, false, CONDITION_ERRORS, OP_EQUAL, 0},
		{"errors(openat,stat)==0", false, true, CONDITION_ERRORS, OP_EQUAL, 0},
		{"bytes(write)=1M", false, true, CONDITION_BYTES, OP_EQUAL, 1 << 20},
		{"main:calls>=20", true, false, CONDITION_CALLS, OP_AT_LEAST, 20},
		{"main:%file!=3", true, true, CONDITION_CALLS, OP_UNEQUAL, 3},
		{"!%file>3", false, true, CONDITION_CALLS, OP_MORE, 3},
		{"seconds(%desc)<1.5s", false, true, CONDITION_SECONDS, OP_LESS, 1.5},
		{"wall<0", false, false, CONDITION_WALL, OP_LESS, 0},
		{"cpu<=250ms", false, false, CONDITION_CPU, OP_AT_MOST, 0.25},
		{"peak_rss<64K", false, false, CONDITION_PEAK_RSS, OP_LESS, 65536},
	};
	struct buf all = {0};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		buf_addf(&all, "%s%s", i ? "," : "", rows[i].text);
	struct conditions c = {0};
	struct buf why = {0};
	size_t at;
	assert_int_equal(conditions_parse(&c, buf_str(&all), CONDITION_EXPECT, &at, &why), 0);
	assert_int_equal(c.list.n, sizeof(rows) / sizeof(*rows));
	for (size_t i = 0; i < c.list.n; i++) {
		assert_string_equal(c.list.v[i].text, rows[i].text);
		assert_int_equal(c.list.v[i].after_main, rows[i].after_main);
		assert_int_equal(c.list.v[i].chosen, rows[i].chosen);
		assert_int_equal(c.list.v[i].metric, rows[i].metric);
		assert_int_equal(c.list.v[i].op, rows[i].op);
		assert_true(c.list.v[i].limit == rows[i].limit);
		assert_false(c.list.v[i].percent);
	}
	assert_true(conditions_use_main(&c));
	conditions_free(&c);
	buf_free(&all);
}

static void test_blanks_between_words(void **state)
{
	(void)state;
	static const char *const texts[] = {"calls < 500", "errors( openat, stat ) == 0", "main: read<=3",
					    "wall < 250 ms", "bytes (write) = 1 M"};
	const double limits[] = {500, 0, 3, 0.25, 1 << 20};
	struct conditions c = {0};
	struct buf why = {0};
	size_t at;
	assert_int_equal(conditions_parse(&c,
					  " calls < 500, errors( openat, stat ) == 0,main: read<=3 ,\twall < 250 ms,"
					  "bytes (write) = 1 M ",
					  CONDITION_EXPECT, &at, &why),
			 0);
	assert_int_equal(c.list.n, 5);
	for (size_t i = 0; i < c.list.n; i++) {
		assert_string_equal(c.list.v[i].text, texts[i]);
		assert_true(c.list.v[i].limit == limits[i]);
	}
	assert_true(c.list.v[2].after_main);
	conditions_free(&c);
	assert_int_equal(conditions_parse(&c, "wall > 5 %, calls > 0", CONDITION_FAIL_IF, &at, &why), 0);
	assert_true(c.list.v[0].percent && c.list.v[0].limit == 5);
	conditions_free(&c);
}

static void test_limits_of_a_gate(void **state)
{
	(void)state;
	struct conditions c = {0};
	struct buf why = {0};
	size_t at;
	assert_int_equal(conditions_parse(&c, "wall>5%,throughput<-2.5%,wall>=-2ms,main:calls>0,read>1",
					  CONDITION_FAIL_IF, &at, &why),
			 0);
	assert_int_equal(c.list.n, 5);
	const double limits[] = {5, -2.5, -0.002, 0, 1};
	for (size_t i = 0; i < c.list.n; i++) {
		assert_int_equal(c.list.v[i].percent, i < 2);
		assert_true(c.list.v[i].limit == limits[i]);
	}
	assert_int_equal(condition_samples(&c.list.v[0]), METRIC_TIME);
	assert_int_equal(condition_samples(&c.list.v[1]), METRIC_THROUGHPUT);
	assert_int_equal(condition_samples(&c.list.v[3]), METRICS);
	conditions_free(&c);
}

static void test_mistakes(void **state)
{
	(void)state;
	static const struct {
		enum condition_use use;
		const char *text;
		size_t at;
		const char *told;
	} rows[] = {
		{CONDITION_EXPECT, "", 0, "a condition is missing"},
		{CONDITION_EXPECT, "read<2,", 7, "a condition is missing"},
		{CONDITION_EXPECT, "calls<2,raed<3", 8, "did you mean read?"},
		{CONDITION_EXPECT, "cals<3", 0, "did you mean calls?"},
		{CONDITION_EXPECT, "cals(read)<3", 0, "did you mean calls?"},
		{CONDITION_EXPECT, "calls(raed)<3", 6, "there is no call 'raed'; did you mean read?"},
		{CONDITION_EXPECT, "errors(openat, statt) = 0", 15, "did you mean stat or statx?"},
		{CONDITION_EXPECT, "calls<2,process=1", 8, "write %process for the calls of this group, or processes"},
		{CONDITION_FAIL_IF, "process>0", 0, "write %process for the calls of this group"},
		{CONDITION_EXPECT, "%fil<3", 0, "did you mean %file?"},
		{CONDITION_EXPECT, "read(3)<3", 0, "'read' is not a metric, but the calls that are counted; omit (3)"},
		{CONDITION_EXPECT, "%file(read)<3", 0, "'%file' is not a metric, but the calls that are counted"},
		{CONDITION_EXPECT, "mian:read<3", 0,
		 "'mian:' cannot be used here; only one main: can precede a metric"},
		{CONDITION_EXPECT, "main:main:read<3", 5, "'main:' cannot be used here"},
		{CONDITION_EXPECT, "read", 0, "'read' has no operator; write one of"},
		{CONDITION_EXPECT, "<3", 0, "a metric is missing"},
		{CONDITION_EXPECT, "read <= 3,  wall < 3", 19, "'3' is not a limit for wall"},
		{CONDITION_EXPECT, "read < 3 write < 3", 7, "'3 write < 3' is not a limit"},
		{CONDITION_EXPECT, "read < 1 000", 7, "'1 000' is not a limit"},
		{CONDITION_EXPECT, " , read < 3", 1, "a condition is missing"},
		{CONDITION_EXPECT, "read<>3", 4, "'<>' cannot be used here"},
		{CONDITION_EXPECT, "read<", 5, "an empty string is not a limit for calls"},
		{CONDITION_EXPECT, "read<3%", 5, "'3%' is not a limit for calls"},
		{CONDITION_EXPECT, "read<-3", 5, "'-3' is not a limit"},
		{CONDITION_EXPECT, "read<0x3", 5, "'0x3' is not a limit"},
		{CONDITION_EXPECT, "bytes<3q", 6, "write a size, for example 4096, 64K or 1M"},
		{CONDITION_EXPECT, "wall<3", 5, "write a time with its unit"},
		{CONDITION_EXPECT, "bytes(read<3", 0, "lacks a closing parenthesis"},
		{CONDITION_EXPECT, "errors(read)", 0, "'errors(read)' has no operator; write one of"},
		{CONDITION_EXPECT, "main:wall<3s", 5, "cannot be used with 'wall'"},
		{CONDITION_EXPECT, "minor_faults<3", 0, "neither a metric"},
		{CONDITION_EXPECT, "bytes(openat)<3", 6, "'openat' does not return a number of bytes"},
		{CONDITION_EXPECT, "bytes(recvmsg, recvmmsg)>0", 15, "such as read or write; did you mean recvmsg?"},
		{CONDITION_EXPECT, "bytes(%signal)=0", 6, "'%signal' does not return a number of bytes"},
		{CONDITION_FAIL_IF, "bytes(openat)>5%", 6, "'openat' does not return a number of bytes"},
		{CONDITION_FAIL_IF, "calls=0", 5, "'=' cannot be used here; the operators are <= >= < >"},
		{CONDITION_FAIL_IF, "wall>5x", 5, "or a percentage, for example 5%"},
		{CONDITION_FAIL_IF, "wall>nan%", 5, "'nan%' is not a limit"},
		{CONDITION_FAIL_IF, "wal>5%", 0, "did you mean wall?"},
		{CONDITION_FAIL_IF, "main:read>5%", 5, "main: needs 'calls' here, as in main:calls>0"},
		{CONDITION_FAIL_IF, "main:wall>5%", 5,
		 "main: excludes the calls before main; it cannot be used with 'wall'"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct conditions c = {0};
		struct buf why = {0};
		size_t at = 99;
		assert_int_equal(conditions_parse(&c, rows[i].text, rows[i].use, &at, &why), -EINVAL);
		if (!strstr(buf_str(&why), rows[i].told))
			fail_msg("%s: %s", rows[i].text, buf_str(&why));
		assert_int_equal(at, rows[i].at);
		conditions_free(&c);
		buf_free(&why);
	}
}

static void test_bytes_of_calls_that_return_them(void **state)
{
	(void)state;
	static const char *const texts[] = {"bytes(read)>0", "bytes(%desc , /^p?write)>0",
					    "bytes(0,1)>0",  "bytes(send)>0",
					    "bytes(all)>0",  "bytes(!read)>0",
					    "bytes(?xyz)>0", "bytes(none)=0"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct conditions c = {0};
		struct buf why = {0};
		size_t at;
		if (conditions_parse(&c, texts[i], CONDITION_EXPECT, &at, &why) < 0)
			fail_msg("%s: %s", texts[i], buf_str(&why));
		conditions_free(&c);
	}
}

static void add(struct summary *s, const char *name, int errors, uint64_t bytes)
{
	struct summary_group *g = summary_group(s, "", -1);
	int64_t nr = syscall_number(syscall_native_arch(), name);
	for (int i = 0; i < 4; i++)
		summary_record(s, g, syscall_native_arch(), nr,
			       &(struct call_outcome){.end = CALL_RETURNED,
						      .ns = 1000,
						      .error = i < errors,
						      .err = i < errors ? ENOENT : 0,
						      .bytes = bytes});
}

static void test_sums(void **state)
{
	(void)state;
	struct summary s = {0};
	add(&s, "read", 0, 100);
	add(&s, "write", 1, 10);
	add(&s, "openat", 3, 0);
	static const struct {
		const char *text;
		double sum;
		bool holds;
	} rows[] = {
		{"calls=12", 12, true},          {"read<4", 4, false},
		{"%file<=4", 4, true},           {"errors>3", 4, true},
		{"errors(openat)!=3", 3, false}, {"bytes=440", 440, true},
		{"bytes(write)>=41", 40, false}, {"seconds(read)<5us", 4e-6, true},
		{"calls(!read)=8", 8, true},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct conditions c = {0};
		struct buf why = {0};
		size_t at;
		assert_int_equal(conditions_parse(&c, rows[i].text, CONDITION_EXPECT, &at, &why), 0);
		double sum = condition_sum(&c.list.v[0], &s);
		assert_true(fabs(sum - rows[i].sum) < 1e-12);
		assert_int_equal(condition_holds(&c.list.v[0], sum), rows[i].holds);
		assert_false(condition_holds(&c.list.v[0], NAN));
		conditions_free(&c);
	}
	summary_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conditions_of_a_budget),
		cmocka_unit_test(test_blanks_between_words),
		cmocka_unit_test(test_limits_of_a_gate),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_bytes_of_calls_that_return_them),
		cmocka_unit_test(test_sums),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
