/* The tables of -c and -C: counts of an engine or of the counting sink (trace/count.h), printed and saved. */
#ifndef SCTRACE_TRACE_TOTALS_H
#define SCTRACE_TRACE_TOTALS_H

#include "engine/engine.h"
#include "out/summary_table.h"
#include "run/condition.h"
#include "stats/summary.h"
#include "syscall/filter.h"
#include "trace/count.h"
#include "trace/out.h"

struct run;
struct trace_failure;

/* Pointers are not owned and must outlive the totals. */
struct trace_totals_config {
	struct engine *engine;
	bool by_events;             /* a counting sink adds to `summary`; otherwise the engine counts */
	const struct filter *calls; /* drop other calls from the engine's counts; NULL: none */
	enum trace_by by;
	struct summary_view view;        /* its width is determined for each table */
	bool errors, overhead_set;       /* --errors, -O */
	uint64_t overhead_ns;            /* -O: cost of one call */
	const char *hist, *save;         /* --hist, --save; or NULL */
	const struct conditions *expect; /* --expect, or NULL */
	char *const *program;            /* argv of the program that was started, or NULL */
	bool several;                    /* something is printed above the last table, so it gets a heading */
	const struct env *machine;       /* of a recording; NULL: this one */
	uint64_t start_ns;               /* CLOCK_MONOTONIC */
	const char *choice;              /* a line with the reason for this engine, or "" */
	struct trace_out *out;
	struct trace_failure *failure;
};

/* Initialise with zeros, then set `c`; free with trace_totals_free(). */
struct trace_totals {
	struct trace_totals_config c;
	struct summary summary, period;
	struct buf unmet, unknown; /* lines on the conditions of --expect that do not hold, or cannot be judged */
};

/* Prints the table of the calls since the last table (if events are counted: of everything so far). */
void trace_totals_period(struct trace_totals *t);
/* Prints the table of everything so far. */
void trace_totals_so_far(struct trace_totals *t);
/* Prints the last table, or the JSON document, with everything below it, and saves the run. */
void trace_totals_final(struct trace_totals *t, const struct engine_result *r);
/* Makes the run of everything so far instead, for --io. Free it with trace_save_free(). */
void trace_totals_run(struct trace_totals *t, const struct engine_result *r, struct run *run);
void trace_totals_free(struct trace_totals *t);

#endif
