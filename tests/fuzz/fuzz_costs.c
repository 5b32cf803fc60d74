/* SPDX-License-Identifier: MIT */
/*
 * Reads a file of kept costs with any contents. The result must be no costs, or finite numbers. A new measurement must
 * then be kept, whatever the file contained.
 */
#include "fuzz.h"

#include "engine/costs.h"

#include <math.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

static struct {
	pid_t owner; /* libFuzzer may fork */
	char dir[40], file[64];
	char head[1024]; /* the beginning of a valid file of this machine, up to the value of "measured" */
} place;

static void remove_place(void)
{
	if (place.owner == getpid()) {
		unlink(place.file);
		rmdir(place.dir);
	}
}

/* Creates a temporary folder, and the beginning that a valid file must have. */
static void make_place(void)
{
	static const char key[] = "\"measured\":";
	struct cost_numbers n = {{1}};
	snprintf(place.dir, sizeof(place.dir), "/tmp/sctrace-fuzz-XXXXXX");
	FUZZ_REQUIRE(mkdtemp(place.dir) && setenv("XDG_RUNTIME_DIR", place.dir, 1) == 0);
	snprintf(place.file, sizeof(place.file), "%s/sctrace-costs.json", place.dir);
	place.owner = getpid();
	atexit(remove_place);
	struct costs *c = costs_open();
	costs_keep(c, "a", &n, &n);
	costs_close(c);
	FILE *f = fopen(place.file, "r");
	FUZZ_REQUIRE(f);
	place.head[fread(place.head, 1, sizeof(place.head) - 1, f)] = '\0';
	fclose(f);
	char *costs = strstr(place.head, key);
	FUZZ_REQUIRE(costs);
	costs[strlen(key)] = '\0';
}

static void put(const char *head, const uint8_t *data, size_t size, const char *tail)
{
	FILE *f = fopen(place.file, "w");
	FUZZ_REQUIRE(f);
	fputs(head, f);
	fwrite(data, 1, size, f);
	fputs(tail, f);
	fclose(f);
}

static void require_usable(const struct cost_numbers *n)
{
	for (size_t i = 0; i < COSTS_NUMBERS; i++)
		FUZZ_REQUIRE(isfinite(n->v[i]) && n->v[i] >= -1e6 && n->v[i] <= 1e9);
}

static void use(void)
{
	const struct cost_numbers measured = {{30, 3, 2, 1}};
	struct cost_numbers n = {{0}};
	struct costs *c = costs_open();
	if (costs_find(c, "a", &n) == 0)
		require_usable(&n);
	costs_keep(c, "a", &measured, &n);
	costs_close(c);
	require_usable(&n);
	FUZZ_REQUIRE(n.v[0] <= measured.v[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!place.owner)
		make_place();
	put("", data, size, "");
	use();
	put(place.head, data, size, "}");
	use();
	return 0;
}
