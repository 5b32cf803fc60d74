/* Statistics of many calls. Engines fill this type in; tables, saved runs, compare and bench read it. */
#ifndef SCTRACE_STATS_SUMMARY_H
#define SCTRACE_STATS_SUMMARY_H

#include "base/map.h"
#include "base/vec.h"
#include "stats/hist.h"
#include "syscall/life.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Statistics of one system call in one group. Always `entered` = `returned` + `restarted` + unfinished, and the
 * histogram's total is `returned`. A call that the kernel restarts enters again but is one call: calls = entered -
 * restarted. Times are wall-clock nanoseconds without the tracer's own cost.
 */
struct call_stats {
	uint32_t arch; /* AUDIT_ARCH_* (linux/audit.h) */
	int64_t nr;
	uint64_t entered, returned, errors, restarted;
	uint64_t bytes;        /* sum of the results of calls that return a number of bytes */
	double ns;             /* sum over all returned calls; below zero if calibration subtracted too much */
	double ns_squared;     /* sum of squares, for the standard deviation; NAN if the engine does not know it */
	double cost_ns;        /* the tracing cost that was subtracted from `ns` */
	double spread_ns;      /* the largest spread (standard deviation) of the calibrations behind `cost_ns` */
	double min_ns, max_ns; /* valid if returned > 0 */
	struct hist hist;      /* times in ns of returned calls */
};

/* The errors of one call, by number (`--errors`). */
struct call_errno {
	uint32_t arch;
	int64_t nr;
	int err; /* positive errno */
	uint64_t count;
};

/* One group of rows of `--by`: a process, thread, descriptor or path. Without `--by` there is one group, named "". */
struct summary_group {
	char *name;
	int64_t id; /* pid, tid or fd; -1 if there is none */
	struct map index;
	VEC(struct call_stats *) calls; /* in order of first appearance; the pointers are stable */
	VEC(struct call_errno) errnos;
};

/* A summary of zeros is empty. Free with summary_free(). */
struct summary {
	VEC(struct summary_group *) groups;
	size_t unknown; /* rows of calls without a name; after UNKNOWN_MAX rows the rest share SYSCALL_OTHERS */
	bool failed;    /* memory ran out: some calls are missing, which must be reported */
};

/* One finished or interrupted call, for summary_record(). Times are in nanoseconds. */
struct call_outcome {
	enum call_end end;
	double ns;        /* as measured, with the tracing cost */
	double cost_ns;   /* the calibrated tracing cost in `ns` */
	double spread_ns; /* the spread of that calibration */
	bool error;
	int err;        /* positive errno, if `error` */
	uint64_t bytes; /* result, for calls that return a number of bytes */
};

void summary_free(struct summary *s);
/*
 * A program may create any number of processes and open any number of paths. After this many groups, all others share
 * one more.
 */
#define SUMMARY_GROUPS_MAX 10000
/*
 * The group called `name` with `id`, created if needed, or the group of all others if there are too many. NULL (and
 * `failed`) if memory ran out.
 */
struct summary_group *summary_group(struct summary *s, const char *name, int64_t id);
/* The group of all others, for use when there is no room for more. */
struct summary_group *summary_others(struct summary *s);
/* The row of call `nr` of `arch`, created with zero counts if needed. NULL (and s->failed) if memory ran out. */
struct call_stats *summary_call(struct summary *s, struct summary_group *g, uint32_t arch, int64_t nr);
/* Adds one call that entered and ended as `o` says. */
void summary_record(struct summary *s, struct summary_group *g, uint32_t arch, int64_t nr,
		    const struct call_outcome *o);
/*
 * Adds e->count errors of one number, for an engine that has counted them. Does not change the `errors` of the call
 * itself.
 */
void summary_errno(struct summary *s, struct summary_group *g, const struct call_errno *e);
/* Adds all of `from` to `s`. Groups are matched by name and id. */
void summary_merge(struct summary *s, const struct summary *from);
/* The number of calls of all groups. */
uint64_t summary_calls(const struct summary *s);

/* Adds the statistics `from`. Returns 0, or -ENOMEM with the histogram unchanged. */
int call_stats_add(struct call_stats *to, const struct call_stats *from);
/* How often the program made the call: entered - restarted. */
uint64_t call_stats_calls(const struct call_stats *c);
/* Calls that never returned: entered - returned - restarted. */
uint64_t call_stats_unfinished(const struct call_stats *c);
/* Mean time of the returned calls in ns; 0 if none returned. */
double call_stats_mean(const struct call_stats *c);
/* Sample standard deviation in ns; NAN if unknown. */
double call_stats_stddev(const struct call_stats *c);
/* Quantile of the returned calls' times in ns, limited to [min, max]. */
double call_stats_quantile(const struct call_stats *c, double q);
/* How far the mean can be trusted after calibration. */
enum resolved {
	RESOLVED,   /* print it */
	DOUBTFUL,   /* the mean is less than three spreads of the calibration: mark it with ~ */
	UNRESOLVED, /* nothing remains of it: print "<X us", where X is call_stats_resolution() */
};
enum resolved call_stats_resolved(const struct call_stats *c);
/* The least mean in ns that can be distinguished from the tracer's own cost: three spreads. */
double call_stats_resolution(const struct call_stats *c);
/* False if histogram, returned, restarted and entered do not add up. */
bool call_stats_consistent(const struct call_stats *c);

#endif
