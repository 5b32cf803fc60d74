/* SPDX-License-Identifier: MIT */
/* What is different between two traces, whose calls struct trace_tally counts. */
#ifndef SCTRACE_TRACE_CHANGES_H
#define SCTRACE_TRACE_CHANGES_H

#include "base/map.h"
#include "base/memory.h"
#include "stats/hist.h"
#include "trace/line.h"
#include "trace/sink.h"

#include <stdbool.h>

/*
 * The sink that counts equal calls of two traces, so that the traces can be compared. Process ids, addresses,
 * descriptors and the data that the kernel returns are different in each run. Calls that differ only in these are
 * equal.
 */

/* How many different calls have rows of their own. Further calls with the same name share a row: "pread64(...)". */
#define TALLY_ROWS 65536

/* A set of equal calls. Index 0 of the arrays is the first trace, index 1 the second. */
struct tally_row {
	char *text;                      /* the call without its result: "openat(AT_FDCWD, "/etc/passwd", O_RDONLY)" */
	const struct syscall_desc *desc; /* NULL for an unknown call */
	uint64_t calls[2], errors[2];
	int err[2];        /* error of the last call that failed; 0: none */
	struct hist ns[2]; /* durations of the calls */
};

/* Initialise with zeros, then set `string_max`. */
struct trace_tally {
	struct trace_sink sink;
	unsigned string_max; /* strings are compared up to this number of bytes */
	unsigned which;      /* the trace that events belong to: 0 or 1 */
	struct trace_look look;
	struct map threads;           /* ids of all threads of the current trace */
	bool crowded;                 /* there are more than TALLY_ROWS different calls */
	struct map index;             /* hash of the text -> struct tally_row */
	VEC(struct tally_row *) rows; /* in order of appearance */
	struct buf text;              /* text of the call that begins */
};

/* Must be called before the events of trace `which`, 0 or 1. */
void trace_tally_begin(struct trace_tally *t, unsigned which);
void trace_tally_free(struct trace_tally *t);

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
