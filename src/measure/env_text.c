/* SPDX-License-Identifier: MIT */
#include "measure/machine_env.h"

#include "base/buf.h"
#include "base/memory.h"
#include "tracee/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool env_field(const char *line, const char *key, char *value, size_t size)
{
	size_t n = strlen(key);
	if (strncmp(line, key, n) != 0)
		return false;
	const char *p = line + n + strspn(line + n, " \t");
	if (*p != ':' && *p != '=')
		return false;
	p += 1 + strspn(p + 1, " \t\"");
	snprintf(value, size, "%.*s", (int)strcspn(p, "\"\n"), p);
	return true;
}

/* Kernel options for debugging that make system calls slower. */
static const char *const debug_options[] = {
	"CONFIG_DEBUG_LOCK_ALLOC",
	"CONFIG_PROVE_LOCKING",
	"CONFIG_LOCKDEP",
	"CONFIG_KASAN",
	"CONFIG_KCSAN",
	"CONFIG_KMSAN",
	"CONFIG_UBSAN",
	"CONFIG_DEBUG_PAGEALLOC",
	"CONFIG_SLUB_DEBUG_ON",
	"CONFIG_DEBUG_ATOMIC_SLEEP",
	"CONFIG_DEBUG_MUTEXES",
	"CONFIG_DEBUG_SPINLOCK",
	"CONFIG_DEBUG_KMEMLEAK",
	"CONFIG_DEBUG_OBJECTS",
	"CONFIG_DEBUG_PREEMPT",
	"CONFIG_DEBUG_VM",
	"CONFIG_LATENCYTOP",
	"CONFIG_IRQSOFF_TRACER",
	"CONFIG_PREEMPT_TRACER",
	"CONFIG_FAULT_INJECTION",
	"CONFIG_LOCK_STAT",
	"CONFIG_DEBUG_RT_MUTEXES",
	"CONFIG_DEBUG_RWSEMS",
	"CONFIG_DEBUG_ENTRY",
	"CONFIG_KCOV",
	"CONFIG_GCOV_KERNEL",
};

/* Returns true if the line sets `option` to y. */
static bool switches_on(const char *line, const char *option)
{
	size_t n = strcspn(line, "=");
	return strncmp(line + n, "=y", 2) == 0 && strlen(option) == n && strncmp(line, option, n) == 0;
}

const char *env_debug_option(const char *line)
{
	for (size_t i = 0; i < sizeof(debug_options) / sizeof(*debug_options); i++)
		if (switches_on(line, debug_options[i]))
			return debug_options[i];
	return NULL;
}

const char *env_preemption_model(const char *line)
{
	static const struct {
		const char *option, *model;
	} models[] = {
		{"CONFIG_PREEMPT_NONE", "none"},
		{"CONFIG_PREEMPT_VOLUNTARY", "voluntary"},
		{"CONFIG_PREEMPT", "full"},
		{"CONFIG_PREEMPT_LAZY", "lazy"},
	};
	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++)
		if (switches_on(line, models[i].option))
			return models[i].model;
	return NULL;
}

const char *env_hypervisor_name(const char *signature)
{
	static const struct {
		const char *signature, *name;
	} known[] = {
		{"KVMKVMKVM", "KVM"},           {"Linux KVM Hv", "KVM"},   {"VMwareVMware", "VMware"},
		{"Microsoft Hv", "Hyper-V"},    {"XenVMMXenVMM", "Xen"},   {"TCGTCGTCGTCG", "QEMU (TCG)"},
		{"VBoxVBoxVBox", "VirtualBox"}, {"bhyve bhyve ", "bhyve"}, {"ACRNACRNACRN", "ACRN"},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(signature, known[i].signature) == 0)
			return known[i].name;
	return signature;
}

/* Kernel parameters that change the cost of a call. Others (disks, addresses) are private: runs are shared. */
static const char *const telling_parameters[] = {
	"mitigations=",
	"spectre_v2=",
	"nopti",
	"pti=",
	"preempt=",
	"isolcpus=",
	"nohz_full=",
	"rcu_nocbs=",
	"idle=",
	"nosmt",
	"intel_pstate=",
	"amd_pstate=",
	"processor.",
	"intel_idle.",
	"threadirqs",
	"nohz=",
	"tsc=",
	"clocksource=",
	"slub_debug",
	"page_poison",
	"debug_pagealloc",
	"transparent_hugepage=",
};

bool env_is_telling(const char *word)
{
	for (size_t i = 0; i < sizeof(telling_parameters) / sizeof(*telling_parameters); i++)
		if (strncmp(word, telling_parameters[i], strlen(telling_parameters[i])) == 0)
			return true;
	return false;
}

bool env_activity_parse(const char *line, struct env_activity *a)
{
	unsigned long long v[8] = {0};
	/* In ticks: user, nice, system, idle, iowait, irq, softirq, steal. user includes guests (proc_stat(5)). */
	if (sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
		   &v[7]) < 4)
		return false;
	double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
	a->busy_s = ((double)v[0] + (double)v[1] + (double)v[2] + (double)v[5] + (double)v[6]) * tick;
	a->idle_s = ((double)v[3] + (double)v[4]) * tick;
	a->steal_s = (double)v[7] * tick;
	return true;
}

int env_runnable_parse(const char *line)
{
	int runnable;
	/* The first three fields are the load averages, the fourth is "runnable/all" (proc_loadavg(5)). */
	return sscanf(line, "%*f %*f %*f %d/%*d", &runnable) == 1 ? runnable : -1;
}

