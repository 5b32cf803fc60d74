#include "engine/costs.h"

#include "base/buf.h"
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
#include <unistd.h>

/*
 * Finds the folder in which costs are kept: $XDG_RUNTIME_DIR. If this variable is not set, which is so after sudo(8)
 * and su(1), the folder is the one that systemd creates for the user. Root has no such folder, so root's costs are kept
 * in /run.
 */
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

/*
 * Opens the folder. Returns -1 unless sctrace's user owns the folder and nobody else can write to it, because sctrace
 * trusts the costs in it.
 */
static int open_folder(void)
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

/*
 * Appends a line that says what the costs depend on. The boot id stands for the kernel and the model of the processors,
 * which do not change during one boot. Appends nothing if the boot id is unknown; costs are then not kept.
 */
static void describe_machine(struct buf *out)
{
	char boot[64];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, boot, sizeof(boot));
	if (fd >= 0)
		close(fd);
	if (n > 1)
		buf_addf(out, "%.*s; %ld processors; sctrace %s", (int)n - 1, boot, sysconf(_SC_NPROCESSORS_ONLN),
			 SCTRACE_VERSION);
}

/*
 * Returns the contents of the file if it was written on this machine in its present state, otherwise empty contents.
 * Returns NULL if nothing can be kept.
 */
static json_t *load(int folder, const char *machine)
{
	json_error_t error;
	int fd = openat(folder, "sctrace-costs.json", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r"); /* json_loadfd(3) would make one read(2) for each byte */
	json_t *all = f ? json_loadf(f, 0, &error) : NULL;
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	const char *of = json_string_value(json_object_get(all, "machine"));
	if (of && strcmp(of, machine) == 0 && json_is_object(json_object_get(all, "costs")))
		return all;
	json_decref(all);
	return json_pack("{s:s, s:{}}", "machine", machine, "costs");
}

/* Writes a new file and renames it to sctrace-costs.json, so that no process reads an incomplete file. */
static void store(int folder, const json_t *all)
{
	char name[64];
	snprintf(name, sizeof(name), "sctrace-costs.json.%d", (int)getpid());
	char *text = json_dumps(all, JSON_COMPACT); /* before the file exists: memory_exhausted() does not remove it */
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int err = fd < 0 ? fd : outfile_write(fd, text, strlen(text), NULL);
	free(text);
	if (fd < 0)
		return;
	close(fd);
	if (err < 0 || renameat(folder, name, folder, "sctrace-costs.json") < 0)
		unlinkat(folder, name, 0);
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

/* Returns the number of kept measurements. If there are any, sets *least to the measurement with the smallest cost. */
static size_t least_of(const json_t *kept, struct cost_numbers *least)
{
	size_t i, n = 0;
	json_t *list;
	json_array_foreach(kept, i, list)
	{
		struct cost_numbers one;
		if (read_numbers(list, &one) && (n++ == 0 || one.v[0] < least->v[0]))
			*least = one;
	}
	return n;
}

struct costs {
	int folder;
	json_t *all;
};

struct costs *costs_open(void)
{
	struct buf machine = {0};
	struct costs *c = memory_zeroed(1, sizeof(*c));
	c->folder = open_folder();
	if (c->folder >= 0)
		describe_machine(&machine);
	if (machine.len)
		c->all = load(c->folder, buf_str(&machine));
	buf_free(&machine);
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
	const json_t *costs = c ? json_object_get(c->all, "costs") : NULL;
	return least_of(json_object_get(costs, name), least) >= COSTS_MEASURED ? 0 : -ENOENT;
}

void costs_keep(struct costs *c, const char *name, const struct cost_numbers *measured, struct cost_numbers *least)
{
	json_t *costs = c ? json_object_get(c->all, "costs") : NULL;
	json_t *kept = json_object_get(costs, name);
	json_t *list = costs ? json_array() : NULL;
	for (size_t i = 0; i < COSTS_NUMBERS; i++)
		json_array_append_new(list, json_real(measured->v[i]));
	if (!json_is_array(kept) && json_object_set_new(costs, name, json_array()) == 0)
		kept = json_object_get(costs, name);
	if (json_array_append_new(kept, list) == 0)
		store(c->folder, c->all);
	*least = *measured;
	least_of(kept, least);
}
