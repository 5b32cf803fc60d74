/* SPDX-License-Identifier: MIT */
#include "tracee/cgroup.h"

#include "base/buf.h"
#include "tracee/proc.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The files of a version of control groups. */
struct version {
	const char *mount; /* type of the file system */
	const char *limits[2], *usage;
	const char *caches[2]; /* keys of memory.stat: memory that the kernel takes back before it refuses memory */
};

static const struct version versions[] = {
	{"cgroup2", {"memory.max", "memory.high"}, "memory.current", {"inactive_file", "active_file"}},
	{"cgroup", {"memory.limit_in_bytes"}, "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}},
};
/* Version 1 shows the largest number of pages if there is no limit. */
#define UNLIMITED (1ull << 60)

bool cgroup_read(const char *dir, const char *file, struct buf *text)
{
	char path[4096], chunk[4096];
	ssize_t n;
	buf_clear(text);
	snprintf(path, sizeof(path), "%s/%s", dir, file ? file : "");
	int fd = file ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(text, chunk, (size_t)n);
	close(fd);
	return n == 0;
}

/* Reads a number. Returns `none` if the file cannot be read, or contains another text, such as "max". */
static uint64_t read_number(const char *dir, const char *file, uint64_t none, struct buf *text)
{
	return cgroup_read(dir, file, text) && isdigit((unsigned char)*buf_str(text))
		       ? strtoull(buf_str(text), NULL, 10)
		       : none;
}

uint64_t cgroup_number(const char *text, const char *key)
{
	const size_t n = strlen(key);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == ' ')
			return strtoull(line + n, NULL, 10);
	}
	return 0;
}

/* Adds the limits of one group. */
static void add_group(const struct version *v, const char *dir, struct cgroup_memory *m)
{
	auto_buf text = {0};
	uint64_t limit = UNLIMITED, used;
	for (size_t i = 0; i < 2 && v->limits[i]; i++) {
		uint64_t n = read_number(dir, v->limits[i], UNLIMITED, &text);
		limit = n < limit ? n : limit;
	}
	if (limit < UNLIMITED) {
		used = read_number(dir, v->usage, 0, &text);
		for (size_t i = 0; cgroup_read(dir, "memory.stat", &text) && i < 2; i++) {
			uint64_t cache = cgroup_number(buf_str(&text), v->caches[i]);
			used -= cache < used ? cache : used;
		}
		uint64_t left = limit > used ? limit - used : 0;
		m->limit = limit < m->limit ? limit : m->limit;
		m->left = left < m->left ? left : m->left;
	}
}

bool cgroup_lists(const char *list, size_t n, const char *name)
{
	const char *end = list + n;
	for (const char *next; list <= end; list = next + 1) {
		next = memchr(list, ',', (size_t)(end - list));
		next = next ? next : end;
		if ((size_t)(next - list) == strlen(name) && memcmp(list, name, strlen(name)) == 0)
			return true;
	}
	return false;
}

/* Is this a line of /proc/PID/cgroup, "ID:CONTROLLERS:PATH", for this version? Sets *path to its path. */
static bool is_line_of(const struct version *v, const char *line, const char **path)
{
	const char *end = strchr(line, '\n'), *controllers = strchr(line, ':');
	const char *second = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!second || (end && second > end))
		return false;
	*path = second + 1;
	return v == &versions[0] ? strncmp(line, "0::", 3) == 0
				 : cgroup_lists(controllers + 1, (size_t)(second - controllers - 1), "memory");
}

int cgroup_name(pid_t pid, struct buf *name)
{
	auto_buf text = {0};
	const char *path;
	int r = proc_read(pid, "cgroup", &text);
	for (const char *line = buf_str(&text); *line; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL))
		if (is_line_of(&versions[0], line, &path) || is_line_of(&versions[1], line, &path))
			buf_addf(name, "%.*s\n", (int)strcspn(line, "\n"), line);
	return r;
}

/* Adds the limits of a group, and of those that contain it, in a mounted hierarchy. */
static void add_hierarchy(const struct version *v, const struct proc_mount *mount, const char *name, const char *root,
			  struct cgroup_memory *m)
{
	char dir[4096];
	const char *path = "";
	const size_t top = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
	for (; *name && !is_line_of(v, name, &path); name += strcspn(name, "\n") + (strchr(name, '\n') != NULL))
		;
	if (!*name)
		return;
	/* In a container, the mount may show only a part of the hierarchy (cgroup_namespaces(7)). */
	path += strncmp(path, mount->root, top) == 0 ? top : 0;
	int n = snprintf(dir, sizeof(dir), "%s%s%.*s", root, mount->mount_point, (int)strcspn(path, "\n"), path);
	const size_t least = strlen(root) + strlen(mount->mount_point);
	for (char *end = dir + (n < (int)sizeof(dir) ? n : 0); end && end >= dir + least; end = strrchr(dir, '/')) {
		*end = 0;
		add_group(v, dir, m);
	}
}

struct cgroup_memory cgroup_memory(const char *name, const char *mountinfo, const char *root)
{
	struct cgroup_memory m = {UINT64_MAX, UINT64_MAX};
	struct proc_mount mount;
	for (const char *line = mountinfo; *line; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL))
		for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
			if (proc_mount_parse(line, &mount) && strcmp(mount.type, versions[i].mount) == 0 &&
			    (i == 0 || cgroup_lists(mount.options, strlen(mount.options), "memory")))
				add_hierarchy(&versions[i], &mount, name, root, &m);
	return m;
}

uint64_t cgroup_memory_available(void)
{
	auto_buf text = {0};
	uint64_t kib = cgroup_read("/proc", "meminfo", &text) ? proc_number(buf_str(&text), "MemAvailable") : 0;
	return kib ? kib * 1024 : UINT64_MAX;
}
