/* SPDX-License-Identifier: MIT */
#include "syscall/filter.h"

#include "base/buf.h"
#include "event.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

static bool in(const struct filter *f, long nr)
{
	return filter_matches(f, syscall_native_arch(), nr);
}

static struct filter parse(const char *text)
{
	struct filter f = {0};
	struct buf why = {0};
	size_t at;
	assert_int_equal(filter_parse(&f, text, &at, &why), 0);
	buf_free(&why);
	return f;
}

static void words_of_every_kind(void **state)
{
	(void)state;
	struct filter f = parse("openat,%network,/^getp,syscall_0x1c9,?nothing_like_it,?/^nothing");
	assert_true(in(&f, SYS_openat));
	assert_true(in(&f, SYS_socket));
	assert_true(in(&f, SYS_getppid));
	assert_true(in(&f, 0x1c9));
	assert_false(in(&f, SYS_read));
	assert_false(in(&f, 1000000));
	filter_free(&f);
	f = parse("!read,write");
	assert_false(in(&f, SYS_read));
	assert_false(in(&f, SYS_write));
	assert_true(in(&f, SYS_close));
	assert_true(in(&f, -1));
	assert_true(in(&f, 1000000));
	filter_free(&f);
	f = parse("none");
	assert_false(in(&f, SYS_read));
	filter_free(&f);
	f = parse("!none");
	assert_true(in(&f, SYS_read));
	filter_free(&f);
	f = parse("all");
	assert_true(in(&f, SYS_read));
	assert_true(in(&f, 1000000));
	filter_free(&f);
}

static void calls_of_other_architectures_are_selected_by_name(void **state)
{
	(void)state;
	const uint32_t i386 = 0x40000003; /* AUDIT_ARCH_I386 */
	struct filter f = parse("read");
	assert_true(filter_matches(&f, i386, 3));
	assert_false(filter_matches(&f, i386, 0));
	/* The description of an event's call determines whether it is selected, not the number. */
	struct call read = {.arch = i386, .nr = 3, .desc = syscall_lookup(i386, 3)};
	struct call write = {.arch = i386, .nr = 4, .desc = syscall_lookup(i386, 4)};
	assert_true(filter_takes(&f, &read));
	assert_false(filter_takes(&f, &write));
	filter_free(&f);
}

static void mistakes_are_marked(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t at;
		const char *says;
	} cases[] = {
		{"read,opnat", 5, "there is no call 'opnat'; did you mean openat"},
		{"%desc,!close", 6, "there is no call '!close'; a ! must be at the start of the set"},
		{"read@64", 0, "there is no call 'read@64'; calls cannot be selected by ABI; omit @64"},
		{"%file@32", 0, "there is no group '%file@32'; calls cannot be selected by ABI; omit @32"},
		{"!%fil", 1, "there is no group '%fil'; did you mean %file"},
		{"read,,write", 5, "the name of a call is missing"},
		{"", 0, "the name of a call is missing"},
		{"close,/(", 6, "'/(' is not a valid regular expression: "},
		{"close,/^re/", 6, "the regular expression '/^re/' matches no call; omit the / at its end"},
		{"!/^opne", 1, "the regular expression '/^opne' matches no call"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct filter f = {0};
		struct buf why = {0};
		size_t at = 99;
		assert_int_equal(filter_parse(&f, cases[i].text, &at, &why), -EINVAL);
		assert_int_equal(at, cases[i].at);
		assert_non_null(strstr(buf_str(&why), cases[i].says));
		buf_free(&why);
		filter_free(&f);
	}
}

static void overlaps_of_sets(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		bool overlap;
	} rows[] = {
		{"read", "read,write", true}, {"read", "write", false},  {"%file", "openat", true},
		{"!read", "read", false},     {"!read", "!write", true}, {"none", "all", false},
		{"send", "send,recv", true},  {"send", "recv", false},   {"/^open", "openat2", true},
		{"9999", "9999", true},       {"9999", "!9999", false},  {"?xyz", "all", false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct filter a = {0}, b = {0};
		struct buf why = {0};
		size_t at;
		assert_int_equal(filter_parse(&a, rows[i].a, &at, &why), 0);
		assert_int_equal(filter_parse(&b, rows[i].b, &at, &why), 0);
		if (filter_overlaps(&a, &b) != rows[i].overlap || filter_overlaps(&b, &a) != rows[i].overlap)
			fail_msg("%s and %s", rows[i].a, rows[i].b);
		filter_free(&a);
		filter_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_every_kind),
		cmocka_unit_test(calls_of_other_architectures_are_selected_by_name),
		cmocka_unit_test(mistakes_are_marked),
		cmocka_unit_test(overlaps_of_sets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
