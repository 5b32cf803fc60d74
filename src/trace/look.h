/* SPDX-License-Identifier: MIT */
/* How calls are shown: -e abbrev=, verbose=, raw=, read=, write=, quiet=, decode-fds=, and -X, as in strace. */
#ifndef SCTRACE_TRACE_LOOK_H
#define SCTRACE_TRACE_LOOK_H

#include "base/memory.h"
#include "decode/decode.h"
#include "event.h"
#include "syscall/filter.h"
#include "trace/out.h"

#include <stdbool.h>

struct buf;
struct call_set;

/* Messages that -q and -e quiet= suppress. */
enum trace_quiet {
	QUIET_ATTACH = 1 << 0, /* attached to process 812; Ctrl-C detaches */
	QUIET_EXIT = 1 << 1,   /* +++ exited with 0 +++ */
	QUIET_EXECVE = 1 << 2, /* +++ superseded by execve +++ */
	QUIET_ALL = 7,
};

/* How constants are shown (-X): by name, as numbers, or both. */
enum trace_constants { CONSTANTS_NAMED, CONSTANTS_RAW, CONSTANTS_BOTH };

/* The set of calls that an option names. `calls` is valid only if the option was `given`. */
struct look_calls {
	struct filter calls;
	bool given;
};

/* Descriptors whose data is dumped. Zeros mean that there are none. */
struct look_fds {
	VEC(int) fds;
	bool all, negated;
};

/* Zeros mean that all options have their defaults. Free with trace_look_free(). */
struct trace_look {
	struct look_calls abbrev, verbose, raw;
	struct look_fds read, write;
	unsigned quiet; /* a combination of enum trace_quiet */
	enum trace_constants constants;
	int pid_names;     /* the names of processes are shown if this is not 0 */
	bool namespaces;   /* the namespaces that processes enter are shown (-e namespace=new) */
	bool outer_ids;    /* the numbers of processes in sctrace's pid namespace are shown, if they are other ones */
	unsigned fd_names; /* how descriptors are shown: a combination of enum decode_fd_names */
};

void trace_look_free(struct trace_look *l);
/* Adds to `stops` the calls after which /proc must be read before the thread continues, so that threads stop at these. */
void trace_look_stops(const struct trace_look *l, struct call_set *stops);
/*
 * Like trace_part_parse() in select.h, for the parts abbrev, verbose, raw, read, write, quiet, decode-fds, decode-pids
 * and namespace.
 */
int trace_look_parse(struct trace_look *l, const char *name, size_t len, const char *value, size_t *at,
		     struct buf *why);
/*
 * Parses a list such as "path,socket", which says how descriptors are shown, and sets the number at `names` (fd_names of
 * struct trace_look). Returns 0, or -EINVAL with the reason in `why` and the offset of the mistake in *at.
 */
int trace_look_fd_names(void *names, const char *list, size_t *at, struct buf *why);
/* The same for a list such as "comm", which says how processes are shown, in a struct trace_look. */
int trace_look_pids(void *look, const char *list, size_t *at, struct buf *why);
/* Parses the form of constants: "raw", "abbrev" or "verbose". Returns 0, or -EINVAL with the reason in `why`. */
int trace_look_constants(struct trace_look *l, const char *word, struct buf *why);
/*
 * Each of these three functions answers a question about a call: whether its structures are shown in full, whether its
 * structures are read at all, and whether its arguments are shown as numbers.
 */
bool trace_look_full(const struct trace_look *l, const struct call *c);
bool trace_look_deep(const struct trace_look *l, const struct call *c);
bool trace_look_raw(const struct trace_look *l, const struct call *c);
/* Returns true if the data of descriptor `fd` is dumped. */
bool trace_look_has_fd(const struct look_fds *s, int fd);

/* Shows all bytes that a call transferred, in hexadecimal and as text (-e read=SET, -e write=SET). */

/*
 * If a call that has ended used a selected descriptor, writes the data that it transferred, below the line of the call.
 * Flushes `out` from time to time, because a call may transfer more bytes than should be kept in memory.
 */
void trace_dump(const struct trace_look *l, const struct event *ev, struct trace_out *out);

#endif
