/* SPDX-License-Identifier: MIT */
/* The tables of -c and -C. The counts come from an engine or from the counting sink (trace/count.h). */
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
struct uring;
struct strings;
struct trace_failure;

/* Pointers are not owned and must outlive the totals. */
struct trace_totals_config {
	struct engine *engine;
	const struct buf
		*waiting; /* the calls in which attached processes waited at the end; empty: none, or unknown */
	bool uncounted;   /* no calls are counted: only the line about the program is printed (--tree without -c) */
	bool tabled;      /* the calls are shown in a table */
	bool by_events;   /* a counting sink adds to `events`; otherwise the counts come from the engine */
	bool by_both; /* with by_events: the counts of some calls come from the engine (engine_config.count_threads) */
	const struct uring *uring;  /* what was seen of io_uring (tracee/uring.h), or NULL */
	const struct filter *calls; /* only these calls are kept in the engine's counts; NULL: all calls are kept */
	const struct strings *selection; /* the options that select calls; empty: all calls are counted */
	enum trace_by by;
	struct summary_view view;        /* its `width` is ignored; the width is determined anew for each table */
	bool errors, overhead_set;       /* --errors; -O was given */
	uint64_t overhead_ns;            /* -O: the tracing cost of one call */
	const char *hist, *save;         /* --hist, --save; or NULL */
	const struct conditions *expect; /* --expect, or NULL */
	bool children_known;             /* child processes are traced as well, or counted (engine_result.unfollowed) */
	char *const *program;            /* argv of the program that was started, or NULL */
	bool several;                    /* other output precedes the last table, so the table needs a heading */
	const struct env *machine;       /* the machine of a recording; NULL: this machine */
	uint64_t start_ns;               /* CLOCK_MONOTONIC */
	const char *choice;              /* a line that says why the engine was chosen, or "" */
	struct trace_out *out;
	const struct trace_outputs
		*separate; /* -c -ff: the table of each process is written to its own file; or NULL */
	struct trace_failure *failure;
};

/* Initialise with zeros, then set `c`; free with trace_totals_free(). */
struct trace_totals {
	struct trace_totals_config c;
	struct summary summary, period; /* all calls, and those since the last table */
	struct summary events;          /* calls that the sink has counted and that are not in `summary` yet */
	struct summary before;          /* of the calls that the sink has counted: those before main */
	struct buf unmet, unknown; /* --expect: a line for each condition that does not hold, or cannot be judged */
};

/* Prints the table of the calls since the last table. */
void trace_totals_period(struct trace_totals *t);
/* Prints the table of all calls so far. */
void trace_totals_so_far(struct trace_totals *t);
/* Must be called at EV_MAIN if a sink counts events: all calls so far were made before main. */
void trace_totals_main(struct trace_totals *t);
/* If a sink counts events, sets the calls before main in `r`, because the engine has not counted them. */
void trace_totals_complete(const struct trace_totals *t, struct engine_result *r);
/*
 * Prints the last table and the lines below the table, or the JSON document; or one for each process, in its own file.
 * Saves the run for --save.
 */
void trace_totals_final(struct trace_totals *t, const struct engine_result *r);
/* For --io: makes a run of all calls so far, and prints nothing. Free the run with trace_save_free(). */
void trace_totals_run(struct trace_totals *t, const struct engine_result *r, struct run *run);
void trace_totals_free(struct trace_totals *t);

#endif
