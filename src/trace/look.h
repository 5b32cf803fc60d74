/* strace's choices of how much of which calls is shown: -e abbrev=, verbose=, raw=, read=, write=, quiet=, and -X. */
#ifndef SCTRACE_TRACE_LOOK_H
#define SCTRACE_TRACE_LOOK_H

#include "base/vec.h"
#include "event.h"
#include "syscall/filter.h"

#include <stdbool.h>

struct buf;

/* Messages that are left out. */
enum trace_quiet {
	QUIET_ATTACH = 1 << 0, /* attached to, and how to end */
	QUIET_EXIT = 1 << 1,   /* +++ exited with 0 +++ */
	QUIET_EXECVE = 1 << 2, /* +++ superseded by execve +++ */
	QUIET_ALL = 7,
};

/* How constants are written (-X). */
enum trace_constants { CONSTANTS_NAMED, CONSTANTS_RAW, CONSTANTS_BOTH };

/* Calls that were chosen, or not asked. */
struct look_calls {
	struct filter calls;
	bool given;
};

/* Descriptors whose data is dumped; zero-initialised: none. */
struct look_fds {
	VEC(int) fds;
	bool all, negated;
};

/* Zero-initialised is the usual look; free with trace_look_free(). */
struct trace_look {
	struct look_calls abbrev, verbose, raw;
	struct look_fds read, write;
	unsigned quiet; /* enum trace_quiet */
	enum trace_constants constants;
};

void trace_look_free(struct trace_look *l);
/*
 * Reads `value` of the choice called by the `len` bytes at `name`: 1, or 0 where there is no such choice here; -EINVAL,
 * `why`, and *at in `value`; or -ENOMEM.
 */
int trace_look_parse(struct trace_look *l, const char *name, size_t len, const char *value, size_t *at,
		     struct buf *why);
/*
 * How descriptors are named, as a list of words such as "path,socket": *names becomes 0, 1 (paths) or 2 (sockets and processes too). 0, or
 * -EINVAL, `why`, and *at in `list`; or -ENOMEM.
 */
int trace_look_fd_names(const char *list, int *names, size_t *at, struct buf *why);
/* How constants are written: "raw", "abbrev" or "verbose". 0, or -EINVAL and `why`. */
int trace_look_constants(struct trace_look *l, const char *word, struct buf *why);
/* Are the call's structures shown in full, are they looked at at all, are its arguments shown as numbers? */
bool trace_look_full(const struct trace_look *l, const struct call *c);
bool trace_look_deep(const struct trace_look *l, const struct call *c);
bool trace_look_raw(const struct trace_look *l, const struct call *c);
/* Is the descriptor's data dumped? */
bool trace_look_has_fd(const struct look_fds *s, int fd);

#endif
