/* Counts as JSON: printed as a document (-c --format=json), or saved for `sctrace report` (--save). */
#ifndef SCTRACE_TRACE_SAVE_H
#define SCTRACE_TRACE_SAVE_H

#include "engine/engine.h"
#include "out/summary_table.h"
#include "stats/summary.h"

struct buf;
struct run;

/* Appends {"syscalls": `calls`, "program": {...} or null, "engine": name} and a newline; `calls` is JSON text. `expect` (JSON
 * text, or "") becomes the member "expect". */
void trace_save_document(const char *engine, bool program, const char *calls, const char *expect,
			 const struct engine_result *r, struct buf *out);
/* The contents of a saved count. */
struct trace_save {
	char *const *argv; /* of the program; NULL: none was started */
	const char *engine;
	const struct summary *calls;
	const struct engine_result *result;
	const struct summary_view *view; /* how the table was requested, */
	bool errors;                     /* --errors, */
	const char *hist;                /* --hist, or NULL */
	const char *footer;              /* the lines below the table, as printed */
	const struct env *machine;       /* the machine of the calls; NULL: this one, now */
};
/* Makes a run of kind "count". It uses the calls and the machine of `what`; free it with trace_save_free(). */
void trace_save_make(struct run *run, const struct trace_save *what);
/* Frees the run, but not its calls, nor the machine unless that is NULL in `what`. */
void trace_save_free(struct run *run, const struct env *machine);
/* Writes that run to `path`. 0, or -errno and `why`. */
int trace_save_run(const char *path, const struct trace_save *what, struct buf *why);

#endif
