/* What single lines of /proc, /sys and the kernel's configuration say: functions of their text alone. */
#ifndef SCTRACE_MEASURE_ENV_TEXT_H
#define SCTRACE_MEASURE_ENV_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct env_activity;

/* The value of a line `KEY<blanks>: VALUE` or `KEY="VALUE"`, cut to `size`; false where the line is not of that key. */
bool env_field(const char *line, const char *key, char *value, size_t size);

/* The name of the option where a line of the kernel's configuration switches on one for finding bugs, or NULL. */
const char *env_debug_option(const char *line);

/*
 * How the kernel preempts by a line of its configuration ("CONFIG_PREEMPT_NONE=y": "none"), NULL where the line does not
 * say. With PREEMPT_DYNAMIC this is what it begins with (kernel/Kconfig.preempt), unless preempt= is on its command line.
 */
const char *env_preemption_model(const char *line);

/* "KVM" for the signature "KVMKVMKVM" that a hypervisor gives in CPUID; the signature itself where it is not known. */
const char *env_hypervisor_name(const char *signature);

/* Does this word of the kernel's command line change what a call costs? */
bool env_is_telling(const char *word);

/* The first line of /proc/stat; false, *a unchanged, where it is none. */
bool env_activity_parse(const char *line, struct env_activity *a);

#endif
