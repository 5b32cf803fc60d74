/* SPDX-License-Identifier: MIT */
/* Sets of calls as users write them: "openat,read", "!%file", "/^sched_", "?name" (strace(1), "Filtering"). */
#ifndef SCTRACE_SYSCALL_FILTER_H
#define SCTRACE_SYSCALL_FILTER_H

#include "base/memory.h"

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct call;

/* One word of an expression. */
struct filter_term {
	enum filter_kind { TERM_ALL, TERM_NUMBER, TERM_NAME, TERM_GROUP, TERM_REGEX } kind;
	int64_t nr;      /* TERM_NUMBER */
	char *name;      /* TERM_NAME */
	uint32_t groups; /* TERM_GROUP: G_* */
	regex_t regex;   /* TERM_REGEX */
};

#define FILTER_NATIVE_MAX 1024

/* A set of calls. Zeros mean the empty set. Free with filter_free(). */
struct filter {
	VEC(struct filter_term) terms;
	bool negated;
	/* One bit for each call number of the native architecture: is the call in the set? Computed once. */
	uint64_t native[FILTER_NATIVE_MAX / 64];
};

/*
 * Parses `text` into the zeroed `f`. Words are separated by commas; "all" and "none" must stand alone. Returns 0,
 * or -EINVAL with the reason and similar names in `why` and the offset of the offending word in *at.
 */
int filter_parse(struct filter *f, const char *text, size_t *at, struct buf *why);
void filter_free(struct filter *f);
/* Returns true if there is a call that is in both sets. */
bool filter_overlaps(const struct filter *a, const struct filter *b);
/* Returns true if the set contains a call that returns a number of bytes, on any architecture. */
bool filter_returns_bytes(const struct filter *f);
/*
 * Checks that `name` is the name of one call as it appears in tables: "read", "read#32" or "syscall_0x1c9". Returns 0,
 * or -EINVAL with the reason in `why`.
 */
int filter_check_name(const char *name, struct buf *why);
/*
 * Appends the words that an expression may contain, separated by spaces: groups, "all", "none", and the names of the
 * native architecture's calls.
 */
void filter_words(struct buf *out);
/*
 * Returns true if the set contains `c`. Takes constant time for the native architecture. The caller must have filled in
 * `c->desc`.
 */
bool filter_takes(const struct filter *f, const struct call *c);
/* Returns true if the set contains call `nr` of `arch` (AUDIT_ARCH_*). Looks up the description of the call. */
bool filter_matches(const struct filter *f, uint32_t arch, int64_t nr);

#endif