/* Properties of file systems. One that is not listed stores every byte, and shares no blocks between files. */
struct fs_traits {
	const char *type;
	bool in_memory, compresses, shares_extents;
	const char *compress_option; /* the file system compresses only if it was mounted with this option */
};

static const struct fs_traits traits[] = {
	{"tmpfs", .in_memory = true},
	{"ramfs", .in_memory = true},
	{"devtmpfs", .in_memory = true},
	{"hugetlbfs", .in_memory = true},
	{"btrfs", .compresses = true, .shares_extents = true, .compress_option = "compress"},
	{"f2fs", .compresses = true, .compress_option = "compress"},
	{"bcachefs", .compresses = true, .shares_extents = true, .compress_option = "compression"},
	{"zfs", .compresses = true, .shares_extents = true},
	{"ntfs3", .compresses = true, .compress_option = "compress"},
	{"xfs", .shares_extents = true},
	{"ocfs2", .shares_extents = true},
	{"nfs4", .shares_extents = true},
	{"cifs", .shares_extents = true},
	{"smb3", .shares_extents = true},
};

/* Returns true if `dir` is the directory `mount`, or is below it. */
static bool lies_under(const char *dir, const char *mount)
{
	size_t n = strlen(mount);
	if (strcmp(mount, "/") == 0)
		return true;
	return strncmp(dir, mount, n) == 0 && (dir[n] == '/' || dir[n] == '\0');
}

static void apply_traits(struct env_fs *fs)
{
	for (size_t i = 0; i < sizeof(traits) / sizeof(*traits); i++) {
		const struct fs_traits *t = &traits[i];
		if (strcmp(fs->mount.type, t->type) != 0)
			continue;
		fs->in_memory = t->in_memory;
		fs->shares_extents = t->shares_extents;
		fs->compresses =
			t->compresses && (!t->compress_option || strstr(fs->mount.options, t->compress_option));
	}
}

/*
 * An overlay has the properties of the file system that contains its upper directory, if the path of that directory is
 * one of this mount namespace. In a container, it is one of the host.
 */
static void look_below(struct env_fs *fs)
{
	static const char option[] = "upperdir=";
	struct env_fs below;
	char path[PATH_MAX] = "";
	const char *upper = strstr(fs->mount.options, option);
	if (strcmp(fs->mount.type, "overlay") != 0)
		return;
	if (upper)
		snprintf(path, sizeof(path), "%.*s", (int)strcspn(upper + strlen(option), ","), upper + strlen(option));
	fs->hidden = !*path || env_fs_read(path, &below) < 0 || below.hidden;
	if (fs->hidden)
		return;
	snprintf(fs->below, sizeof(fs->below), "%.*s", (int)sizeof(fs->below) - 1, below.mount.type);
	fs->in_memory = below.in_memory;
	fs->compresses = below.compresses;
	fs->shares_extents = below.shares_extents;
}

int env_fs_read(const char *dir, struct env_fs *fs)
{
	*fs = (struct env_fs){0};
	char path[PATH_MAX];
	if (!realpath(dir, path))
		return -errno;
	FILE *f = memory_fopen("/proc/self/mountinfo");
	if (!f)
		return -errno;
	char line[2 * PATH_MAX];
	size_t best = 0;
	while (fgets(line, sizeof(line), f)) {
		struct env_fs candidate = {0};
		/* If several file systems are mounted on the same directory, the last one hides the others. */
		if (proc_mount_parse(line, &candidate.mount) && lies_under(path, candidate.mount.mount_point) &&
		    strlen(candidate.mount.mount_point) >= best) {
			best = strlen(candidate.mount.mount_point);
			*fs = candidate;
		}
	}
	fclose(f);
	apply_traits(fs);
	look_below(fs);
	return best ? 0 : -ENOENT;
}

/* The limits that control groups set for sctrace and its children (cgroups(7)), of both versions. */
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

static void read_group(const struct controller *c, const char *dir, struct env_limits *l)
{
	enum { NO_LIMIT_BITS = 62 };
	auto_buf text = {0};
	double period = 0, quota = 0, bytes = 0;
	if (cgroup_read(dir, c->quota, &text) && sscanf(buf_str(&text), "%lf %lf", &quota, &period) >= 1 && quota > 0) {
		if (cgroup_read(dir, c->period, &text))
			period = strtod(buf_str(&text), NULL);
		if (period > 0)
			l->cpus = fmin(l->cpus, quota / period);
	}
	if (cgroup_read(dir, c->memory, &text) && sscanf(buf_str(&text), "%lf", &bytes) == 1 &&
	    bytes < ldexp(1, NO_LIMIT_BITS))
		l->memory_bytes = fmin(l->memory_bytes, bytes);
	cgroup_read(dir, c->stat, &text);
	l->throttled += (double)cgroup_number(buf_str(&text), "nr_throttled");
	cgroup_read(dir, c->oom, &text);
	l->oom_kills = fmax(l->oom_kills, (double)cgroup_number(buf_str(&text), "oom_kill"));
}

/* Reads the limits of the group `path` and of all groups above it. A container sees only a part of the path. */
static void read_path(const struct controller *c, const char *base, const char *path, struct env_limits *l)
{
	auto_buf dir = {0};
	buf_addf(&dir, "%s%s%s", base, c->mount, path);
	const size_t top = strlen(base) + strlen(c->mount);
	for (; dir.len >= top; buf_truncate(&dir, (size_t)(strrchr(dir.s, '/') - dir.s)))
		read_group(c, dir.s, l);
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
			if (cgroup_lists(names + 1, (size_t)(path - names) - 2, controllers[i].name))
				read_path(&controllers[i], base, strcmp(path, "/") == 0 ? "" : path, l);
	}
	if (f)
		fclose(f);
}
