#include "measure/env_text.h"

#include "measure/env.h"

#include <stdio.h>
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

/*
 * Kernel command-line parameters that change the cost of a system call. The other parameters (disks, addresses) are
 * private, so they are not saved in runs, which people share.
 */
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
	/*
	 * The columns are user, nice, system, idle, iowait, irq, softirq and steal, in ticks. The time of guests is
	 * included in user (proc_stat(5)).
	 */
	if (sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
		   &v[7]) < 4)
		return false;
	double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
	a->busy_s = ((double)v[0] + (double)v[1] + (double)v[2] + (double)v[5] + (double)v[6]) * tick;
	a->idle_s = ((double)v[3] + (double)v[4]) * tick;
	a->steal_s = (double)v[7] * tick;
	return true;
}
