/* SPDX-License-Identifier: MIT */
/* Files of control groups (cgroups(7)), versions 1 and 2, and the limits on memory of groups and of the machine. */
#ifndef SCTRACE_TRACEE_CGROUP_H
#define SCTRACE_TRACEE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

/* Reads the file `file` of a group, whose folder is `dir`. Returns false if that fails. `file` may be NULL: there is none. */
bool cgroup_read(const char *dir, const char *file, struct buf *text);
/* Returns the number after `key` and a blank at the beginning of a line, or 0. */
uint64_t cgroup_number(const char *text, const char *key);
/* Is `name` among the `n` bytes at `list`, words that are separated by commas? Both may be empty. */
bool cgroup_lists(const char *list, size_t n, const char *name);

struct cgroup_memory {
	uint64_t limit; /* the smallest limit of the groups that contain the process, in bytes; UINT64_MAX: none */
	uint64_t left;  /* how much of it is not in use, or used only for caches; UINT64_MAX: there is no limit */
};

/* Appends the groups that limit the process's memory, as lines of /proc/PID/cgroup. Returns 0 or -errno. */
int cgroup_name(pid_t pid, struct buf *name);
/*
 * Reads the limits of the groups with this name. `mountinfo` is the contents of /proc/self/mountinfo, which says where
 * control groups are mounted, and `root` is put before these paths; it is "" except in tests. If nothing can be read, there
 * is no limit.
 */
struct cgroup_memory cgroup_memory(const char *name, const char *mountinfo, const char *root);
/* Returns how much memory of the machine is available without swapping (proc_meminfo(5)), or UINT64_MAX if unknown. */
uint64_t cgroup_memory_available(void);

#endif
