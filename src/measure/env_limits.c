/* The limits that control groups set for sctrace and its children (cgroups(7)), of both versions. */
#include "measure/env.h"

#include "base/buf.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The files of a controller, in the directory of each group. */
struct controller {
	const char *name, *mount;   /* in /proc/self/cgroup ("": version 2); the directory of the mount */
	const char *quota, *period; /* `period` is NULL if `quota` contains both numbers */
	const char *memory, *stat, *oom;
};

static const struct controller controllers[] = {
	{"", "", "cpu.max", NULL, "memory.max", "cpu.stat", "memory.events"},
	{"", "/unified", "cpu.max", NULL, "memory.max", "cpu.stat", "memory.events"},
	{"cpu", "/cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us", NULL, "cpu.stat", NULL},
	{"memory", "/memory", NULL, NULL, "memory.limit_in_bytes", NULL, "memory.oom_control"},
};

/* Reads the file `name` of the group in `dir` into `text`. Returns false if there is none. */
static bool read_file(const char *dir, const char *name, char *text, size_t size)
{
	struct buf path = {0};
	if (!name)
		return false;
	buf_addf(&path, "%s/%s", dir, name);
	FILE *f = memory_fopen(buf_str(&path));
	buf_free(&path);
	if (!f)
		return false;
	size_t n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
	return n > 0;
}

/* Returns the number after `key` and a blank at the start of a line of the file, or 0. */
static double number_in(const char *dir, const char *file, const char *key)
{
	char text[4096];
	size_t n = strlen(key);
	if (!read_file(dir, file, text, sizeof(text)))
		return 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == ' ')
			return strtod(line + n, NULL);
	}
	return 0;
}

static void read_group(const struct controller *c, const char *dir, struct env_limits *l)
{
	enum { NO_LIMIT_BITS = 62 };
	char text[128];
	double period = 0;
	double quota = 0;
	if (read_file(dir, c->quota, text, sizeof(text)) && sscanf(text, "%lf %lf", &quota, &period) >= 1 &&
	    quota > 0) {
		if (read_file(dir, c->period, text, sizeof(text)))
			period = strtod(text, NULL);
		if (period > 0)
			l->cpus = fmin(l->cpus, quota / period);
	}
	double bytes = 0;
	if (read_file(dir, c->memory, text, sizeof(text)) && sscanf(text, "%lf", &bytes) == 1 &&
	    bytes < ldexp(1, NO_LIMIT_BITS))
		l->memory_bytes = fmin(l->memory_bytes, bytes);
	l->throttled += number_in(dir, c->stat, "nr_throttled");
	l->oom_kills = fmax(l->oom_kills, number_in(dir, c->oom, "oom_kill"));
}

/* Reads the limits of the group `path` and of all groups above it. A container sees only a part of the path. */
static void read_path(const struct controller *c, const char *base, const char *path, struct env_limits *l)
{
	struct buf dir = {0};
	buf_addf(&dir, "%s%s%s", base, c->mount, path);
	size_t top = strlen(base) + strlen(c->mount);
	char *p = buf_take(&dir);
	for (size_t n = strlen(p); n >= top; n--) {
		if (p[n] != '\0' && p[n] != '/')
			continue;
		p[n] = '\0';
		read_group(c, p, l);
	}
	free(p);
}

/* Returns true if the list of words, separated by commas, contains `word`. Both can be empty. */
static bool lists(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		if (strncmp(list, word, n) == 0 && (list[n] == ',' || list[n] == '\0'))
			return true;
	}
	return false;
}

void env_limits_read(const char *groups, const char *base, struct env_limits *l)
{
	char line[4096];
	FILE *f = memory_fopen(groups);
	*l = (struct env_limits){.cpus = INFINITY, .memory_bytes = INFINITY};
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		char *names = strchr(line, ':');
		char *path = names ? strchr(names + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		for (size_t i = 0; i < sizeof(controllers) / sizeof(*controllers); i++)
			if (lists(names + 1, controllers[i].name))
				read_path(&controllers[i], base, strcmp(path, "/") == 0 ? "" : path, l);
	}
	if (f)
		fclose(f);
}
