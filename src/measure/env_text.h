/* Parses single lines of /proc, /sys and the kernel configuration. */
#ifndef SCTRACE_MEASURE_ENV_TEXT_H
#define SCTRACE_MEASURE_ENV_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct env_activity;

/*
 * Parses a line `KEY<blanks>: VALUE` or `KEY="VALUE"`, and copies the value, truncated to `size`. Returns false if the
 * line has another key.
 */
bool env_field(const char *line, const char *key, char *value, size_t size);

/* Returns the name of the debugging option that this line of the kernel configuration enables, or NULL. */
const char *env_debug_option(const char *line);

/*
 * Returns the preemption model that this line of the kernel configuration selects ("CONFIG_PREEMPT_NONE=y": "none"), or
 * NULL. If the kernel has PREEMPT_DYNAMIC, this is only the default (kernel/Kconfig.preempt): preempt= on the kernel
 * command line overrides it.
 */
const char *env_preemption_model(const char *line);

/*
 * Returns the name of a hypervisor for its CPUID signature ("KVMKVMKVM": "KVM"), or the signature itself if it is
 * unknown.
 */
const char *env_hypervisor_name(const char *signature);

/* Returns true if `word`, from the kernel command line, is a parameter that changes the cost of a system call. */
bool env_is_telling(const char *word);

/* Parses the first line of /proc/stat. Returns false and leaves *a unchanged if `line` is a different line. */
bool env_activity_parse(const char *line, struct env_activity *a);

/* Parses /proc/loadavg. Returns how many threads of the machine can run or are running, or -1 for a different line. */
int env_runnable_parse(const char *line);

#endif
