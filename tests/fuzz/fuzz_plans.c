/* SPDX-License-Identifier: MIT */
/*
 * Reads a file of kept plans with any contents. The result must be no plans, or plans that the engine could have made.
 * New plans must then be kept, whatever the file contained.
 */
#include "fuzz.h"

#include "base/memory.h"
#include "engine/patch/image/image_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define HEAD 176 /* the part of a file before the plans */

static struct {
	pid_t owner; /* libFuzzer may fork */
	char dir[40], file[64];
	uint8_t head[HEAD]; /* the beginning of a valid file of this machine */
} place;

static void remove_place(void)
{
	if (place.owner == getpid()) {
		unlink(place.file);
		rmdir(place.dir);
	}
}

static void keep(void)
{
	struct plan plan;
	struct patch p = {.kept = kept_plans_open(0)};
	struct module mod = {.dev = 1, .ino = 2, .changed = 3};
	struct module *const mods[] = {&mod};
	FUZZ_REQUIRE(p.kept);
	memset(&plan, 0, sizeof(plan));
	plan.program[0] = 'p';
	plan.kind = SITE_REDIRECT;
	FUZZ_REQUIRE(module_add(&p, &mod, &plan));
	kept_plans_save(p.kept, mods, 1);
	vec_free(&mod.plans);
	kept_plans_close(p.kept);
}

static void make_place(void)
{
	snprintf(place.dir, sizeof(place.dir), "/tmp/sctrace-fuzz-XXXXXX");
	FUZZ_REQUIRE(mkdtemp(place.dir) && setenv("XDG_RUNTIME_DIR", place.dir, 1) == 0);
	snprintf(place.file, sizeof(place.file), "%s/sctrace-sites", place.dir);
	place.owner = getpid();
	atexit(remove_place);
	keep();
	FILE *f = fopen(place.file, "r");
	FUZZ_REQUIRE(f && fread(place.head, 1, HEAD, f) == HEAD);
	fclose(f);
}

static void put(const uint8_t *head, size_t n, const uint8_t *data, size_t size)
{
	FILE *f = fopen(place.file, "w");
	FUZZ_REQUIRE(f);
	fwrite(head, 1, n, f);
	fwrite(data, 1, size, f);
	fclose(f);
}

/* Returns the number of plans that are kept for the file and the program of keep(). */
static size_t use(void)
{
	struct patch p = {.kept = kept_plans_open(0)};
	struct module mod = {.dev = 1, .ino = 2, .changed = 3};
	FUZZ_REQUIRE(p.kept);
	kept_plans_add(&p, &mod, "p");
	size_t n = mod.plans.n;
	for (size_t i = 0; i < n; i++) {
		const struct plan *plan = &mod.plans.v[i];
		FUZZ_REQUIRE(plan->kind >= SITE_SHORT && plan->kind <= SITE_REDIRECT && plan->nchanges <= 6 &&
			     plan->moved <= RELOCATE_MAX && !plan->owner.uid && !plan->owner.gid);
		for (int c = 0; c < plan->nchanges; c++)
			FUZZ_REQUIRE(plan->change[c].len <= sizeof(plan->change[c].old));
	}
	vec_free(&mod.plans);
	kept_plans_close(p.kept);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!place.owner)
		make_place();
	put(place.head, 0, data, size);
	use();
	put(place.head, HEAD, data, size);
	use();
	keep();
	FUZZ_REQUIRE(use() >= 1);
	return 0;
}
