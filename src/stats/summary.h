/* What is known of many calls: the one type that engines fill, and tables, saved runs, compare and bench read. */
#ifndef SCTRACE_STATS_SUMMARY_H
#define SCTRACE_STATS_SUMMARY_H

#include "base/map.h"
#include "base/vec.h"
#include "stats/hist.h"
#include "syscall/life.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * One system call of one group. `entered` = `returned` + `restarted` + unfinished, always; the histogram's total is
 * `returned`. A call that the kernel restarts enters again and is one call: calls = entered - restarted.
 * Times are wall-clock nanoseconds, the tracer's own cost already taken out.
 */
struct call_stats {
	uint32_t arch; /* AUDIT_ARCH_* (linux/audit.h) */
	int64_t nr;
	uint64_t entered, returned, errors, restarted;
	uint64_t bytes;    /* sum of the results of calls that return a byte count */
	double ns;         /* sum over all that returned; below zero where calibration took out more than there was */
	double ns_squared; /* sum of squares, for the standard deviation; NAN where the engine does not know it */
	double cost_ns;    /* how much tracing cost was taken out of `ns` */
	double spread_ns;  /* the largest spread (standard deviation) of the calibrations that `cost_ns` came from */
	double min_ns, max_ns; /* meaningful where returned > 0 */
	struct hist hist;      /* ns, of returned calls */
};

/* The errors of one call, by number (`--errors`). */
struct call_errno {
	uint32_t arch;
	int64_t nr;
	int err; /* positive errno */
	uint64_t count;
};

/* One row group of `--by`: a process, a thread, a descriptor, a path. Without `--by` there is one, named "". */
struct summary_group {
	char *name;
	int64_t id; /* pid, tid or fd; -1 where there is none */
	struct map index;
	VEC(struct call_stats *) calls; /* in order of first appearance; the pointers are stable */
	VEC(struct call_errno) errnos;
};

/* Zero-initialised is empty; free with summary_free(). */
struct summary {
	VEC(struct summary_group *) groups;
	size_t unknown; /* rows of calls without a name; from some thousand on they share SYSCALL_OTHERS */
	bool failed;    /* memory ran out: some calls are missing, and this must be told */
};

/* One finished or interrupted call, for summary_record(). Times in ns. */
struct call_outcome {
	enum call_end end;
	double ns;        /* as measured, tracing cost included */
	double cost_ns;   /* calibrated cost contained in it */
	double spread_ns; /* spread of that calibration */
	bool error;
	int err;        /* positive errno, where error */
	uint64_t bytes; /* result, for calls that return a byte count */
};

void summary_free(struct summary *s);
/* A program may make any number of processes and open any number of paths: what comes after so many groups shares one more. */
#define SUMMARY_GROUPS_MAX 10000
/* The group called `name` with `id`, or that of all others, made at first use; NULL (and `failed`) when memory ran out. */
struct summary_group *summary_group(struct summary *s, const char *name, int64_t id);
/* That of all others, once there is no room for more. */
struct summary_group *summary_others(struct summary *s);
/* The row of call `nr` of `arch`, made at first use with zero counts; NULL (and s->failed) when memory ran out. */
struct call_stats *summary_call(struct summary *s, struct summary_group *g, uint32_t arch, int64_t nr);
/* Adds one call that has entered and come to the end `o` tells. */
void summary_record(struct summary *s, struct summary_group *g, uint32_t arch, int64_t nr,
		    const struct call_outcome *o);
/* Adds e->count errors by number, for an engine that has counted them; the calls' own `errors` are not touched. */
void summary_errno(struct summary *s, struct summary_group *g, const struct call_errno *e);
/* Adds all of `from` to `s`, groups by name and id. */
void summary_merge(struct summary *s, const struct summary *from);

/* Adds what is known of a call elsewhere; 0, or -ENOMEM, the histogram then unchanged. */
int call_stats_add(struct call_stats *to, const struct call_stats *from);
/* How often the program made the call: entered - restarted. */
uint64_t call_stats_calls(const struct call_stats *c);
/* Calls that never came back: entered - returned - restarted. */
uint64_t call_stats_unfinished(const struct call_stats *c);
/* Mean ns of the returned calls' own time; 0 where none returned. */
double call_stats_mean(const struct call_stats *c);
/* Sample standard deviation in ns; NAN where unknown. */
double call_stats_stddev(const struct call_stats *c);
/* Quantile of the returned calls in ns, held within [min, max]. */
double call_stats_quantile(const struct call_stats *c, double q);
/* How far the mean can be trusted after calibration. */
enum resolved {
	RESOLVED,   /* print it */
	DOUBTFUL,   /* the mean is below three spreads of the calibration: mark it with ~ */
	UNRESOLVED, /* nothing is left of it: print "<X us", X being call_stats_resolution() */
};
enum resolved call_stats_resolved(const struct call_stats *c);
/* The least mean in ns that could have been told apart from the tracer's own cost: three spreads. */
double call_stats_resolution(const struct call_stats *c);
/* Checks the books: false when histogram, returned, restarted and entered do not add up. */
bool call_stats_consistent(const struct call_stats *c);

#endif
