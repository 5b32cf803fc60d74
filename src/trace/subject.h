/* SPDX-License-Identifier: MIT */
/* The subject of a call: its descriptors and paths, and their files. They are looked up on demand and kept. */
#ifndef SCTRACE_TRACE_SUBJECT_H
#define SCTRACE_TRACE_SUBJECT_H

#include "base/buf.h"
#include "event.h"

#include <stdbool.h>
#include <stdint.h>

struct names;

#define TRACE_REFS_MAX 6

/* An argument that is a descriptor or a path. */
struct trace_ref {
	enum trace_ref_kind { REF_FD, REF_DIRFD, REF_PATH } kind;
	unsigned arg;
	int fd;        /* a descriptor; for a path, that of its folder (AT_FDCWD: the current one) */
	uint64_t addr; /* address of the path */
	/* The following members are filled in on demand. */
	bool text_known, full_known;
	bool whole; /* `text` is complete: the path is shorter than PATH_MAX */
	struct buf text, full;
};

/* The subject of one thread's call. Initialise with zeros, free with trace_subject_free(). */
struct trace_subject {
	const struct event *ev; /* event of the call, which gives its memory and thread */
	const struct names *names;
	bool found; /* the members `n` and `refs` belong to `ev` */
	unsigned n;
	struct trace_ref refs[TRACE_REFS_MAX];
};

/* Must be called at the entry of a call. Discards the previous subject. `ev` must outlive the use of the subject. */
void trace_subject_begin(struct trace_subject *s, const struct event *ev, const struct names *names);
/* Returns the references of the call, in the order of its arguments. Sets s->n to their number. */
struct trace_ref *trace_subject_refs(struct trace_subject *s);
/* Returns what a descriptor refers to (in /proc/TID/fd), or a path as passed; empty if unknown. Owned by `s`. */
const struct buf *trace_ref_text(struct trace_subject *s, struct trace_ref *r);
/*
 * Returns the absolute path of `r`: a relative path is appended to the path of its folder. The result is empty if the
 * path is unknown, or if `r` does not refer to a path. The subject owns the result.
 */
const struct buf *trace_ref_full(struct trace_subject *s, struct trace_ref *r);
/* Returns the descriptor that the call operates on, or NULL. The folder of a path does not count. */
struct trace_ref *trace_subject_fd(struct trace_subject *s);
/* Returns the first path that is not empty, or NULL. */
struct trace_ref *trace_subject_path(struct trace_subject *s);
void trace_subject_free(struct trace_subject *s);

#endif
