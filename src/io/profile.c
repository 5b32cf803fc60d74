/* SPDX-License-Identifier: MIT */
#include "io/profile.h"

#include "base/memory.h"
#include "io/probe.h"
#include "syscall/call_table.h"
#include "syscall/restart.h"
#include "syscall/uring_ops.h"
#include "tracee/mem.h"
#include "tracee/uring.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define PICTURES    6 /* for the pictures, the requests of this many files are kept */
#define PICTURE_MIN 8 /* minimum number of requests; a picture of fewer requests says nothing */

static struct io_fds *table_of(struct io_profile *p, const struct event *ev)
{
	struct io_fds *t = map_get(&p->processes, (uint64_t)ev->pid);
	if (t)
		return t;
	t = io_fds_new();
	map_put(&p->processes, (uint64_t)ev->pid, t);
	io_profile_find_names(p, t, ev->tid);
	return t;
}

void io_profile_enter(struct io_profile *p, struct io_thread *k, const struct event *ev)
{
	const struct call *c = &ev->call;
	const char *name = c->desc ? c->desc->name : "";
	table_of(p, ev);
	if (!p->calls.n)
		io_calls_init(p);
	io_call_enter(p, k, ev);
	k->clone_flags = 0;
	if (strcmp(name, "clone") == 0)
		k->clone_flags = c->args[0];
	else if (strcmp(name, "clone3") == 0 && ev->mem)
		mem_get(ev->mem, c->args[0], &k->clone_flags, sizeof(k->clone_flags));
}

void io_profile_leave(struct io_profile *p, struct io_thread *k, const struct event *ev)
{
	struct io_fds *t = table_of(p, ev);
	/* A call that a signal interrupted will continue, or restart_syscall(2) will report its end. */
	if (ev->kind != EV_EXIT || (ev->call.error && IS_RESTART_ERROR(ev->call.err)))
		return;
	double own = call_own_ns(&ev->call);
	if (!ev->call.error && own > 0 && (p->quickest_ns <= 0 || own < p->quickest_ns))
		p->quickest_ns = own;
	io_call_leave(p, t, k, ev);
}

void io_thread_free(struct io_thread *k)
{
	buf_free(&k->path);
	buf_free(&k->new_path);
}

static void process_begins(struct io_profile *p, const struct io_thread *k, const struct event *ev)
{
	struct io_fds *parent = table_of(p, ev);
	struct io_fds *t = parent;
	p->children = true;
	if (map_get(&p->processes, (uint64_t)ev->child))
		return;
	if (k->clone_flags & CLONE_FILES)
		t->refs++;
	else
		t = io_fds_copy(parent);
	map_put(&p->processes, (uint64_t)ev->child, t);
}

void io_profile_other(struct io_profile *p, struct io_thread *k, const struct event *ev)
{
	if (ev->kind == EV_NEW_TASK && !ev->is_thread)
		process_begins(p, k, ev);
	else if (ev->kind == EV_EXEC)
		io_fds_close_range(table_of(p, ev), 0, UINT64_MAX, true);
	else if (ev->kind == EV_DEATH && ev->is_process)
		io_fds_end(map_remove(&p->processes, (uint64_t)ev->pid));
}

static int slower(const void *a, const void *b)
{
	const struct io_file *x = *(struct io_file *const *)a;
	const struct io_file *y = *(struct io_file *const *)b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->row.name, y->row.name);
}

/* Moves the row of a file to the run. If it is not `pictured`, without its requests. */
static void hand_over(struct run_io *out, struct io_file *f, bool pictured)
{
	if (!pictured) {
		vec_free(&f->row.read_marks);
		vec_free(&f->row.write_marks);
	}
	vec_push(&out->files, f->row);
	f->row = (struct run_io_file){0};
}

/* Adds the counts of all sizes in `from` to `to`. */
static void add_sizes(struct map *to, const struct map *from)
{
	size_t i = 0;
	uint64_t bytes;
	void *n;
	while ((n = map_next(from, &i, &bytes)))
		map_put(to, bytes, (void *)((uintptr_t)map_get(to, bytes) + (uintptr_t)n));
}

