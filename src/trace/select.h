/* Which calls, signals and ends are shown: by name, result, error, path, descriptor, duration. */
#ifndef SCTRACE_TRACE_SELECT_H
#define SCTRACE_TRACE_SELECT_H

#include "base/vec.h"
#include "event.h"
#include "syscall/filter.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct trace_subject;

/* How a call ended, for -e status=. */
enum trace_status {
	STATUS_SUCCESSFUL = 1 << 0,
	STATUS_FAILED = 1 << 1,
	STATUS_UNFINISHED = 1 << 2,
	STATUS_UNAVAILABLE = 1 << 3,
	STATUS_DETACHED = 1 << 4,
};

/* Zero-initialised selects everything. */
struct trace_select {
	struct filter calls;
	bool by_call;
	unsigned status; /* enum trace_status; 0: all */
	uint64_t signals[2];
	bool by_signal;
	VEC(int) errnos; /* empty: not asked */
	bool not_errnos;
	VEC(char *) paths; /* -P, each as written and as it resolves; "/etc/..." takes the tree below */
	VEC(int) fds;
	uint64_t slower_ns;
};

/* One word of a list joined by commas; 0, or -EINVAL and `why`. */
typedef int trace_word_fn(void *ctx, const char *word, struct buf *why);
/* Gives each word of `text` to `fn` until one fails; *at is the offset of the last one given. 0, or what `fn` gave. */
int trace_each_word(const char *text, trace_word_fn *fn, void *ctx, size_t *at, struct buf *why);

void trace_select_free(struct trace_select *s);
/* The parsers of -e trace=, status=, signal=, errno=, fds: 0, or -EINVAL, `why`, and *at in `text`. */
int trace_select_calls(struct trace_select *s, const char *text, size_t *at, struct buf *why);
int trace_select_status(struct trace_select *s, const char *text, size_t *at, struct buf *why);
int trace_select_signals(struct trace_select *s, const char *text, size_t *at, struct buf *why);
int trace_select_errnos(struct trace_select *s, const char *text, size_t *at, struct buf *why);
int trace_select_fds(struct trace_select *s, const char *text, size_t *at, struct buf *why);
/* Adds a path of -P, and what it leads to where it is relative or a link. 0 or -ENOMEM. */
int trace_select_path(struct trace_select *s, const char *path);

/* Is the call wanted as far as its entry tells? `subject` is the entry's, and asked only for -P and fds=. */
bool trace_select_enter(const struct trace_select *s, const struct event *ev, struct trace_subject *subject);
/* Does anything depend on how a call ends? Then its line must wait for that. */
bool trace_select_needs_exit(const struct trace_select *s);
/* Is the call wanted by its end (EV_EXIT or EV_VANISH)? */
bool trace_select_exit(const struct trace_select *s, const struct event *ev);
bool trace_select_signal(const struct trace_select *s, int sig);

#endif
