/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "out/table.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct column columns[] = {
	{"name", "name", 0},
	{"wall_s", "wall", COL_RIGHT},
	{"calls", "calls", COL_RIGHT | COL_OPTIONAL},
	{"bar", "", COL_TEXT_ONLY},
	{"seed", "seed", COL_RIGHT | COL_DATA_ONLY},
};

static struct table *sample(void)
{
	struct table *t = table_new(columns, sizeof(columns) / sizeof(*columns));
	table_row(t);
	table_string(t, 0, "read, \"write\"");
	table_real(t, 1, 0.25, "250 ms");
	table_integer(t, 2, 12, NULL);
	table_string(t, 3, "███");
	table_integer(t, 4, 7, NULL);
	table_row(t);
	table_string(t, 0, "é|x");
	table_real(t, 1, NAN, NULL);
	table_integer(t, 2, 1048576, "1,048,576");
	table_total(t);
	table_string(t, 0, "all");
	table_integer(t, 2, 1048588, NULL);
	return t;
}

static char *render(struct table *t, enum table_format format, const struct table_look *look)
{
	struct buf b = {0};
	table_render(t, format, look, &b);
	table_free(t);
	return buf_take(&b);
}

static void text_is_aligned(void **state)
{
	(void)state;
	char *s = render(sample(), TABLE_TEXT, NULL);
	assert_string_equal(s, "name             wall      calls\n"
			       "read, \"write\"  250 ms         12  ███\n"
			       "é|x                    1,048,576\n"
			       "                       ---------\n"
			       "all                      1048588\n");
	free(s);
}

static void narrow_terminals_lose_optional_columns_then_text(void **state)
{
	(void)state;
	char *s = render(sample(), TABLE_TEXT, &(struct table_look){.width = 30, .indent = "  "});
	assert_null(strstr(s, "calls"));
	assert_non_null(strstr(s, "  name             wall\n"));
	free(s);
	s = render(sample(), TABLE_TEXT, &(struct table_look){.width = 19});
	assert_string_equal(s, "name      wall\n"
			       "read,…  250 ms  ███\n"
			       "é|x\n"
			       "all\n");
	free(s);
}

/* Optional columns are left out first, then spare ones, in both cases from the right. Text is only cut after that. */
static void narrower_ones_lose_spare_columns_before_text(void **state)
{
	(void)state;
	static const struct column c[] = {{"name", "name", 0},
					  {"q1", "q1", COL_RIGHT | COL_SPARE},
					  {"median", "median", COL_RIGHT},
					  {"n", "n", COL_RIGHT | COL_OPTIONAL},
					  {"q3", "q3", COL_RIGHT | COL_SPARE}};
	static const struct {
		int width;
		const char *head;
	} rows[] = {{28, "name       q1  median  n  q3\n"},
		    {27, "name       q1  median  q3\n"},
		    {24, "name       q1  median\n"},
		    {20, "name       median\n"},
		    {16, "name      median\n"},
		    {14, "name    median\n"},
		    /* This is too narrow even for cut text, so the text is shown in full. */
		    {13, "name       median\nmonotonic"}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct table *t = table_new(c, sizeof(c) / sizeof(*c));
		table_row(t);
		table_string(t, 0, "monotonic");
		char *s = render(t, TABLE_TEXT, &(struct table_look){.width = rows[i].width});
		if (strncmp(s, rows[i].head, strlen(rows[i].head)) != 0)
			fail_msg("%d columns: %s", rows[i].width, s);
		free(s);
	}
}

static void joined_columns_go_together(void **state)
{
	(void)state;
	static const struct column c[] = {{"name", "name", 0},
					  {"s1", "s of a", COL_RIGHT | COL_OPTIONAL},
					  {"s2", "s of b", COL_RIGHT | COL_OPTIONAL | COL_JOINED},
					  {"p1", "p of a", COL_RIGHT | COL_OPTIONAL},
					  {"p2", "p of b", COL_RIGHT | COL_OPTIONAL | COL_JOINED}};
	static const char *const heads[] = {
		[36] = "name  s of a  s of b  p of a  p of b\n", [35] = "name  s of a  s of b\n", [19] = "name\n"};
	for (int width = 36; width >= 19; width -= width == 36 ? 1 : 16) {
		struct table *t = table_new(c, sizeof(c) / sizeof(*c));
		table_row(t);
		char *s = render(t, TABLE_TEXT, &(struct table_look){.width = width});
		if (strncmp(s, heads[width], strlen(heads[width])) != 0)
			fail_msg("%d columns: %s", width, s);
		free(s);
	}
}

/* Columns of equal rank that do not fit follow in further tables, even if a single one of them is too wide. */
static void columns_continue_below(void **state)
{
	(void)state;
	static const struct column c[] = {{"run", "run", COL_TAIL},
					  {"a", "none", COL_RIGHT | COL_CONTINUED},
					  {"b", "net", COL_RIGHT | COL_CONTINUED},
					  {"c", "suite+net", COL_RIGHT | COL_CONTINUED}};
	static const struct {
		int width;
		const char *text;
	} rows[] = {{25, "run  none  net  suite+net\nold     1    2          3\n"},
		    {24, "run  none  net\nold     1    2\n\nrun  suite+net\nold          3\n"},
		    {10, "run  none\nold     1\n\nrun  net\nold    2\n\nrun  suite+net\nold          3\n"}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct table *t = table_new(c, sizeof(c) / sizeof(*c));
		table_row(t);
		table_string(t, 0, "old");
		for (size_t k = 1; k < sizeof(c) / sizeof(*c); k++)
			table_integer(t, k, (long long)k, NULL);
		char *s = render(t, TABLE_TEXT, &(struct table_look){.width = rows[i].width});
		assert_string_equal(s, rows[i].text);
		free(s);
	}
}

