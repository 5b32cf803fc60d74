/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "trace/changes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A call of two traces: its counts, its errors, its durations, and the expected line ("": no change). */
struct row {
	char *call;
	uint64_t calls[2], errors[2];
	int err[2];
	uint64_t ns[2];
	const char *line;
};

static const struct row rows[] = {
	{"same()", {2, 2}, {1, 1}, {ENOENT, ENOENT}, {0, 0}, ""},
	{"gone()", {3, 1}, {0, 0}, {0, 0}, {0, 0}, "removed           3          1  gone()\n"},
	{"new()", {0, 2}, {0, 2}, {0, EPERM}, {0, 0}, "added             0          2  new()\n"},
	{"fails()", {1, 1}, {0, 1}, {0, EACCES}, {0, 0}, "fails            ok     EACCES  fails()\n"},
	{"differs()", {1, 1}, {1, 1}, {ENOENT, EPERM}, {0, 0}, "fails        ENOENT      EPERM  differs()\n"},
	{"works()", {2, 2}, {2, 0}, {ENOENT, 0}, {0, 0}, "succeeds   2 failed         ok  works()\n"},
	/* The medians are the middles of the histogram's buckets. */
	{"slow()", {10, 10}, {0, 0}, {0, 0}, {131072, 1048576}, "slower       133 us    1.06 ms  slow()\n"},
	{"twice()", {10, 10}, {0, 0}, {0, 0}, {1000, 2000}, ""}, /* longer by less than 100 us */
	{"rare()", {9, 9}, {0, 0}, {0, 0}, {131072, 1048576}, ""},
};

/* Fills in `made` from `row`, and makes it the only row of `t`. */
static void use_row(struct trace_tally *t, struct tally_row *made, const struct row *row)
{
	*made = (struct tally_row){.text = row->call};
	for (unsigned k = 0; k < 2; k++) {
		made->calls[k] = row->calls[k];
		made->errors[k] = row->errors[k];
		made->err[k] = row->err[k];
		hist_add(&made->ns[k], row->ns[k], row->calls[k]);
	}
	t->rows.n = 0;
	vec_push(&t->rows, made);
}

static void free_row(struct tally_row *made)
{
	hist_free(&made->ns[0]);
	hist_free(&made->ns[1]);
}

static void each_change_has_its_line(void **state)
{
	static const char head[] = "              first     second  call\n";
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trace_tally t = {0};
		struct tally_row made;
		struct buf text = {0};
		use_row(&t, &made, &rows[i]);
		trace_changes_text(&t, 0, &text);
		assert_int_equal(trace_changes_exist(&t), *rows[i].line != 0);
		assert_string_equal(buf_str(&text) + (text.len ? strlen(head) : 0), rows[i].line);
		buf_free(&text);
		free_row(&made);
		vec_free(&t.rows);
	}
}

static void lines_are_cut_only_to_a_known_width(void **state)
{
	static char call[] = "openat(AT_FDCWD, \"/a/path/that/is/longer/than/a/narrow/terminal\", O_RDONLY)";
	const struct row row = {call, {1, 0}, {0, 0}, {0, 0}, {0, 0}, ""};
	struct trace_tally t = {0};
	struct tally_row made;
	struct buf text = {0};
	(void)state;
	use_row(&t, &made, &row);
	trace_changes_text(&t, 0, &text);
	assert_non_null(strstr(buf_str(&text), "O_RDONLY)\n"));
	buf_clear(&text);
	trace_changes_text(&t, 60, &text);
	const char *line = strchr(buf_str(&text), '\n') + 1;
	assert_int_equal(strlen(line), 61);
	assert_string_equal(line + 57, "...\n");
	buf_free(&text);
	free_row(&made);
	vec_free(&t.rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_change_has_its_line),
		cmocka_unit_test(lines_are_cut_only_to_a_known_width),
	};
	return cmocka_run_group_tests_name("trace_changes", tests, NULL, NULL);
}