/* Returns the most frequent size, or the smallest one of several. Returns NAN if there is none. */
static double most_frequent(const struct map *sizes)
{
	size_t i = 0;
	uint64_t bytes, best = 0;
	uintptr_t most = 0;
	const void *n;
	while ((n = map_next(sizes, &i, &bytes)))
		if ((uintptr_t)n > most || ((uintptr_t)n == most && bytes < best)) {
			best = bytes;
			most = (uintptr_t)n;
		}
	return most ? (double)best : NAN;
}

static void add_up(const struct io_profile *p, struct run_use *u)
{
	struct map sizes = {0};
	double *const shares[] = {&u->sequential_share, &u->random_share, &u->repeated_read_share,
				  &u->repeated_write_share};
	double requests = 0;
	for (size_t i = 0; i < p->files.n; i++) {
		const struct run_io_file *f = &p->files.v[i]->row;
		const double parts[] = {f->sequential, f->random, f->reread, f->rewritten};
		for (int k = 0; k < 4; k++) {
			*shares[k] += parts[k];
			requests += parts[k];
		}
		u->seeks += f->seeks;
		u->syncs += f->syncs;
		u->opens += f->opens;
		u->read_bytes += f->read_bytes;
		u->written_bytes += f->written_bytes;
		add_sizes(&sizes, &p->files.v[i]->sizes);
	}
	for (int k = 0; k < 4; k++)
		*shares[k] = requests > 0 ? *shares[k] / requests : NAN;
	u->frequent_size_bytes = most_frequent(&sizes);
	u->known = true;
	map_free(&sizes);
}

void io_profile_finish(struct io_profile *p, struct run_io *out)
{
	if (p->files.n > 1)
		qsort(p->files.v, p->files.n, sizeof(*p->files.v), slower);
	for (size_t i = 0; i < p->files.n; i++)
		io_file_finish(p->files.v[i]);
	out->known = true;
	p->return_ns = p->here ? io_probe_return_ns() : 0;
	io_find(p, out);
	add_up(p, &out->use);
	size_t pictures = 0;
	for (size_t i = 0; i < p->files.n; i++) {
		const struct run_io_file *row = &p->files.v[i]->row;
		bool pictured = pictures < PICTURES && row->read_marks.n + row->write_marks.n >= PICTURE_MIN;
		if (row->calls <= 0)
			continue;
		hand_over(out, p->files.v[i], pictured);
		pictures += pictured;
	}
}

#define UNSEEN_SHOWN 4 /* names of mapped files */

/* Does the C library map this file for its own use, in nearly every program? */
static bool is_of_library(const struct io_file *f)
{
	static const char *const parts[] = {"/etc/ld.so.cache", "/lib/locale/", "/share/locale/", "/gconv/"};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(f->id, parts[i]))
			return true;
	return f->executable;
}

static void say_mapped(const struct io_profile *p, struct buf *out)
{
	size_t n = 0;
	for (size_t i = 0; i < p->files.n; i++) {
		const struct io_file *f = p->files.v[i];
		if (!f->mapped || f->kind != IO_FILE || is_of_library(f))
			continue;
		if (n < UNSEEN_SHOWN)
			buf_addf(out, "%s%s", n ? ", " : "not seen: accesses to the mapped memory of ", f->row.name);
		n++;
	}
	if (n > UNSEEN_SHOWN)
		buf_addf(out, " and %zu more files", n - UNSEEN_SHOWN);
	buf_adds(out, n ? "\n" : "");
}

void io_profile_say(const struct io_profile *p, struct buf *out)
{
	if (p->requests > 0)
		buf_addf(out,
			 "io_uring: %.0f request%s as calls of their files; they have no time, and the findings ignore "
			 "them\n",
			 p->requests, p->requests == 1 ? " counts" : "s count");
	say_mapped(p, out);
	if (p->submitted > 0)
		buf_addf(out, "not seen: the transfers of %.0f request%s of io_submit\n", p->submitted,
			 p->submitted == 1 ? "" : "s");
}

void io_profile_free(struct io_profile *p)
{
	size_t i = 0;
	struct io_fds *t;
	while ((t = map_next(&p->processes, &i, NULL)))
		io_fds_drop(t);
	for (i = 0; i < p->files.n; i++)
		io_file_free(p->files.v[i]);
	vec_free(&p->files);
	io_tally_free(&p->polls);
	map_free(&p->by_id);
	buf_free(&p->start);
	map_free(&p->processes);
	map_free(&p->calls);
}

/* What the requests of io_uring(7) do to descriptors and files. */

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
