/* What machine a measurement was made on: recorded with every saved run, because figures without it cannot be compared.
 */
#ifndef SCTRACE_MEASURE_ENV_H
#define SCTRACE_MEASURE_ENV_H

#include "tracee/proc.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct buf;

/*
 * A new JSON object that describes this machine now, for a saved run. What cannot be read here is null, never guessed:
 * {"host", "os", "libc", "date" (RFC 3339), "uptime_s",
 *  "kernel": {"release", "version", "machine", "preemption", "debug_options" [..], "config_source", "tick_hz",
 *             "parameters" [..]},
 *  "cpu": {"model", "online", "allowed", "smt", "mhz", "governor", "driver", "turbo", "clocksource", "isolated"},
 *  "mitigations": {NAME: STATE, ..}, "hypervisor", "container",
 *  "memory": {"total_bytes", "available_bytes", "page_bytes", "transparent_hugepages", "swap_total_bytes"},
 *  "load": {"1min", "5min", "15min"},
 *  "file_system": {"directory", "type", "source", "mount_point", "options", "block_bytes", "total_bytes", "free_bytes",
 *                  "in_memory", "compresses", "shares_extents", "io_scheduler"}}
 * The file system is that of `work_dir` (NULL: null). NULL only when memory ran out.
 */
json_t *env_collect(const char *work_dir);

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

/*
 * Says in words where two environments differ in what changes results (kernel, debug and preemption options, CPU,
 * mitigations, governor, hypervisor, file system), a line each: "kernel: 6.1.0 | 6.12.1". Returns how many.
 */
int env_differences(const json_t *a, const json_t *b, struct buf *out);

#endif
