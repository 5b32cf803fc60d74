/* What the requests of io_uring(7) do to descriptors and files. */
#include "io/profile.h"

#include "syscall/uring_ops.h"
#include "tracee/uring.h"

#include <string.h>

#define UNKNOWN_FILE "(registered file)"

/* Returns the description of the request's file, or NULL if the operation has none. */
static struct io_open *open_of(struct io_profile *p, struct io_fds *t, const struct uring_request *q)
{
	return q->file < 0 ? NULL : io_profile_open(p, t, q->tid, q->file);
}

static void transfer(const struct io_profile *p, struct io_open *o, const struct uring_completion *c,
		     const struct uring_op *op)
{
	const struct uring_request *q = &c->request;
	bool positioned = op->positioned && q->offset != UINT64_MAX; /* -1 means the current position */
	if (c->result < 0)
		return;
	*(op->reads ? &o->file->row.reads : &o->file->row.writes) += 1;
	if (c->result > 0)
		io_file_request(o, &(struct io_request){.direction = op->reads ? IO_READ : IO_WRITE,
							.positioned = positioned,
							.offset = positioned ? q->offset : 0,
							.asked = q->bytes,
							.bytes = (uint64_t)c->result,
							.asynchronous = true,
							.time_s = ((double)q->began_ns - (double)p->start_ns) / 1e9,
							.pid = q->pid});
}

/* The name of a descriptor is looked up when it is used for the first time, so a new one only replaces a former one. */
static void change_descriptors(struct io_fds *t, const struct uring_completion *c, const struct uring_op *op)
{
	const struct uring_request *q = &c->request;
	if (uring_opens(c))
		io_fds_close(t, c->result);
	if (strcmp(op->name, "CLOSE") == 0 && q->file >= 0 && !q->other_fd)
		io_fds_close(t, q->file);
}

void io_profile_completion(struct io_profile *p, const struct uring_completion *c)
{
	const struct uring_request *q = &c->request;
	const struct uring_op *op = c->known ? uring_op(q->opcode) : NULL;
	struct io_fds *t = op ? map_get(&p->processes, (uint64_t)q->pid) : NULL;
	if (!t || c->flags & URING_NOTIF)
		return;
	struct io_open unknown = {.file = NULL}, *o = op->fd == URING_FD ? open_of(p, t, q) : NULL;
	if (!o && q->flags & URING_FIXED_FILE && (op->reads || op->writes)) {
		unknown.file = io_profile_pathless(p, UNKNOWN_FILE, IO_OTHER);
		o = &unknown;
	}
	if (o) {
		p->requests++;
		o->file->row.calls++;
		o->file->row.syncs += strcmp(op->name, "FSYNC") == 0 && c->result >= 0;
		if (op->reads || op->writes)
			transfer(p, o, c, op);
	}
	change_descriptors(t, c, op);
	if (op->fd == URING_DIRFD && uring_opens(c))
		io_profile_open(p, t, q->tid, c->result)->file->row.opens++;
}
