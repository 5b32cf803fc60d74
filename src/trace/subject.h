/* What a call refers to: which of its arguments are descriptors and paths, and what they lead to. Asked for when needed, and then kept. */
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
	int fd; /* the descriptor; of a path the one of the folder that it begins in (AT_FDCWD: the current one) */
	uint64_t addr; /* of a path */
	/* Filled on demand. */
	bool text_known, full_known;
	bool whole; /* the path ends within PATH_MAX bytes */
	struct buf text, full;
};

/* The subject of one thread's call. Zero-initialised; free with trace_subject_free(). */
struct trace_subject {
	const struct event *ev; /* of the call in progress; its memory and its thread are asked */
	const struct names *names;
	bool found; /* the references below are those of `ev` */
	unsigned n;
	struct trace_ref refs[TRACE_REFS_MAX];
};

/* A call begins: forgets the one before. Nothing is looked up. `ev` must be valid while the subject is asked. */
void trace_subject_begin(struct trace_subject *s, const struct event *ev, const struct names *names);
/* The references of the call, in the order of its arguments, s->n of them. */
struct trace_ref *trace_subject_refs(struct trace_subject *s);
/*
 * What a descriptor leads to (readlink(2) of /proc/TID/fd/FD), or a path as the program wrote it. Empty: unknown. Belongs to the subject,
 * as does the next one.
 */
const struct buf *trace_ref_text(struct trace_subject *s, struct trace_ref *r);
/* A path from the root on: a relative one is put behind the folder that it begins in. Empty: unknown, or not a path. */
const struct buf *trace_ref_full(struct trace_subject *s, struct trace_ref *r);
/* The descriptor that the call is about and not only begins a path; NULL: it is about none. */
struct trace_ref *trace_subject_fd(struct trace_subject *s);
/* The first path that is not empty, or NULL. */
struct trace_ref *trace_subject_path(struct trace_subject *s);
void trace_subject_free(struct trace_subject *s);

#endif
