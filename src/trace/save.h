/* A count as JSON: printed whole (-c --format=json), and saved for `sctrace report` (--save). */
#ifndef SCTRACE_TRACE_SAVE_H
#define SCTRACE_TRACE_SAVE_H

#include "engine/engine.h"
#include "stats/summary.h"

struct buf;

/* Appends {"syscalls": `calls`, "program": {...} or null, "engine": name} and a newline; `calls` is JSON text. */
void trace_save_document(const char *engine, bool program, const char *calls, const struct engine_result *r,
			 struct buf *out);
/* Writes a run of kind "count" to `path`; `argv` may be NULL. 0, or -errno and `why`. */
int trace_save_run(const char *path, char *const *argv, const char *engine, const struct summary *s,
		   const struct engine_result *r, struct buf *why);

#endif
