/* SPDX-License-Identifier: MIT */
#include "engine/costs.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void find_folder(char *path, size_t size)
{
	const char *set = getenv("XDG_RUNTIME_DIR");
	if (set)
		snprintf(path, size, "%s", set);
	else if (geteuid() == 0)
		snprintf(path, size, "/run");
	else
		snprintf(path, size, "/run/user/%u", (unsigned)geteuid());
}

int kept_folder(void)
{
	struct stat st;
	char path[PATH_MAX];
	find_folder(path, sizeof(path));
	int fd = *path == '/' ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void kept_describe_machine(struct buf *out)
{
	char boot[64];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, boot, sizeof(boot));
	if (fd >= 0)
		close(fd);
	struct stat exe;
	if (n > 1 && stat("/proc/self/exe", &exe) == 0)
		buf_addf(out, "%.*s; %ld processors; sctrace %s %llx:%llx:%llx.%lx", (int)n - 1, boot,
			 sysconf(_SC_NPROCESSORS_ONLN), SCTRACE_VERSION, (unsigned long long)exe.st_dev,
			 (unsigned long long)exe.st_ino, (unsigned long long)exe.st_ctim.tv_sec,
			 (unsigned long)exe.st_ctim.tv_nsec);
}

void kept_replace(int folder, const char *name, const void *bytes, size_t n)
{
	char new[64];
	snprintf(new, sizeof(new), "%s.%d", name, (int)getpid());
	int fd = openat(folder, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	int err = outfile_write(fd, bytes, n, NULL);
	close(fd);
	if (err < 0 || renameat(folder, new, folder, name) < 0)
		unlinkat(folder, new, 0);
}

#define COSTS_FILE "sctrace-costs.json"
#define MEMBER     "measured" /* the member that contains the measurements */

/*
 * Returns the contents of the file if it was written on this machine in its present state, otherwise empty contents.
 * Returns NULL if nothing can be kept.
 */
static json_t *load(int folder, const char *machine)
{
	json_error_t error;
	int fd = openat(folder, COSTS_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r"); /* json_loadfd(3) would make one read(2) for each byte */
	json_t *all = f ? json_loadf(f, 0, &error) : NULL;
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	const char *of = json_string_value(json_object_get(all, "machine"));
	if (of && strcmp(of, machine) == 0 && json_is_object(json_object_get(all, MEMBER)))
		return all;
	json_decref(all);
	return json_pack("{s:s, s:{}}", "machine", machine, MEMBER);
}

static bool read_numbers(const json_t *list, struct cost_numbers *n)
{
	for (size_t i = 0; i < COSTS_NUMBERS; i++) {
		n->v[i] = json_number_value(json_array_get(list, i));
		if (!isfinite(n->v[i]) || n->v[i] < -1e6 || n->v[i] > 1e9)
			return false;
	}
	return json_array_size(list) == COSTS_NUMBERS;
}

/* Returns the number of kept measurements. If there are any, sets *least as costs_find() does. */
static size_t least_of(const json_t *kept, struct cost_numbers *least)
{
	size_t i, n = 0;
	json_t *list;
	json_array_foreach(kept, i, list)
	{
		struct cost_numbers one;
		if (!read_numbers(list, &one))
			continue;
		double native = n++ ? fmin(one.v[COST_NATIVE], least->v[COST_NATIVE]) : one.v[COST_NATIVE];
		if (n == 1 || one.v[COST_TRACED] < least->v[COST_TRACED])
			*least = one;
		least->v[COST_NATIVE] = native;
	}
	return n;
}

void costs_make_calls(int n)
{
	for (int i = 0; i < n; i++)
		syscall(SYS_getppid);
}

double costs_native(int batches, int batch)
{
	double best = INFINITY;
	for (int i = 0; i < batches; i++) {
		uint64_t t0 = clock_ns();
		costs_make_calls(batch);
		best = fmin(best, (double)(clock_ns() - t0) / batch);
	}
	return best;
}

struct costs {
	int folder;
	json_t *all;
};

struct costs *costs_open(void)
{
	auto_buf machine = {0};
	struct costs *c = memory_zeroed(1, sizeof(*c));
	c->folder = kept_folder();
	if (c->folder >= 0)
		kept_describe_machine(&machine);
	if (machine.len)
		c->all = load(c->folder, buf_str(&machine));
	if (c->all)
		return c;
	costs_close(c);
	return NULL;
}

void costs_close(struct costs *c)
{
	if (c && c->folder >= 0)
		close(c->folder);
	if (c)
		json_decref(c->all);
	free(c);
}

int costs_find(const struct costs *c, const char *name, struct cost_numbers *least)
{
	const json_t *costs = c ? json_object_get(c->all, MEMBER) : NULL;
	return least_of(json_object_get(costs, name), least) >= COSTS_MEASURED ? 0 : -ENOENT;
}

void costs_keep(struct costs *c, const char *name, const struct cost_numbers *measured, struct cost_numbers *least)
{
	json_t *costs = c ? json_object_get(c->all, MEMBER) : NULL;
	json_t *kept = json_object_get(costs, name);
	json_t *list = costs ? json_array() : NULL;
	for (size_t i = 0; i < COSTS_NUMBERS; i++)
		json_array_append_new(list, json_real(measured->v[i]));
	if (!json_is_array(kept) && json_object_set_new(costs, name, json_array()) == 0)
		kept = json_object_get(costs, name);
	if (json_array_append_new(kept, list) == 0) {
		/* json_dumps(3) runs before the file exists: memory_exhausted() would not remove the file */
		auto_free char *text = json_dumps(c->all, JSON_COMPACT);
		kept_replace(c->folder, COSTS_FILE, text, strlen(text));
	}
	*least = *measured;
	least_of(kept, least);
}
