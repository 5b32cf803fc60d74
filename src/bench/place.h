/* Where and with what right a measurement runs: CPUs, scheduling policy, memory locking; as far as permitted. */
#ifndef SCTRACE_BENCH_PLACE_H
#define SCTRACE_BENCH_PLACE_H

#include "base/vec.h"

#include <stdbool.h>

struct buf;

/* A list of CPU numbers, in the order given. Zero-initialised: none given. */
struct cpu_list {
	int *v;
	size_t n, cap;
};

/* Reads "0", "0,2", "0-3". 0, or -EINVAL and `why`: no list, or a CPU that is not there, that we may
 * not use, or that is named twice. */
int cpu_list_parse(struct cpu_list *l, const char *text, struct buf *why);
/* Appends the list as "0,2-3". */
void cpu_list_format(struct buf *out, const struct cpu_list *l);
/* All CPUs that this process may use. 0 or -ENOMEM. */
int cpu_list_allowed(struct cpu_list *l);

/* Pins the calling thread to `n` CPUs; 0 or -errno. */
int place_pin(const int *cpus, size_t n);

/* What was asked of the scheduler. */
struct place_policy {
	int policy; /* SCHED_OTHER, SCHED_BATCH, SCHED_FIFO, SCHED_RR */
	int prio;   /* 1 to 99 for FIFO and RR; 0 otherwise */
	int nice;   /* for OTHER and BATCH */
};

/* The policy called `name` ("other", "batch", "fifo", "rr"), or -1. */
int place_policy_by_name(const char *name);
const char *place_policy_name(int policy);
/* Sets it for the calling thread; 0 or -errno (-EPERM: not permitted). */
int place_set_policy(const struct place_policy *p);
/* Can the calling process have it? Tried in a child; 0 or -errno. */
int place_try_policy(const struct place_policy *p);
/* mlockall() of what is there and what will come; 0 or -errno. */
int place_lock_memory(void);

#endif
