/* SPDX-License-Identifier: MIT */
/* Collects facts about this machine, its file systems, and the activity of its CPUs. */
#ifndef SCTRACE_MEASURE_MACHINE_ENV_H
#define SCTRACE_MEASURE_MACHINE_ENV_H

#include "run/run_env.h"
#include "tracee/proc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Fills in `e`, which the caller has prepared with fields_init(&env_fields, e) and frees later. The file system in `e`
 * is the one that contains `work_dir`, or unknown if `work_dir` is NULL.
 */
void env_collect(struct env *e, const char *work_dir);

/* Properties of a file system that affect measurements. */
struct env_fs {
	struct proc_mount mount; /* mount.type is "" if it is unknown */
	bool in_memory;          /* tmpfs or ramfs: no device is involved */
	bool compresses;         /* the device may receive fewer bytes than were written */
	bool hidden;             /* an overlay of a file system that cannot be seen here: the rest is unknown */
	char below[16];          /* an overlay: the type of the file system below; otherwise "" */
	bool shares_extents;     /* copying a file within the file system may move no data */
};

/* Fills in `fs` for the file system that contains the directory `dir`. Returns 0, or -errno and zeroes *fs. */
int env_fs_read(const char *dir, struct env_fs *fs);

/* The limits of the control groups of sctrace, and how often they were reached since the groups were created. */
struct env_limits {
	double cpus, memory_bytes; /* INFINITY: no limit */
	double throttled;          /* number of periods in which the processes had to wait for processor time */
	double oom_kills;          /* number of processes that were killed for lack of memory */
};
#define ENV_GROUPS     "/proc/self/cgroup"
#define ENV_GROUPS_DIR "/sys/fs/cgroup"
/* Reads the limits. The paths are ENV_GROUPS and ENV_GROUPS_DIR, except in tests. */
void env_limits_read(const char *groups, const char *base, struct env_limits *l);

/* How the CPUs spent their time since the system started, in seconds, summed over all CPUs (/proc/stat). */
struct env_activity {
	double busy_s;  /* running programs, the kernel and interrupt handlers */
	double idle_s;  /* idle or waiting for devices */
	double steal_s; /* time that the hypervisor gave to other guests */
};

/* Fills in `a`. Returns 0 or -errno. The difference of two results shows what all programs did meanwhile. */
int env_activity_read(struct env_activity *a);

/*
 * Returns how many threads except the caller can run or are running on this machine now, or -errno (/proc/loadavg). If
 * this is read often, its mean tells how busy other programs are, and needs less time than /proc/stat, which counts
 * ticks of 10 ms.
 */
int env_runnable_read(void);

/* Functions that parse single lines of /proc, /sys and the kernel configuration (env_text.c). */

/* Copies the value of a line `KEY<blanks>: VALUE` or `KEY="VALUE"`. Returns false if it has another key. */
bool env_field(const char *line, const char *key, char *value, size_t size);

/* Returns the name of the debugging option that this line of the kernel configuration enables, or NULL. */
const char *env_debug_option(const char *line);

/*
 * Returns the preemption model that this line of the kernel configuration selects ("CONFIG_PREEMPT_NONE=y": "none"), or
 * NULL. If the kernel has PREEMPT_DYNAMIC, this is only the default (kernel/Kconfig.preempt): preempt= on the kernel
 * command line overrides it.
 */
const char *env_preemption_model(const char *line);

/* Returns the hypervisor's name for its CPUID signature ("KVMKVMKVM": "KVM"), or else the signature. */
const char *env_hypervisor_name(const char *signature);

/* Returns true if `word`, from the kernel command line, is a parameter that changes the cost of a system call. */
bool env_is_telling(const char *word);

/* Parses the first line of /proc/stat. Returns false and leaves *a unchanged if `line` is a different line. */
bool env_activity_parse(const char *line, struct env_activity *a);

/* Parses /proc/loadavg. Returns how many threads of the machine can run or are running, or -1 for a different line. */
int env_runnable_parse(const char *line);

#endif
