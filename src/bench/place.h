/* SPDX-License-Identifier: MIT */
/* Where and how a measurement runs: its CPUs, its scheduling policy, and whether its memory is locked. */
#ifndef SCTRACE_BENCH_PLACE_H
#define SCTRACE_BENCH_PLACE_H

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct run;

/*
 * CPU numbers in the order in which the user gave them. A zeroed struct is an empty list, which means that the user
 * gave none.
 */
struct cpu_list {
	int *v;
	size_t n, cap;
};

/*
 * Parses "0", "0,2" or "0-3". Returns 0. Returns -EINVAL with the reason in `why` if the text is not a list, or if a
 * CPU does not exist, is not allowed for this process, or occurs twice.
 */
int cpu_list_parse(struct cpu_list *l, const char *text, struct buf *why);
/* Appends the list in a short form: "0,2-3". */
void cpu_list_format(struct buf *out, const struct cpu_list *l);
/* Fills `l` with all CPUs that this process is allowed to use. Returns 0 or -errno. */
int cpu_list_allowed(struct cpu_list *l);

/* Restricts the calling thread to the `n` CPUs. Returns 0 or -errno. */
int place_pin(const int *cpus, size_t n);

/* A scheduling policy and its parameters. */
struct place_policy {
	int policy; /* SCHED_OTHER, SCHED_BATCH, SCHED_FIFO, SCHED_RR */
	int prio;   /* 1 to 99 for SCHED_FIFO and SCHED_RR, otherwise 0 */
	int nice;   /* for SCHED_OTHER and SCHED_BATCH */
};

/* Returns the name of a policy as --policy takes it, or "?". */
const char *place_policy_name(int policy);
/* Applies `p` to the calling thread. Returns 0 or -errno (-EPERM if it is not permitted). */
int place_set_policy(const struct place_policy *p);
/*
 * Sets `p` from the name of a policy ("other", "batch", "fifo" or "rr"; NULL: `otherwise`) and a priority (0: the
 * policy's default). If this process is not allowed to use the policy, uses `otherwise` and adds a note to `run`.
 * Returns 0, or -ERANGE with the reason in `why` if a priority was given and the policy has none.
 */
int place_choose_policy(struct place_policy *p, const char *name, int otherwise, int prio, struct run *run,
			struct buf *why);
/*
 * Replaces each of the `n` nice values that this process is not allowed to use together with the policy by 0, and adds
 * a note to `run`.
 */
void place_permit_nice(const struct place_policy *p, int *nice, size_t n, struct run *run);
/* Locks all present and future memory of the process with mlockall(2). Returns 0 or -errno. */
int place_lock_memory(void);

#endif
