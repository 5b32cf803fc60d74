/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/region.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

struct rig {
	struct patch p;
	struct region region;
};

/* A region that has slots for read(2), write(2) and close(2). */
static struct rig *make_rig(void)
{
	struct rig *r = memory_zeroed(1, sizeof(*r));
	r->region.slots = memory_zeroed(1, AGENT_SLOTS_SIZE);
	region_entry(&r->p, &r->region, SYS_read);
	region_entry(&r->p, &r->region, SYS_write);
	region_entry(&r->p, &r->region, SYS_close);
	return r;
}

static void free_rig(struct rig *r)
{
	usage_free_all(&r->p);
	free(r->region.slots);
	free(r);
}

/* An image of a program that makes one call, in the slot with this number; -1: none. */
static struct usage *run(struct rig *r, const char *program, int slot)
{
	struct image img = {.state = IMAGE_READY, .counters.region = &r->region};
	img.start.usage = usage_find(&r->p, program);
	usage_begin(&img);
	if (slot >= 0)
		region_slot(&r->region, (unsigned)slot)->entered++;
	usage_end(&img);
	vec_free(&img.entered);
	return img.start.usage;
}

static void test_calls(void **state)
{
	(void)state;
	struct rig *r = make_rig();
	region_slot(&r->region, 0)->entered = 7;                           /* by an earlier image */
	assert_true(usage_includes(usage_find(&r->p, "prog"), SYS_write)); /* nothing is known yet */
	struct usage *u = run(r, "prog", 2);
	assert_ptr_equal(u, usage_find(&r->p, "prog"));
	assert_true(usage_includes(u, SYS_close));
	assert_false(usage_includes(u, SYS_read));
	assert_false(usage_includes(u, SYS_write));
	assert_true(usage_includes(u, -1));
	usage_add(u, -1);
	usage_add(u, SYS_write);
	assert_true(usage_includes(u, SYS_write));
	run(r, "prog", 0); /* only the first image is looked at */
	assert_false(usage_includes(u, SYS_read));
	assert_true(usage_includes(run(r, "other", 0), SYS_read));
	assert_false(usage_includes(usage_find(&r->p, "other"), SYS_close));
	free_rig(r);
}

static void test_all_sites(void **state)
{
	(void)state;
	struct rig *r = make_rig();
	assert_null(usage_find(&r->p, ""));
	usage_add(NULL, SYS_read);
	usage_note_threads(NULL);
	assert_true(usage_includes(NULL, SYS_read));
	struct usage *u = run(r, "threads", -1);
	assert_false(usage_includes(u, SYS_read));
	usage_note_threads(u);
	assert_true(usage_includes(u, SYS_read));
	free_rig(r);
}

/* Calls that are neither counted nor recorded may have been made. */
static void test_plain(void **state)
{
	(void)state;
	struct rig *r = make_rig();
	struct image img = {.state = IMAGE_READY, .counters.region = &r->region};
	img.counters.map[SYS_read] = r->region.entry_of[SYS_read] + SLOT_F_PLAIN;
	img.start.usage = usage_find(&r->p, "prog");
	usage_begin(&img);
	usage_end(&img);
	vec_free(&img.entered);
	assert_true(usage_includes(img.start.usage, SYS_read));
	assert_false(usage_includes(img.start.usage, SYS_write));
	free_rig(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_all_sites),
		cmocka_unit_test(test_plain),
	};
	return cmocka_run_group_tests_name("usage", tests, NULL, NULL);
}