static void empty_columns_can_be_hidden(void **state)
{
	(void)state;
	static const struct {
		const char *value, *text;
	} rows[] = {{"", "name\nx\n"}, {"2", "name  wall\nx        2\n"}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct table *t = table_new(columns, 2);
		table_row(t);
		table_string(t, 0, "x");
		table_string(t, 1, rows[i].value);
		table_hide_if_empty(t, 0);
		table_hide_if_empty(t, 1);
		char *s = render(t, TABLE_TEXT, NULL);
		assert_string_equal(s, rows[i].text);
		free(s);
	}
}

static void colour_only_where_asked(void **state)
{
	(void)state;
	struct table *t = sample();
	table_mark_row(t, MARK_BAD);
	char *s = render(t, TABLE_TEXT, &(struct table_look){.colour = true});
	assert_non_null(strstr(s, "\033[31m"));
	free(s);
	t = sample();
	table_mark_row(t, MARK_BAD);
	s = render(t, TABLE_TEXT, NULL);
	assert_null(strchr(s, '\033'));
	free(s);
}

static void csv_follows_rfc_4180(void **state)
{
	(void)state;
	char *s = render(sample(), TABLE_CSV, NULL);
	assert_string_equal(s, "name,wall_s,calls,seed\n"
			       "\"read, \"\"write\"\"\",0.25,12,7\n"
			       "é|x,,1048576,\n");
	free(s);
}

/*
 * Text that a spreadsheet would take for a formula is written so that it stays text. Flags and numbers are unchanged.
 */
static void csv_holds_no_formula(void **state)
{
	static const struct column one[] = {{"name", "name", 0}};
	static const char *const texts[] = {"=1+1", "@SUM(1)", "-2+cmd|' /C calc'!A0", "-O2", "+1", "-", "="};
	struct table *t = table_new(one, 1);
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		table_row(t);
		table_string(t, 0, texts[i]);
	}
	char *s = render(t, TABLE_CSV, NULL);
	assert_string_equal(s, "name\n\\x3d1+1\n\\x40SUM(1)\n\\x2d2+cmd|' /C calc'!A0\n-O2\n+1\n-\n=\n");
	free(s);
}

static void markdown_escapes_bars(void **state)
{
	(void)state;
	char *s = render(sample(), TABLE_MARKDOWN, NULL);
	assert_non_null(strstr(s, "| name | wall | calls |  |\n| --- | ---: | ---: | --- |\n"));
	assert_non_null(strstr(s, "| é\\|x |  | 1,048,576 |  |\n"));
	assert_non_null(strstr(s, "| **all** |"));
	free(s);
}

static void json_has_values_and_nulls(void **state)
{
	(void)state;
	char *s = render(sample(), TABLE_JSON, NULL);
	json_t *a = json_loads(s, 0, NULL);
	assert_int_equal(json_array_size(a), 2);
	json_t *first = json_array_get(a, 0);
	assert_string_equal(json_string_value(json_object_get(first, "name")), "read, \"write\"");
	assert_true(json_real_value(json_object_get(first, "wall_s")) == 0.25);
	assert_int_equal(json_integer_value(json_object_get(first, "seed")), 7);
	assert_null(json_object_get(first, "bar"));
	assert_true(json_is_null(json_object_get(json_array_get(a, 1), "wall_s")));
	json_decref(a);
	free(s);
}

/* A file name may contain anything. None of its bytes reaches a terminal or a page as a command. */
static void foreign_text_is_harmless(void **state)
{
	(void)state;
	for (enum table_format f = TABLE_TEXT; f <= TABLE_HTML; f++) {
		struct table *t = table_new(columns, 1);
		table_row(t);
		table_string(t, 0, "a\033[2J\n\xff<b>");
		table_row(t);
		table_string(t, 0, "\x7f \xc2\x9b- \xe2\x80\xae.");
		char *s = render(t, f, NULL);
		assert_null(strchr(s, '\033'));
		assert_null(strchr(s, '\xff'));
		assert_null(strchr(s, 0x7f));
		assert_null(strstr(s, "\xc2\x9b"));
		assert_null(strstr(s, "\xe2\x80\xae"));
		assert_true(f != TABLE_JSON || strstr(s, "\\u007f \\u009b- \\u202e."));
		assert_true(f != TABLE_HTML || !strstr(s, "<b>"));
		free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_aligned),
		cmocka_unit_test(narrow_terminals_lose_optional_columns_then_text),
		cmocka_unit_test(narrower_ones_lose_spare_columns_before_text),
		cmocka_unit_test(joined_columns_go_together),
		cmocka_unit_test(columns_continue_below),
		cmocka_unit_test(empty_columns_can_be_hidden),
		cmocka_unit_test(colour_only_where_asked),
		cmocka_unit_test(csv_follows_rfc_4180),
		cmocka_unit_test(csv_holds_no_formula),
		cmocka_unit_test(markdown_escapes_bars),
		cmocka_unit_test(json_has_values_and_nulls),
		cmocka_unit_test(foreign_text_is_harmless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
