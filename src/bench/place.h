/* Where and how a measurement runs: CPUs, scheduling policy, memory locking, as far as permitted. */
#ifndef SCTRACE_BENCH_PLACE_H
#define SCTRACE_BENCH_PLACE_H

#include "base/vec.h"

#include <stdbool.h>

struct buf;

/* A list of CPU numbers in the given order. A list of zeros means that none were given. */
struct cpu_list {
	int *v;
	size_t n, cap;
};

/*
 * Parses "0", "0,2", "0-3". Returns 0, or -EINVAL with the reason in `why`: not a list, or a CPU that does not exist,
 * may not be used, or is named twice.
 */
int cpu_list_parse(struct cpu_list *l, const char *text, struct buf *why);
/* Appends the list as "0,2-3". */
void cpu_list_format(struct buf *out, const struct cpu_list *l);
/* All CPUs that this process may use. Returns 0 or -ENOMEM. */
int cpu_list_allowed(struct cpu_list *l);

/* Pins the calling thread to `n` CPUs. Returns 0 or -errno. */
int place_pin(const int *cpus, size_t n);

/* The requested scheduling. */
struct place_policy {
	int policy; /* SCHED_OTHER, SCHED_BATCH, SCHED_FIFO, SCHED_RR */
	int prio;   /* 1 to 99 for FIFO and RR, otherwise 0 */
	int nice;   /* for OTHER and BATCH */
};

/* The policy called `name` ("other", "batch", "fifo", "rr"), or -1. */
int place_policy_by_name(const char *name);
const char *place_policy_name(int policy);
/* Sets it for the calling thread. Returns 0 or -errno (-EPERM: not permitted). */
int place_set_policy(const struct place_policy *p);
/* Tries in a child whether the calling process may use it. Returns 0 or -errno. */
int place_try_policy(const struct place_policy *p);
/* Locks present and future memory by mlockall(2). Returns 0 or -errno. */
int place_lock_memory(void);

#endif
