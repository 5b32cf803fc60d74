/* What is different between two traces whose calls were counted by trace/tally. */
#ifndef SCTRACE_TRACE_CHANGES_H
#define SCTRACE_TRACE_CHANGES_H

#include "trace/tally.h"

#include <stdbool.h>

struct buf;

/*
 * Returns true if a call was removed or added, fails or succeeds now, or is slower. A call is slower if each trace
 * contains it at least 10 times, and its median duration is at least twice as long and 100 us longer than before.
 */
bool trace_changes_exist(const struct trace_tally *t);
/* Appends a line for each change, cut to `width` columns (0: no limit). Appends nothing if there are no changes. */
void trace_changes_text(const struct trace_tally *t, int width, struct buf *out);
/* Appends the changes as the JSON object {"differences": [...]} (sctrace-show(1)). */
void trace_changes_json(const struct trace_tally *t, struct buf *out);

#endif
