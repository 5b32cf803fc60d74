/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "engine/patch/image/image_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept_place.h"

static int make_place(void **state)
{
	return make_place_for("sctrace-sites", state);
}

static struct plan plan_at(uint64_t offset)
{
	struct plan plan;
	memset(&plan, 0, sizeof(plan));
	strcpy(plan.program, "prog");
	plan.offset = 1000 * offset;
	plan.kind = SITE_SHORT;
	plan.nchanges = 2;
	plan.change[0].len = 5;
	plan.change[0].delta = 100;
	plan.change[1].len = 2;
	plan.change[1].delta = -2;
	return plan;
}

/* Keeps the first `n` plans for a file, in a run that learned them from a program of this user. */
static void keep(uint64_t ino, int64_t changed, size_t n, uint32_t uid)
{
	struct patch p = {.kept = kept_plans_open(7)};
	struct module mod = {.dev = 1, .ino = ino, .changed = changed};
	struct module *const mods[] = {&mod};
	assert_non_null(p.kept);
	kept_plans_add(&p, &mod, "prog");
	for (size_t i = 0; i < n; i++) {
		struct plan plan = plan_at(i);
		plan.owner.uid = uid;
		module_add(&p, &mod, &plan);
	}
	kept_plans_save(p.kept, mods, 1);
	vec_free(&mod.plans);
	kept_plans_close(p.kept);
}

/* Returns the number of plans that are kept for a file and a program. */
static size_t kept_for(const char *program, uint64_t ino, int64_t changed, uint64_t rights)
{
	struct patch p = {.kept = kept_plans_open(rights)};
	struct module mod = {.dev = 1, .ino = ino, .changed = changed};
	kept_plans_add(&p, &mod, program);
	size_t n = mod.plans.n;
	for (size_t i = 0; i < n; i++) {
		const struct plan expected = plan_at(i);
		assert_memory_equal(&mod.plans.v[i], &expected, sizeof(expected));
	}
	assert_int_equal(p.nplans, n);
	kept_plans_add(&p, &mod, program); /* adds nothing */
	assert_int_equal(mod.plans.n, n);
	vec_free(&mod.plans);
	kept_plans_close(p.kept);
	return n;
}

static size_t kept(uint64_t ino, int64_t changed, uint64_t rights)
{
	return kept_for("prog", ino, changed, rights);
}

