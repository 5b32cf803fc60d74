/* SPDX-License-Identifier: MIT */
/* The sink that counts and times calls, for --by=fd, --by=path, -C, and calls selected by how they end. */
#ifndef SCTRACE_TRACE_COUNT_H
#define SCTRACE_TRACE_COUNT_H

#include "base/buf.h"
#include "base/map.h"
#include "stats/summary.h"
#include "trace/sink.h"

/* What each row of the table stands for (--by). */
enum trace_by { BY_NOTHING, BY_PROCESS, BY_THREAD, BY_FD, BY_PATH };

/* Parses "process", "thread", "fd" or "path". Returns BY_NOTHING for NULL and for all other words. */
enum trace_by trace_by_parse(const char *word);

struct trace_count {
	struct trace_sink sink;
	enum trace_by by;
	bool requests_only;
	struct summary *summary; /* not owned */
	struct buf name;         /* name of the group that was looked up last */
	struct map groups;       /* hash of a group's name and id -> struct summary_group of `summary` */
};

/*
 * Initialises the sink, which adds to `summary`. Until it has ended, no other code may change its groups. It also counts
 * the requests of io_uring; if `requests_only`, it counts nothing else, because the engine counts the calls.
 */
void trace_count_init(struct trace_count *c, enum trace_by by, struct summary *summary, bool requests_only);
void trace_count_free(struct trace_count *c);

#endif
