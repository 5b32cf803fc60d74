/* SPDX-License-Identifier: MIT */
/* Tests the limits on memory of control groups, with files in a temporary folder in place of /sys/fs/cgroup. */
#include "base/buf.h"
#include "tracee/cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/sctrace-cgroup-XXXXXX";

/* Writes a file of a group, and creates the folders on the way. */
static void put(const char *path, const char *text)
{
	char full[512];
	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(full, 0777);
	}
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[64];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void check(const char *name, const char *mounts, uint64_t limit, uint64_t left)
{
	struct cgroup_memory m = cgroup_memory(name, mounts, root);
	assert_int_equal(m.limit, limit);
	assert_int_equal(m.left, left);
}

#define V2 "30 23 0:26 / /v2 rw - cgroup2 cgroup2 rw,nsdelegate\n"

/* The smallest limit of a group and of those that contain it counts. Caches count as memory that is left. */
static void version_2(void **state)
{
	(void)state;
	put("/v2/a/memory.max", "67108864\n");
	put("/v2/a/memory.high", "max\n");
	put("/v2/a/memory.current", "50000000\n");
	put("/v2/a/memory.stat", "anon 9\ninactive_file 20000000\nactive_file 10000000\n");
	put("/v2/a/b/memory.max", "max\n");
	put("/v2/a/c/memory.max", "33554432\n");
	put("/v2/a/c/memory.high", "1048576\n");
	put("/v2/a/c/memory.current", "48576\n");
	check("0::/a/b\n", V2, 67108864, 67108864 - 20000000);
	check("0::/a/c\n", V2, 1048576, 1000000);
	check("0::/\n", V2, UINT64_MAX, UINT64_MAX);
	check("0::/a\n", "", UINT64_MAX, UINT64_MAX);
	check("0::/nowhere\n", V2, UINT64_MAX, UINT64_MAX);
	check("", V2, UINT64_MAX, UINT64_MAX);
}

/* In a container, the mount shows a part of the hierarchy. Version 1 has one hierarchy for each controller. */
static void version_1(void **state)
{
	static const char mounts[] = V2 "31 23 0:27 /docker/x /v1/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
					"32 23 0:28 /docker/x /v1/memory rw - cgroup cgroup rw,memory\n";
	(void)state;
	put("/v1/memory/memory.limit_in_bytes", "67108864\n");
	put("/v1/memory/memory.usage_in_bytes", "7108864\n");
	put("/v1/memory/memory.stat", "inactive_file 5\ntotal_inactive_file 1000000\ntotal_active_file 0\n");
	put("/v1/memory/sub/memory.limit_in_bytes", "9223372036854771712\n");
	put("/v1/cpu/memory.limit_in_bytes", "1\n");
	check("4:cpu,cpuacct:/docker/x\n3:memory:/docker/x\n0::/\n", mounts, 67108864, 61000000);
	check("3:memory:/docker/x/sub\n0::/\n", mounts, 67108864, 61000000);
	check("3:hugetlb,memory:/sub\n0::/\n", mounts, 67108864, 61000000);
}

/* The names of two processes in the same groups are equal, and contain only the groups that limit memory. */
static void names(void **state)
{
	struct buf own = {0}, parent = {0};
	(void)state;
	assert_int_equal(cgroup_name(getpid(), &own), 0);
	assert_int_equal(cgroup_name(getppid(), &parent), 0);
	assert_string_equal(buf_str(&own), buf_str(&parent));
	assert_null(strstr(buf_str(&own), "freezer"));
	buf_free(&own);
	buf_free(&parent);
	assert_true(cgroup_memory_available() > 1 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_2),
		cmocka_unit_test(version_1),
		cmocka_unit_test(names),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
