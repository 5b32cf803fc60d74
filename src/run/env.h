/* The machine that a run was made on. It is part of each run, because figures without it cannot be compared. */
#ifndef SCTRACE_RUN_ENV_H
#define SCTRACE_RUN_ENV_H

#include "run/field.h"

struct buf;

/*
 * Zeros do not mean an unknown machine: use fields_init(&env_fields, e). Facts that cannot be read are unknown, never
 * guessed.
 */
struct env {
	bool known;
	char *host, *os, *libc;
	char *date; /* RFC 3339 */
	double uptime_s;
	struct env_kernel {
		bool known;
		char *release, *version, *machine, *preemption;
		struct strings debug_options; /* those that slow calls down */
		char *config_source;
		double tick_hz;
		struct strings parameters; /* those of the kernel command line that change the cost of a call */
	} kernel;
	struct env_cpu {
		bool known;
		char *model;
		double online, allowed, mhz;
		char *smt, *governor, *driver;
		enum truth turbo;
		char *clocksource, *isolated;
	} cpu;
	struct texts mitigations; /* state by name */
	char *hypervisor, *container;
	struct env_memory {
		bool known;
		double total_bytes, available_bytes, swap_total_bytes, page_bytes;
		char *transparent_hugepages;
	} memory;
	struct env_load {
		bool known;
		double one, five, fifteen; /* averages over this many minutes */
	} load;
	struct env_file_system { /* of the working folder */
		bool known;
		char *directory, *type, *source, *mount_point, *options;
		double block_bytes, total_bytes, free_bytes;
		enum truth in_memory, compresses, shares_extents;
		char *io_scheduler;
	} file_system;
};

extern const struct fields env_fields;

/* Sets *to to the current time in RFC 3339's form, and frees its earlier text. */
void env_now(char **to);

/*
 * Appends the differences of two environments that change results (kernel, debug and preemption options, CPU,
 * mitigations, governor, hypervisor, file system), one a line: "kernel: 6.1.0 | 6.12.1". Returns their number.
 */
int env_differences(const struct env *a, const struct env *b, struct buf *out);

#endif
