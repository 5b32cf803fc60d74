/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "out/html.h"
#include "out/table.h"
#include "present/page.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define HOSTILE "</title><script>alert(1)</script>\033["

static int draw(void *ctx, int width, struct buf *out)
{
	buf_addf(out, "<svg width=\"%d\"></svg>", width);
	return *(int *)ctx;
}

static size_t count(const char *s, const char *what)
{
	size_t n = 0;
	for (; (s = strstr(s, what)); s += strlen(what))
		n++;
	return n;
}

/* A page has only sctrace's script, loads no other file, and shows text from the traced program as text. */
static void a_page_holds_all_it_needs_and_nothing_else(void **state)
{
	(void)state;
	struct buf b = {0};
	int ok = 0;
	int nothing = -EINVAL;
	struct table *t = table_new(&(struct column){"name", HOSTILE, 0}, 1);
	table_row(t);
	table_string(t, 0, HOSTILE);
	struct run one, other;
	run_init(&one, "compare", 0, NULL);
	run_init(&other, "compare", 0, NULL);
	one.env.known = true;
	field_set(&one.env.host, HOSTILE);
	field_set(&other.env.host, HOSTILE);
	one.env.cpu.online = 2;
	other.env.cpu.online = 4;
	strings_add(&one.env.kernel.debug_options, HOSTILE);
	strings_add(&other.env.kernel.debug_options, "a");
	const struct page_run runs[] = {{&one, HOSTILE, ""}, {&other, "b", ""}};
	html_begin(&b, HOSTILE, HOSTILE);
	html_lessons(&b, HOSTILE, "one\n" HOSTILE);
	html_warnings(&b, HOSTILE, HOSTILE);
	html_warnings(&b, "none", "");
	html_table(&b, HOSTILE, t, HOSTILE);
	html_figure(&b, draw, &ok);
	html_figure(&b, draw, &nothing);
	machine_html(runs, 2, &b);
	html_end(&b, HOSTILE);
	assert_int_equal(count(b.s, "<script>"), 1);
	assert_int_equal(count(b.s, "alert(1)&lt;/script&gt;"), count(b.s, "alert(1)"));
	assert_null(strchr(b.s, '\033'));
	assert_null(strstr(b.s, "http://"));
	assert_null(strstr(b.s, "https://"));
	assert_null(strstr(b.s, "src=\""));
	assert_null(strstr(b.s, "href="));
	assert_int_equal(count(b.s, "<figure>"), 1);
	assert_int_equal(count(b.s, "<svg"), 2);
	assert_int_equal(count(b.s, "<tr class=\"diff\">"), 2);
	assert_int_equal(count(b.s, "<section class=\"warn\">"), 1);
	assert_int_equal(count(b.s, "<div"), count(b.s, "</div>"));
	table_free(t);
	run_free(&one);
	run_free(&other);
	buf_free(&b);
}

/* The browser breaks no line within an option, or between a number and its percent sign. */
static void options_are_not_broken(void **state)
{
	(void)state;
	struct buf b = {0};
	html_lessons(&b, "Beware", "use more --runs=<5>, or 9 % less\n\nplain");
	assert_string_equal(buf_str(&b), "<h2>Beware</h2>\n<ul class=\"see\">\n<li>use more <span class=\"whole\">"
					 "--runs=&lt;5&gt;,</span> or 9&#160;% less</li>\n<li>plain</li>\n</ul>\n");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_page_holds_all_it_needs_and_nothing_else),
					   cmocka_unit_test(options_are_not_broken)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
