/* SPDX-License-Identifier: MIT */
/* Selects calls (by name, result, error, path, descriptor, duration or wait) and signals. */
#ifndef SCTRACE_TRACE_SELECT_H
#define SCTRACE_TRACE_SELECT_H

#include "base/memory.h"
#include "event.h"
#include "syscall/filter.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct call_set;
struct strings;
struct trace_subject;

/* The outcome of a call, for -e status=. The last two are names of strace; no call has these outcomes. */
enum trace_status {
	STATUS_SUCCESSFUL = 1 << 0,
	STATUS_FAILED = 1 << 1,
	STATUS_UNFINISHED = 1 << 2,
	STATUS_UNAVAILABLE = 1 << 3,
	STATUS_DETACHED = 1 << 4,
};

/* Zeros select everything. */
struct trace_select {
	struct filter calls;
	char *calls_text; /* `calls` as the user wrote it */
	bool by_call;
	unsigned status; /* a combination of enum trace_status; 0: all */
	/* A bit for each signal, 64 in each word; used if `by_signal` is true. */
	uint64_t signals[2];
	bool by_signal;
	VEC(int) errnos; /* empty: any error */
	bool not_errnos;
	VEC(char *)
	paths; /* -P: each path as the user typed it and as it was resolved; "/etc/..." means everything
		* below /etc */
	/* -e fds=; empty: any descriptor */
	VEC(int) fds;
	/* Only calls that took longer than this, without the tracing cost, are selected; 0: all. */
	uint64_t slower_ns;
	bool waited; /* only calls of which it is known that they waited are selected */
};

/* Handles one word of a list with commas. Returns 0, or -EINVAL with the reason in `why`. */
typedef int trace_word_fn(void *ctx, const char *word, struct buf *why);
/* Passes each word to `fn` until it fails. Returns its last result, and the offset of that word in *at. */
int trace_each_word(const char *text, trace_word_fn *fn, void *ctx, size_t *at, struct buf *why);

/* A part of -e, which the user writes as NAME=VALUE, and the offset of what it sets in the settings. */
struct trace_part {
	const char *names; /* its name and the short forms of it, separated by spaces */
	int (*parse)(void *member, const char *value, size_t *at, struct buf *why);
	size_t offset;
};
/*
 * Parses `value` as the part whose name is the `len` bytes at `name`. The last row of `parts` is {0}. Returns 1; 0 if
 * no part has this name; or -EINVAL with the reason in `why` and the offset of the mistake in *at.
 */
int trace_part_parse(const struct trace_part *parts, void *settings, const char *name, size_t len, const char *value,
		     size_t *at, struct buf *why);

void trace_select_free(struct trace_select *s);
/* Like trace_part_parse(), for the parts trace, status, signal, errno and fds. */
int trace_select_parse(struct trace_select *s, const char *name, size_t len, const char *value, size_t *at,
		       struct buf *why);
/* Adds a path of -P. If the path is relative or a link, also adds the path that it resolves to. */
void trace_select_path(struct trace_select *s, const char *path);

/* Returns true if nothing known at the entry excludes the call. `subject`, of the same entry, is for -P and fds=. */
bool trace_select_enter(const struct trace_select *s, const struct event *ev, struct trace_subject *subject);
/*
 * Appends the options that select calls, each in a form that the command accepts: "-e trace=openat", "-P /etc". Appends
 * nothing if all calls are selected.
 */
void trace_select_say(const struct trace_select *s, struct strings *out);
/*
 * If programs of today make none of the calls in `set`, a list of names, appends what they do instead: "most programs of
 * today make openat instead of open", or "vdso(7) answers time without a call". Otherwise appends nothing.
 */
void trace_set_hint(const char *set, struct buf *out);
/* The same for the calls that are selected. */
void trace_select_hint(const struct trace_select *s, struct buf *out);
/* Returns true if the selection depends on how calls end. Their lines must then wait until they have ended. */
bool trace_select_needs_exit(const struct trace_select *s);
/*
 * Returns true if a selected call is still selected at its end (`ev` is EV_EXIT or EV_VANISH). If it is not selected only
 * because it is not known whether it waited, adds 1 to *unjudged.
 */
bool trace_select_exit(const struct trace_select *s, const struct event *ev, uint64_t *unjudged);
/* Fills in the calls that must be events, with those that end interrupted ones (restart_syscall, rt_sigreturn). */
void trace_select_only(const struct trace_select *s, struct call_set *only);
/* Adds the calls that concern the rings of io_uring. */
void trace_select_rings(struct call_set *only);
/* Adds the calls that can change what a descriptor, a directory or a process is called (syscall_changes_names()). */
void trace_select_naming(struct call_set *only);
/* Returns true if signal `sig` is selected. */
bool trace_select_signal(const struct trace_select *s, int sig);

#endif
