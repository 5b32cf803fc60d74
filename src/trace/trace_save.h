/* SPDX-License-Identifier: MIT */
/* Converts counts to JSON: a document to print (-c --format=json), or a run to save for `sctrace report` (--save). */
#ifndef SCTRACE_TRACE_TRACE_SAVE_H
#define SCTRACE_TRACE_TRACE_SAVE_H

#include "engine/engine.h"
#include "out/summary_table.h"
#include "stats/summary.h"

struct buf;
struct run;
struct strings;

/*
 * Appends {"syscalls": `calls`, "program": {...} or null, "engine": name} and a newline. `calls` is JSON text. `more`
 * has further members, each with a comma and a newline after it.
 */
void trace_save_document(const char *engine, bool program, const char *calls, const char *more,
			 const struct engine_result *r, struct buf *out);
/* The data from which a run is made. Pointers are not owned. */
struct trace_save {
	char *const *argv; /* command line of the program; NULL: sctrace did not start a program */
	const char *engine;
	const struct summary *calls;
	const struct engine_result *result;
	const struct summary_view *view; /* options of the table, with which `sctrace report` shows it */
	bool errors;                     /* --errors */
	const char *hist;                /* --hist, or NULL */
	const char *footer;              /* the lines below the table, as printed */
	const struct env *machine;       /* the machine on which the calls were made; NULL: this one, now */
	const struct strings *selection; /* the options that select calls; empty: all calls are counted */
};
/* Makes a run of kind "count". It uses the calls and the machine of `what`, not copies. Free with trace_save_free(). */
void trace_save_make(struct run *run, const struct trace_save *what);
/* Frees a run of trace_save_make(), except the calls, and except `machine` (what->machine) if it is not NULL. */
void trace_save_free(struct run *run, const struct env *machine);
/* Writes a run of kind "count" to the file `path`. Returns 0, or -errno with the reason in `why`. */
int trace_save_run(const char *path, const struct trace_save *what, struct buf *why);

#endif
