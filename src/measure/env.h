/* Reading what machine this is, what its folders lie on, and what its processors do. */
#ifndef SCTRACE_MEASURE_ENV_H
#define SCTRACE_MEASURE_ENV_H

#include "run/env.h"
#include "tracee/proc.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

/*
 * Describes this machine now in `e`, on which fields_init(&env_fields) was called; the caller frees. The file system is
 * that of `work_dir` (NULL: unknown). Where memory runs out, it is noted (base/memory.h).
 */
void env_collect(struct env *e, const char *work_dir);

/* What a folder's file system does to a measurement; filled by env_fs_read(). */
struct env_fs {
	struct proc_mount mount; /* type "" where it is not known */
	bool in_memory;          /* tmpfs, ramfs: no device is behind it */
	bool compresses;         /* may store fewer bytes than were written */
	bool shares_extents;     /* a copy inside it may move no data at all */
};

/* Looks up the mount that `dir` lies on; 0, or -errno (then *fs is empty). */
int env_fs_read(const char *dir, struct env_fs *fs);

/* How the machine's processors spent their time, in seconds since boot and summed over all of them (/proc/stat). */
struct env_activity {
	double busy_s;  /* in programs, the kernel and interrupts */
	double idle_s;  /* idle and waiting for devices */
	double steal_s; /* taken by the hypervisor for other guests */
};

/* 0, or -errno. The difference of two readings tells what else ran meanwhile. */
int env_activity_read(struct env_activity *a);

/*
 * The first line of a small text file without its newline: true, or false where there is none. At most `size` - 1
 * bytes. For files of /proc and /sys.
 */
bool env_read_line(const char *path, char *line, int size);

#endif
