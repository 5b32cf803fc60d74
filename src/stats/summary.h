/* SPDX-License-Identifier: MIT */
/* Statistics of calls. Engines fill them in; tables, saved runs, compare and bench read them. */
#ifndef SCTRACE_STATS_SUMMARY_H
#define SCTRACE_STATS_SUMMARY_H

#include "base/map.h"
#include "base/memory.h"
#include "stats/hist.h"
#include "syscall/life.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Statistics of one system call in one group. A call that the kernel restarts is entered again but counts once: calls =
 * entered - restarted. Always entered = returned + restarted + unfinished, and the histogram contains the `returned`
 * calls. Times are wall-clock nanoseconds, from which the tracer's cost has been subtracted.
 */
struct call_stats {
	uint32_t arch; /* AUDIT_ARCH_* (linux/audit.h) */
	int64_t nr;
	uint64_t entered, returned, errors, restarted;
	uint64_t bytes;        /* sum of the results of calls that return a number of bytes */
	double ns;             /* sum of the times of all returned calls; negative if the calibrated cost was too
				* high */
	double ns_squared;     /* sum of the squares of the times, for the standard deviation; NAN if the engine does
				* not report it */
	double cost_ns;        /* the tracing cost that was subtracted from `ns` */
	double spread_ns;      /* the largest standard deviation of the calibrations from which `cost_ns` was
				* computed */
	double min_ns, max_ns; /* valid if `returned` is not 0 */
	uint64_t judged;       /* number of returned calls of which the engine knows whether they waited */
	uint64_t waits;        /* number of returned calls during which the thread lost its CPU (enum call_wait) */
	double waited_ns;      /* sum of the times of these calls */
	struct hist hist;      /* times of the returned calls in ns */
};

/* How often a call failed with a certain error (--errors). */
struct call_errno {
	uint32_t arch;
	int64_t nr;
	int err; /* positive errno */
	uint64_t count;
};

/* A group of calls (--by): a process, thread, descriptor or path. Without --by there is one group, whose name is "". */
struct summary_group {
	char *name;
	int64_t id; /* pid, tid or descriptor; -1 if the group has none */
	struct map index;
	VEC(struct call_stats *) calls; /* in the order in which they first occurred; the pointers stay valid */
	VEC(struct call_errno) errnos;
	/* Of a thread whose calls a sink counts: when its first and last events were (CLOCK_MONOTONIC; 0: unknown). */
	uint64_t first_ns, last_ns;
	double unfinished_ns; /* how long it was in calls that did not return */
};

/* A zeroed struct is an empty summary. Free it with summary_free(). */
struct summary {
	VEC(struct summary_group *) groups;
	size_t unknown; /* number of rows whose call number has no name; after UNKNOWN_MAX such rows, further numbers
			 * share the row SYSCALL_OTHERS */
};

/* A call that has returned or was interrupted. Times are in nanoseconds. */
struct call_outcome {
	enum call_end end;
	double ns;        /* the measured time, which includes the cost of tracing */
	double cost_ns;   /* the calibrated cost of tracing */
	double spread_ns; /* standard deviation of the calibration of `cost_ns` */
	enum call_wait wait;
	bool error;
	int err;        /* positive errno, valid if `error` */
	uint64_t bytes; /* the result, if the call returns a number of bytes */
};

void summary_free(struct summary *s);
/* Sets all counts to zero. Pointers to groups and rows, and the times of first and last events, stay valid. */
void summary_clear(struct summary *s);
/* When there are this many groups, because of many processes or paths, all further ones share one. */
#define SUMMARY_GROUPS_MAX 10000
/* Returns the group with this name and id, creating it if needed; or else the shared one of summary_others(). */
struct summary_group *summary_group(struct summary *s, const char *name, int64_t id);
/* Returns the shared group for the calls of all groups beyond SUMMARY_GROUPS_MAX. */
struct summary_group *summary_others(struct summary *s);
/* Returns the row of call `nr` of `arch`, and creates it with zero counts if needed. */
struct call_stats *summary_call(struct summary *s, struct summary_group *g, uint32_t arch, int64_t nr);
/* Adds a call with the outcome `o`. */
void summary_record(struct summary *s, struct summary_group *g, uint32_t arch, int64_t nr,
		    const struct call_outcome *o);
/*
 * Adds the end of one entry of a call. This is where it is decided what counts: a call that was interrupted and restarted
 * counts once, and its time is the sum over its entries.
 */
void summary_end(struct summary *s, struct summary_group *g, const struct life_end *e);
/*
 * Adds e->count errors with the number e->err. Does not change the member `errors` of struct call_stats, so that
 * engines that count errors themselves can call this function.
 */
void summary_errno(struct summary *s, struct summary_group *g, const struct call_errno *e);
/* Adds everything in the group `from` to the group `to` of `s`, except calls that were not made. */
void summary_merge_group(struct summary *s, struct summary_group *to, const struct summary_group *from);
/* Adds everything in `from` to `s`, except calls that were not made. Groups with the same name and id are merged. */
void summary_merge(struct summary *s, const struct summary *from);
/* Returns the number of calls in all groups. Requests of io_uring are not calls. */
uint64_t summary_calls(const struct summary *s);

/* Returns the time of a call without the cost of tracing, in ns. It is negative if the calibrated cost was too high. */
double call_own_ns(const struct call *c);
/* Subtracts the calibrated cost of tracing, and its standard deviation, from the time of `n` calls. */
void call_stats_charge(struct call_stats *c, double n, double cost_ns, double spread_ns);
/* Adds the statistics `from` to `to`. */
void call_stats_add(struct call_stats *to, const struct call_stats *from);
/*
 * Returns true if the row is not about a call but about an operation of io_uring (syscall/uring_ops.h). Its requests do not
 * belong to sums of calls, and its times are those until sctrace saw the completions.
 */
bool call_stats_is_request(const struct call_stats *c);
/* Returns how often the program made the call: entered - restarted. */
uint64_t call_stats_calls(const struct call_stats *c);
/* Returns the number of calls that never returned: entered - returned - restarted. */
uint64_t call_stats_unfinished(const struct call_stats *c);
/* Returns the mean time of the returned calls in ns, or 0 if there are none. */
double call_stats_mean(const struct call_stats *c);
/* Returns the sample standard deviation in ns, or NAN if unknown. */
double call_stats_stddev(const struct call_stats *c);
/* Returns a quantile of the times of the returned calls in ns. It is limited to [min_ns, max_ns]. */
double call_stats_quantile(const struct call_stats *c, double q);
/* Whether the mean is large enough, compared with the uncertainty of the calibration, to be printed. */
enum resolved {
	RESOLVED,   /* print the mean */
	DOUBTFUL,   /* the mean is less than three standard deviations of the calibration: print it with ~ */
	UNRESOLVED, /* the mean is zero or negative: print "<X us", where X is call_stats_resolution() */
};
/* Judges the mean of the returned calls. If there are none, returns RESOLVED. */
enum resolved call_stats_resolved(const struct call_stats *c);
/* Returns the smallest mean in ns that differs from the cost: three deviations of the calibration. */
double call_stats_resolution(const struct call_stats *c);
/* Returns false if the histogram, `returned`, `restarted` and `entered` contradict each other. */
bool call_stats_consistent(const struct call_stats *c);

#endif
