/* Parses single lines of /proc, /sys and the kernel configuration. All functions are pure. */
#ifndef SCTRACE_MEASURE_ENV_TEXT_H
#define SCTRACE_MEASURE_ENV_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct env_activity;

/*
 * Copies the value of a line `KEY<blanks>: VALUE` or `KEY="VALUE"`, cut to `size`. Returns false if the line has
 * another key.
 */
bool env_field(const char *line, const char *key, char *value, size_t size);

/* The name of the debugging option that this line of the kernel configuration enables, or NULL. */
const char *env_debug_option(const char *line);

/*
 * The preemption model that this line of the kernel configuration selects ("CONFIG_PREEMPT_NONE=y": "none"), or NULL.
 * With PREEMPT_DYNAMIC it is only the default (kernel/Kconfig.preempt), which preempt= on the command line overrides.
 */
const char *env_preemption_model(const char *line);

/* The name for a CPUID signature of a hypervisor ("KVMKVMKVM": "KVM"), or the signature itself if it is unknown. */
const char *env_hypervisor_name(const char *signature);

/* True if this word of the kernel command line changes the cost of a call. */
bool env_is_telling(const char *word);

/* Parses the first line of /proc/stat. Returns false and leaves *a unchanged if the line is different. */
bool env_activity_parse(const char *line, struct env_activity *a);

#endif
