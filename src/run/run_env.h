/* SPDX-License-Identifier: MIT */
/*
 * Describes the machine on which a run was made. The description is part of each run, because figures from different
 * machines cannot be compared without it.
 */
#ifndef SCTRACE_RUN_RUN_ENV_H
#define SCTRACE_RUN_RUN_ENV_H

#include "run/field.h"

struct buf;

/*
 * Initialise the struct with fields_init(&env_fields, e), which makes all facts unknown: zeroed numbers would count as
 * known. A fact that cannot be read stays unknown. It is never guessed.
 */
struct env {
	bool known;
	char *host, *os, *libc;
	char *date; /* RFC 3339 */
	double uptime_s;
	struct env_kernel {
		bool known;
		char *release, *version, *machine, *preemption;
		struct strings debug_options; /* the enabled kernel options that make calls slower */
		char *config_source;
		double tick_hz;
		struct strings parameters; /* the parameters of the kernel command line that change the cost of a
					    * call */
	} kernel;
	struct env_cpu {
		bool known;
		char *model;
		double online, allowed, mhz;
		char *smt, *governor, *driver;
		enum truth turbo;
		char *clocksource, *isolated;
		char *limit; /* of the control group: "none" or "0.20 CPUs" */
	} cpu;
	struct texts mitigations; /* the state of each mitigation, by its name */
	char *hypervisor, *container;
	struct env_memory {
		bool known;
		double total_bytes, available_bytes, swap_total_bytes, page_bytes;
		char *transparent_hugepages;
		char *limit; /* of the control group: "none" or a size */
	} memory;
	struct env_load {
		bool known;
		double one, five, fifteen; /* averages over 1, 5 and 15 minutes */
	} load;
	struct env_file_system { /* the file system of the working directory */
		bool known;
		char *directory, *type, *source, *mount_point, *options;
		double block_bytes, total_bytes, free_bytes;
		enum truth in_memory, compresses, shares_extents;
		char *io_scheduler;
		char *below; /* an overlay: the type of the file system below; unknown if it cannot be seen */
	} file_system;
};

extern const struct fields env_fields;

/* Sets *to to the current time as RFC 3339 defines it, and frees the previous string. */
void env_now(char **to);

/*
 * Appends those differences between two machines that can change results (kernel, debug and preemption options, CPU,
 * mitigations, governor, hypervisor, file system), one in each line: "kernel: 6.1.0 | 6.12.1". Returns the number of
 * lines.
 */
int env_differences(const struct env *a, const struct env *b, struct buf *out);

#endif
