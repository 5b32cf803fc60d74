/*
 * The sink that adds up equal calls of two traces, to compare them. Process ids, addresses, descriptors and what the kernel fills in are
 * different in each run, so calls are equal without them.
 */
#ifndef SCTRACE_TRACE_TALLY_H
#define SCTRACE_TRACE_TALLY_H

#include "base/map.h"
#include "base/vec.h"
#include "stats/hist.h"
#include "trace/line.h"
#include "trace/sink.h"

/* If there are more different calls than this, the others are equal if their names are: "pread64(...)". */
#define TALLY_ROWS 65536

/* Equal calls. Index 0 is the first trace, index 1 the second one. */
struct tally_row {
	char *text;                      /* "openat(AT_FDCWD, "/etc/passwd", O_RDONLY)" */
	const struct syscall_desc *desc; /* or NULL */
	uint64_t calls[2], errors[2];
	int err[2];        /* of the last one that failed */
	struct hist ns[2]; /* durations */
};

/* Zero-initialised but for `string_max`. */
struct trace_tally {
	struct trace_sink sink;
	unsigned string_max; /* bytes of a string that count */
	unsigned which;      /* trace, 0 or 1 */
	struct trace_look look;
	struct map threads;           /* of this trace */
	bool crowded;                 /* there are more than TALLY_ROWS different calls */
	struct map index;             /* hash of the text -> struct tally_row */
	VEC(struct tally_row *) rows; /* in order of appearance */
	struct buf text;              /* of the call that begins */
};

/* Makes the sink add to trace `which`. */
void trace_tally_begin(struct trace_tally *t, unsigned which);
void trace_tally_free(struct trace_tally *t);

#endif
