/* What machine a run was made on: part of every run, because figures without it cannot be compared. */
#ifndef SCTRACE_RUN_ENV_H
#define SCTRACE_RUN_ENV_H

#include "run/field.h"

struct buf;

/* Zero bytes are not an unknown machine: fields_init(&env_fields, e) makes one. What cannot be read is unknown, never guessed. */
struct env {
	bool known;
	char *host, *os, *libc;
	char *date; /* RFC 3339 */
	double uptime_s;
	struct env_kernel {
		bool known;
		char *release, *version, *machine, *preemption;
		struct strings debug_options; /* that slow calls down */
		char *config_source;
		double tick_hz;
		struct strings parameters; /* those of its command line that change what a call costs */
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
		double one, five, fifteen; /* minutes */
	} load;
	struct env_file_system { /* of the folder that was worked in */
		bool known;
		char *directory, *type, *source, *mount_point, *options;
		double block_bytes, total_bytes, free_bytes;
		enum truth in_memory, compresses, shares_extents;
		char *io_scheduler;
	} file_system;
};

extern const struct fields env_fields;

/* The time now, as RFC 3339 has it, in *to, whose earlier text is freed. */
void env_now(char **to);

/*
 * Says in words where two environments differ in what changes results (kernel, debug and preemption options, CPU,
 * mitigations, governor, hypervisor, file system), a line each: "kernel: 6.1.0 | 6.12.1". Returns how many.
 */
int env_differences(const struct env *a, const struct env *b, struct buf *out);

#endif