static void test_same_file_and_program_only(void **state)
{
	const struct place *p = *state;
	struct stat st;
	assert_int_equal(kept(5, 9, 7), 0);
	keep(5, 9, 3, 0);
	assert_int_equal(kept(5, 9, 7), 3);
	assert_int_equal(kept(6, 9, 7), 0);
	assert_int_equal(kept_for("other", 5, 9, 7), 0);
	assert_int_equal(kept(5, 10, 7), 0); /* the file was changed */
	assert_int_equal(kept(5, 9, 6), 0);  /* sctrace has other capabilities */
	assert_int_equal(stat(p->file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	keep(5, 10, 2, 0);
	assert_int_equal(kept(5, 9, 7), 0);
	assert_int_equal(kept(5, 10, 7), 2);
}

static void test_not_kept(void **state)
{
	(void)state;
	keep(5, 0, 3, 0); /* the time of the last change is not known */
	assert_int_equal(kept(5, 0, 7), 0);
	keep(5, 9, 3, 1000); /* the file was mapped by another user's program */
	assert_int_equal(kept(5, 9, 7), 0);
}

/* If too many plans are kept, those of the latest runs remain. */
static void test_limit(void **state)
{
	(void)state;
	keep(1, 9, 500, 0);
	keep(2, 9, 500, 0);
	assert_int_equal(kept(1, 9, 7), 500);
	keep(3, 9, 500, 0);
	assert_int_equal(kept(3, 9, 7), 500);
	assert_int_equal(kept(2, 9, 7), 500);
	assert_int_equal(kept(1, 9, 7), KEPT_PLANS_MAX - 1000);
}

/* A run that uses only some of the plans keeps the others, too. */
static void test_unused_plans_stay(void **state)
{
	(void)state;
	struct plan other = plan_at(0);
	struct patch p = {.kept = kept_plans_open(7)};
	struct module mod = {.dev = 1, .ino = 5, .changed = 9};
	struct module *const mods[] = {&mod};
	keep(5, 9, 3, 0);
	strcpy(other.program, "other");
	module_add(&p, &mod, &other);
	kept_plans_save(p.kept, mods, 1); /* this run began before the plans of "prog" were kept */
	assert_int_equal(kept(5, 9, 7), 0);
	kept_plans_close(p.kept);
	keep(5, 9, 3, 0);
	p.kept = kept_plans_open(7);
	assert_true(kept_plans_exist(p.kept, "prog") && kept_plans_exist(p.kept, "other"));
	assert_false(kept_plans_exist(p.kept, "another"));
	kept_plans_add(&p, &mod, "prog"); /* the first one overlaps the plan of "other" */
	assert_int_equal(mod.plans.n, 3);
	assert_false(kept_plans_exist(p.kept, "prog"));
	kept_plans_save(p.kept, mods, 1);
	kept_plans_close(p.kept);
	vec_free(&mod.plans);
	p.kept = kept_plans_open(7);
	kept_plans_add(&p, &mod, "prog");
	assert_int_equal(mod.plans.n, 3);
	vec_free(&mod.plans);
	kept_plans_close(p.kept);
}

/* Applies `damage` to the contents of the file, which has one plan. */
static void damage_file(const struct place *p, void (*damage)(unsigned char *bytes, size_t *size))
{
	unsigned char bytes[4096];
	FILE *f = fopen(p->file, "r");
	assert_non_null(f);
	size_t size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	damage(bytes, &size);
	f = fopen(p->file, "w");
	assert_non_null(f);
	fwrite(bytes, 1, size, f);
	fclose(f);
}

static struct plan *plan_in(unsigned char *bytes, size_t size)
{
	return (struct plan *)(void *)(bytes + size - 8 - sizeof(struct plan)); /* the state of the entry follows */
}

static void truncate_it(unsigned char *bytes, size_t *size)
{
	(void)bytes;
	*size -= 1;
}

static void empty_it(unsigned char *bytes, size_t *size)
{
	(void)bytes;
	*size = 0;
}

static void change_machine(unsigned char *bytes, size_t *size)
{
	(void)size;
	bytes[0] ^= 1;
}

static void add_changes(unsigned char *bytes, size_t *size)
{
	plan_in(bytes, *size)->nchanges = 7;
}

static void change_kind(unsigned char *bytes, size_t *size)
{
	plan_in(bytes, *size)->kind = SITE_HOPELESS;
}

static void lengthen_change(unsigned char *bytes, size_t *size)
{
	plan_in(bytes, *size)->change[1].len = 200;
}

static void move_too_much(unsigned char *bytes, size_t *size)
{
	struct plan *plan = plan_in(bytes, *size);
	plan->kind = SITE_LONG;
	plan->nchanges = 1;
	plan->moved = RELOCATE_MAX + 1;
}

static void test_damaged_files(void **state)
{
	static void (*const damages[])(unsigned char *, size_t *) = {
		truncate_it, empty_it, change_machine, add_changes, change_kind, lengthen_change, move_too_much,
	};
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		keep(5, 9, 1, 0);
		assert_int_equal(kept(5, 9, 7), 1);
		damage_file(*state, damages[i]);
		assert_int_equal(kept(5, 9, 7), 0);
	}
}

static void test_nowhere_to_keep(void **state)
{
	const struct place *p = *state;
	static const char *const dirs[] = {"", "relative", "/nonexistent"};
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		setenv("XDG_RUNTIME_DIR", dirs[i], 1);
		assert_null(kept_plans_open(7));
	}
	setenv("XDG_RUNTIME_DIR", p->dir, 1);
	assert_int_equal(chmod(p->dir, 0777), 0); /* other users could write to the folder */
	assert_null(kept_plans_open(7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_file_and_program_only, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_not_kept, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_limit, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_unused_plans_stay, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_damaged_files, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_nowhere_to_keep, make_place, remove_place),
	};
	return cmocka_run_group_tests_name("kept_plans", tests, NULL, NULL);
}
