/* SPDX-License-Identifier: MIT */
#include "trace/subject.h"

#include "syscall/call_table.h"
#include "syscall/uring_ops.h"
#include "tracee/mem.h"
#include "tracee/names.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

void trace_subject_begin(struct trace_subject *s, const struct event *ev, const struct names *names)
{
	s->ev = ev;
	s->names = names;
	s->found = false;
}

static void add_ref(struct trace_subject *s, enum trace_ref_kind kind, unsigned arg, int fd)
{
	struct trace_ref *r = &s->refs[s->n++];
	r->kind = kind;
	r->arg = arg;
	r->fd = fd;
	r->addr = s->ev->call.args[arg];
	r->text_known = r->full_known = r->whole = false;
	buf_clear(&r->text);
	buf_clear(&r->full);
}

struct trace_ref *trace_subject_refs(struct trace_subject *s)
{
	const struct call *c = &s->ev->call;
	int folder = AT_FDCWD;
	if (s->found)
		return s->refs;
	s->found = true;
	s->n = 0;
	for (unsigned i = 0; c->desc && i < c->desc->nargs; i++) {
		uint16_t kind = c->desc->args[i].kind;
		if (kind == K_DIRFD)
			folder = (int)c->args[i];
		if (kind == K_PATH)
			add_ref(s, REF_PATH, i, folder);
		else if (kind == K_FD || kind == K_DIRFD || (kind == K_URING_FD && !uring_is_index(c)))
			add_ref(s, kind == K_DIRFD ? REF_DIRFD : REF_FD, i, (int)c->args[i]);
	}
	return s->refs;
}

static void read_path(const struct mem *mem, struct trace_ref *r)
{
	char path[PATH_MAX];
	int ended = 0;
	ssize_t n = mem ? mem_string(mem, r->addr, path, sizeof(path), &ended) : -1;
	r->whole = n >= 0 && ended;
	if (n > 0)
		buf_add(&r->text, path, (size_t)n);
}

const struct buf *trace_ref_text(struct trace_subject *s, struct trace_ref *r)
{
	if (r->text_known)
		return &r->text;
	r->text_known = true;
	if (r->kind == REF_PATH)
		read_path(s->ev->mem, r);
	else if (r->fd >= 0)
		s->names->fd(s->names->ctx, s->ev->tid, r->fd, &r->text);
	return &r->text;
}

const struct buf *trace_ref_full(struct trace_subject *s, struct trace_ref *r)
{
	const struct buf *text = trace_ref_text(s, r);
	if (r->full_known || r->kind != REF_PATH)
		return &r->full;
	r->full_known = true;
	if (!r->whole || !text->len)
		return &r->full;
	const char *path = buf_str(text);
	if (path[0] != '/') {
		if (!s->names->fd(s->names->ctx, s->ev->tid, r->fd, &r->full))
			return &r->full;
		while (strncmp(path, "./", 2) == 0 && path[2])
			path += 2;
		if (strcmp(buf_str(&r->full), "/") != 0)
			buf_addc(&r->full, '/');
	}
	buf_adds(&r->full, path);
	return &r->full;
}

/* Returns true if the call operates on the descriptor itself, and not on a path in it (AT_EMPTY_PATH). */
static bool stands_alone(struct trace_subject *s, const struct trace_ref *r)
{
	struct trace_ref *next = r + 1 < s->refs + s->n ? &s->refs[r - s->refs + 1] : NULL;
	if (!next || next->kind != REF_PATH || next->arg != r->arg + 1 || !next->addr)
		return true;
	return !trace_ref_text(s, next)->len && next->whole;
}

struct trace_ref *trace_subject_fd(struct trace_subject *s)
{
	struct trace_ref *r = trace_subject_refs(s);
	for (unsigned i = 0; i < s->n; i++, r++)
		if (r->kind == REF_FD || (r->kind == REF_DIRFD && r->fd >= 0 && stands_alone(s, r)))
			return r->fd >= 0 ? r : NULL;
	return NULL;
}

struct trace_ref *trace_subject_path(struct trace_subject *s)
{
	struct trace_ref *r = trace_subject_refs(s);
	for (unsigned i = 0; i < s->n; i++, r++)
		if (r->kind == REF_PATH && trace_ref_text(s, r)->len)
			return r;
	return NULL;
}

void trace_subject_free(struct trace_subject *s)
{
	for (unsigned i = 0; i < TRACE_REFS_MAX; i++) {
		buf_free(&s->refs[i].text);
		buf_free(&s->refs[i].full);
	}
}
