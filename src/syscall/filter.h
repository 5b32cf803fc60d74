/* Sets of calls as people type them: "openat,read", "!%file", "/^sched_", "?name" (strace(1), "Filtering"). */
#ifndef SCTRACE_SYSCALL_FILTER_H
#define SCTRACE_SYSCALL_FILTER_H

#include "base/vec.h"

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

/* Zero-initialised matches nothing; free with filter_free(). */
struct filter {
	VEC(struct filter_term) terms;
	bool negated;
	/* The answer for the native architecture's numbers, worked out once. */
	uint64_t native[FILTER_NATIVE_MAX / 64];
};

/*
 * Reads `text` into the zero-initialised `f`. 0; or -EINVAL, `why` says what is wrong with near names, and *at is the
 * offset of the offending word in `text`; or -ENOMEM. Words are joined by commas; "all" and "none" stand for themselves.
 */
int filter_parse(struct filter *f, const char *text, size_t *at, struct buf *why);
void filter_free(struct filter *f);
/* Appends what an expression is made of, space-separated: groups, "all", "none", and the names of the native architecture. */
void filter_words(struct buf *out);
/* Does the set hold the call of an event? Constant time for the native architecture; `c->desc` must be filled. */
bool filter_takes(const struct filter *f, const struct call *c);
/* The same of call `nr` of `arch` (AUDIT_ARCH_*), whose description is looked up. */
bool filter_matches(const struct filter *f, uint32_t arch, int64_t nr);

#endif
