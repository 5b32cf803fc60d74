/* SPDX-License-Identifier: MIT */
#include "engine/costs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept_place.h"

static int make_place(void **state)
{
	return make_place_for("sctrace-costs.json", state);
}

static void keep(const char *name, double traced, double native, struct cost_numbers *least)
{
	struct costs *c = costs_open();
	costs_keep(c, name, &(struct cost_numbers){{traced, native, traced / 10}}, least);
	costs_close(c);
}

static int find(const char *name, struct cost_numbers *least)
{
	struct costs *c = costs_open();
	int r = costs_find(c, name, least);
	costs_close(c);
	return r;
}

static void test_least_of_five(void **state)
{
	const struct place *p = *state;
	static const double traced[COSTS_MEASURED] = {300, 200, 400, 250, 350};
	static const double native[COSTS_MEASURED] = {110, 150, 120, 100, 240};
	struct cost_numbers n;
	struct stat st;
	for (int i = 0; i < COSTS_MEASURED; i++) {
		assert_int_not_equal(find("a", &n), 0);
		keep("a", traced[i], native[i], &n);
		assert_true(n.v[COST_TRACED] == (i == 0 ? 300 : 200) && n.v[COST_NATIVE] == (i < 3 ? 110 : 100));
	}
	assert_int_equal(find("a", &n), 0);
	assert_true(cost_of(&n) == 100 && n.v[COST_SPREAD] == 20);
	assert_int_not_equal(find("b", &n), 0);
	assert_int_equal(stat(p->file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void write_file(const struct place *p, const char *text)
{
	FILE *f = fopen(p->file, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A file of costs is ignored and replaced if it is from another boot or another program, or if it is incomplete. */
static void test_foreign_files(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"[1]",
		"{\"machine\":\"another\",\"measured\":{\"a\":[[1,1,0,0],[1,1,0,0],[1,1,0,0],[1,1,0,0],[1,1,0,0]]}}",
	};
	struct cost_numbers n;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		write_file(*state, texts[i]);
		assert_int_not_equal(find("a", &n), 0);
		keep("a", 50, 5, &n);
		assert_true(n.v[0] == 50);
	}
}

static void test_nowhere_to_keep(void **state)
{
	const struct place *p = *state;
	static const char *const dirs[] = {"", "relative", "/nonexistent"};
	struct cost_numbers n;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		setenv("XDG_RUNTIME_DIR", dirs[i], 1);
		keep("a", 7, 1, &n);
		assert_true(n.v[0] == 7);
		assert_int_not_equal(find("a", &n), 0);
	}
	setenv("XDG_RUNTIME_DIR", p->dir, 1);
	assert_int_equal(chmod(p->dir, 0777), 0); /* other users could write to the folder */
	keep("a", 7, 1, &n);
	assert_int_not_equal(access(p->file, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_least_of_five, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_foreign_files, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_nowhere_to_keep, make_place, remove_place),
	};
	return cmocka_run_group_tests_name("costs", tests, NULL, NULL);
}
