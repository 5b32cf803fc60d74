/* Describes this machine, its file systems, and the activity of its processors. */
#ifndef SCTRACE_MEASURE_ENV_H
#define SCTRACE_MEASURE_ENV_H

#include "run/env.h"
#include "tracee/proc.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

/*
 * Describes this machine in `e`, which the caller has prepared with fields_init(&env_fields) and frees. The file system
 * is that of `work_dir` (NULL: unknown). Notes a lack of memory (base/memory.h).
 */
void env_collect(struct env *e, const char *work_dir);

/* Properties of a folder's file system that affect measurements; env_fs_read() fills them in. */
struct env_fs {
	struct proc_mount mount; /* type is "" if unknown */
	bool in_memory;          /* tmpfs or ramfs: no device is involved */
	bool compresses;         /* may store fewer bytes than were written */
	bool shares_extents;     /* a copy within it may move no data */
};

/* Finds the mount that contains `dir`. Returns 0, or -errno with *fs empty. */
int env_fs_read(const char *dir, struct env_fs *fs);

/* How the processors spent their time: seconds since boot, summed over all processors (/proc/stat). */
struct env_activity {
	double busy_s;  /* in programs, the kernel and interrupts */
	double idle_s;  /* idle or waiting for devices */
	double steal_s; /* taken by the hypervisor for other guests */
};

/* Returns 0 or -errno. The difference of two readings shows what else ran in between. */
int env_activity_read(struct env_activity *a);

/*
 * Reads the first line of a small text file, such as in /proc and /sys, without its newline and cut to `size` - 1
 * bytes. Returns false if there is none.
 */
bool env_read_line(const char *path, char *line, int size);

#endif
