/* SPDX-License-Identifier: MIT */
/* The sink of --files: what the traced programs did with each path. */
#ifndef SCTRACE_TRACE_FILES_H
#define SCTRACE_TRACE_FILES_H

#include "base/map.h"
#include "run/run.h"
#include "trace/sink.h"

struct buf;
struct call_set;

/* What was done with a path. The order is that of the words of --files=. */
enum files_use {
	FILES_READ = 1 << 0,
	FILES_WRITTEN = 1 << 1,
	FILES_CREATED = 1 << 2,
	FILES_DELETED = 1 << 3,
	FILES_RENAMED = 1 << 4,
	FILES_EXECUTED = 1 << 5,
	FILES_LISTED = 1 << 6,
	FILES_CHECKED = 1 << 7, /* the path was looked up, and exists */
	FILES_MISSING = 1 << 8, /* the path was looked up, and does not exist */
	FILES_REFUSED = 1 << 9, /* the permissions did not allow the call */
	FILES_NEEDED = 1 << 10, /* for selection only: the path existed before a traced program used it */
	FILES_ALL = (1 << 10) - 1,
};
#define FILES_WORDS "read written created deleted renamed executed listed checked missing refused needed"

struct files_row;

struct trace_files {
	struct trace_sink sink;
	VEC(struct files_row *) rows;
	struct map by_path; /* map_key() of the path -> struct files_row, with a list of rows that have the same key */
	struct map rules;   /* struct syscall_desc -> struct files_rule */
};

/* Parses a list of FILES_WORDS with commas. Returns 0 and sets *uses, or -EINVAL with the reason in `why`. */
int trace_files_parse(const char *list, unsigned *uses, struct buf *why);
/* Adds the calls that the sink needs as events. */
void trace_files_calls(struct call_set *only);
void trace_files_init(struct trace_files *t);
/*
 * Must be called after the last event. Fills in `out`, which must be zeroed, with the paths that have at least one of
 * `uses`, in ascending order.
 */
void trace_files_finish(struct trace_files *t, unsigned uses, struct run_paths *out);
/*
 * Appends these paths, one on each line. Paths that contain a newline are left out; returns their number. If `escape` is
 * true, bytes that a terminal would obey are escaped.
 */
size_t trace_files_list(struct trace_files *t, unsigned uses, bool escape, struct buf *out);
void trace_files_free(struct trace_files *t);

#endif
