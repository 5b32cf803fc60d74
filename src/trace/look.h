/* strace's options for how much of which calls is shown: -e abbrev=, verbose=, raw=, read=, write=, quiet=, and -X. */
#ifndef SCTRACE_TRACE_LOOK_H
#define SCTRACE_TRACE_LOOK_H

#include "base/vec.h"
#include "event.h"
#include "syscall/filter.h"

#include <stdbool.h>

struct buf;

/* Messages that are omitted. */
enum trace_quiet {
	QUIET_ATTACH = 1 << 0, /* attached, and how to end */
	QUIET_EXIT = 1 << 1,   /* +++ exited with 0 +++ */
	QUIET_EXECVE = 1 << 2, /* +++ superseded by execve +++ */
	QUIET_ALL = 7,
};

/* The form of constants (-X). */
enum trace_constants { CONSTANTS_NAMED, CONSTANTS_RAW, CONSTANTS_BOTH };

/* A set of calls, if the option was given. */
struct look_calls {
	struct filter calls;
	bool given;
};

/* Descriptors whose data is dumped; zeros mean none. */
struct look_fds {
	VEC(int) fds;
	bool all, negated;
};

/* Zeros mean the default look. Free with trace_look_free(). */
struct trace_look {
	struct look_calls abbrev, verbose, raw;
	struct look_fds read, write;
	unsigned quiet; /* enum trace_quiet */
	enum trace_constants constants;
};

void trace_look_free(struct trace_look *l);
/*
 * Parses `value` of the option whose name is the `len` bytes at `name`. Returns 1; 0 if there is no such option here;
 * -EINVAL with the reason in `why` and its offset in *at; or -ENOMEM.
 */
int trace_look_parse(struct trace_look *l, const char *name, size_t len, const char *value, size_t *at,
		     struct buf *why);
/*
 * Parses a list of words such as "path,socket" for how descriptors are shown: *names becomes 0, 1 (paths) or 2 (also
 * sockets and processes). Returns 0; -EINVAL with the reason in `why` and its offset in *at; or -ENOMEM.
 */
int trace_look_fd_names(const char *list, int *names, size_t *at, struct buf *why);
/* Parses "raw", "abbrev" or "verbose", the form of constants. Returns 0, or -EINVAL with the reason in `why`. */
int trace_look_constants(struct trace_look *l, const char *word, struct buf *why);
/*
 * Decide whether the call's structures are shown in full, whether they are read at all, and whether its arguments are
 * shown as numbers.
 */
bool trace_look_full(const struct trace_look *l, const struct call *c);
bool trace_look_deep(const struct trace_look *l, const struct call *c);
bool trace_look_raw(const struct trace_look *l, const struct call *c);
/* True if the descriptor's data is dumped. */
bool trace_look_has_fd(const struct look_fds *s, int fd);

#endif
