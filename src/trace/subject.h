/*
 * The subject of a call: which of its arguments are descriptors and paths, and what these refer to. Determined on
 * demand and then cached.
 */
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
	int fd; /* the descriptor; for a path, that of the folder it is relative to (AT_FDCWD: the current one) */
	uint64_t addr; /* address of a path */
	/* The following members are filled in on demand. */
	bool text_known, full_known;
	bool whole; /* the path is shorter than PATH_MAX */
	struct buf text, full;
};

/* The subject of one thread's call. Initialise with zeros, free with trace_subject_free(). */
struct trace_subject {
	const struct event *ev; /* of the call in progress, for its memory and thread */
	const struct names *names;
	bool found; /* the references below belong to `ev` */
	unsigned n;
	struct trace_ref refs[TRACE_REFS_MAX];
};

/* A call begins: discards the previous one. Looks nothing up. `ev` must stay valid while the subject is used. */
void trace_subject_begin(struct trace_subject *s, const struct event *ev, const struct names *names);
/* The references of the call in the order of its arguments; their number is s->n. */
struct trace_ref *trace_subject_refs(struct trace_subject *s);
/*
 * What a descriptor refers to (readlink(2) of /proc/TID/fd/FD), or a path as the program passed it. Empty: unknown.
 * Owned by the subject, as is the next one.
 */
const struct buf *trace_ref_text(struct trace_subject *s, struct trace_ref *r);
/* An absolute path: a relative one is appended to its folder. Empty: unknown, or not a path. */
const struct buf *trace_ref_full(struct trace_subject *s, struct trace_ref *r);
/* The descriptor that the call operates on, and not only the folder of a path; NULL if there is none. */
struct trace_ref *trace_subject_fd(struct trace_subject *s);
/* The first path that is not empty, or NULL. */
struct trace_ref *trace_subject_path(struct trace_subject *s);
void trace_subject_free(struct trace_subject *s);

#endif
