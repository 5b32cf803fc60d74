/* SPDX-License-Identifier: MIT */
#include "tracee/uring.h"

#include "base/memory.h"
#include "syscall/call_table.h"
#include "syscall/uring_ops.h"
#include "tracee/uring_ring.h"

#include <stdlib.h>
#include <string.h>

/* Constants of linux/io_uring.h, some of which older versions of this header do not have. */
enum { REGISTER_FILES = 2, UNREGISTER_FILES, REGISTER_FILES_UPDATE = 6, REGISTER_FILES2 = 13, REGISTER_FILES_UPDATE2 };
enum { REGISTER_RING_FDS = 20 };
#define REGISTER_BY_INDEX 0x80000000u /* IORING_REGISTER_USE_REGISTERED_RING */
#define FILES_MOST        (1u << 20)  /* registered files */

/* A call of io_uring_enter(2) in progress. */
struct uring_call {
	struct uring_ring *ring;
	uint64_t first_id;
	VEC(uint64_t) submitted; /* the user_data of its requests */
};

bool uring_concerns(const struct event *ev)
{
	return ev->call.desc && ev->call.desc->groups & G_RINGS;
}

bool uring_opens(const struct uring_completion *c)
{
	const struct uring_op *op = c->known ? uring_op(c->request.opcode) : NULL;
	return op && op->opens && c->result >= 0 && !c->request.other_fd;
}

static uint64_t key_of(pid_t task, uint32_t number)
{
	return (uint64_t)(uint32_t)task << 32 | number;
}

static void put(struct uring *u, struct map *m, uint64_t key, struct uring_ring *r)
{
	struct uring_ring *former = map_get(m, key);
	r->refs++;
	map_put(m, key, r);
	uring_ring_drop(u, former);
}

static void call_free(struct uring *u, struct uring_call *c)
{
	if (!c)
		return;
	uring_ring_drop(u, c->ring);
	vec_free(&c->submitted);
	free(c);
}

static struct uring_ring *ring_of_fd(struct uring *u, pid_t pid, int fd)
{
	struct uring_ring *r = map_get(&u->rings, key_of(pid, (uint32_t)fd));
	if (!r) {
		r = uring_ring_new(fd);
		put(u, &u->rings, key_of(pid, (uint32_t)fd), r);
	}
	return r;
}

/* Returns the ring of an io_uring_enter(2) or io_uring_register(2), or NULL if it is not known. */
static struct uring_ring *ring_of(struct uring *u, const struct event *ev, const struct names *names)
{
	uint32_t number = (uint32_t)ev->call.args[0];
	struct uring_ring *r = uring_is_index(&ev->call) ? map_get(&u->registered, key_of(ev->tid, number))
							 : ring_of_fd(u, ev->pid, (int)number);
	if (r)
		uring_ring_locate(r, ev, names);
	return r;
}

static void note_sight(struct uring *u, struct uring_ring *r, bool good)
{
	u->batch.sight = URING_UNKNOWN;
	u->unknown += !good;
	if (!r)
		return;
	if (good) {
		u->batch.sight = r->polled ? URING_POLLED : URING_SEEN;
		r->failures = 0;
	} else
		r->located = r->params.flags & URING_NO_MMAP; /* it will be looked for again */
	u->polled += r->polled && !r->told;
	r->told |= r->polled;
}

static void enter_begins(struct uring *u, const struct event *ev, const struct names *names)
{
	struct uring_ring *r = ring_of(u, ev, names);
	struct uring_call *c = memory_zeroed(1, sizeof(*c));
	bool good = r && r->located && uring_ring_submit(u, r, ev) && uring_ring_reap(u, r, ev);
	note_sight(u, r, good);
	call_free(u, map_get(&u->calls, (uint64_t)ev->tid));
	map_put(&u->calls, (uint64_t)ev->tid, c);
	if (!good)
		return;
	c->ring = r;
	r->refs++;
	c->first_id = r->next_id;
	for (size_t i = 0; i < u->batch.requests.n; i++) {
		uring_ring_expect(r, &u->batch.requests.v[i]);
		vec_push(&c->submitted, u->batch.requests.v[i].user_data);
	}
}

/* The kernel has taken only as many requests as the result says. */
static void settle(const struct uring_call *c, const struct event *ev)
{
	int64_t taken = ev->call.error || ev->call.result < 0 ? 0 : ev->call.result;
	for (size_t i = (size_t)taken; i < c->submitted.n; i++)
		uring_ring_withdraw(c->ring, c->submitted.v[i], c->first_id + i);
}

static void enter_ends(struct uring *u, const struct event *ev)
{
	struct uring_call *c = map_remove(&u->calls, (uint64_t)ev->tid);
	struct uring_ring *r = c ? c->ring : NULL;
	u->batch.sight = URING_UNKNOWN;
	if (r && ev->kind != EV_VANISH) {
		settle(c, ev);
		bool good = uring_ring_reap(u, r, ev);
		u->batch.sight = !good ? URING_UNKNOWN : r->polled ? URING_POLLED : URING_SEEN;
		for (size_t i = 0; i < r->early.n; i++)
			vec_push(&u->batch.completions, r->early.v[i]);
		r->early.n = 0;
		u->batch.missed = r->missed;
		u->missed += r->missed;
		r->missed = 0;
	}
	call_free(u, c);
}

static void set_up(struct uring *u, const struct event *ev)
{
	struct uring_params p;
	if (ev->call.error || !uring_read(u, ev, ev->call.args[1], &p, sizeof(p)))
		return;
	bool by_index = p.flags & URING_REGISTERED_FD_ONLY;
	struct uring_ring *r = uring_ring_new(by_index ? -1 : (int)ev->call.result);
	r->params = p;
	r->from_setup = true;
	r->polled = p.flags & URING_SQPOLL;
	r->told = r->polled;
	u->polled += r->polled;
	if (p.flags & URING_NO_MMAP) {
		r->sq = r->cq = p.cq.address;
		r->sqes = p.sq.address;
		r->located = true;
	}
	put(u, by_index ? &u->registered : &u->rings, key_of(by_index ? ev->tid : ev->pid, (uint32_t)ev->call.result),
	    r);
}

/* Sets the registered files from `from` on to the `n` descriptors at `addr`; to unknown ones if these cannot be read. */
static void set_files(struct uring *u, struct uring_ring *r, const struct event *ev, uint32_t from, uint64_t addr,
		      uint32_t n)
{
	enum { SKIP = -2 };
	if (from >= FILES_MOST || n > FILES_MOST - from || !n)
		return;
	auto_free int32_t *fds = memory_get(n * sizeof(*fds));
	bool known = uring_read(u, ev, addr, fds, n * sizeof(*fds));
	while (r->files.n < from + n)
		vec_push(&r->files, -1);
	for (uint32_t i = 0; i < n; i++)
		if (!known || fds[i] != SKIP)
			r->files.v[from + i] = known ? fds[i] : -1;
}

static void register_files(struct uring *u, struct uring_ring *r, const struct event *ev, uint32_t op)
{
	struct {
		uint32_t a, b; /* nr and flags, or offset and a reserved member */
		uint64_t c, data, tags;
	} x = {0};
	uint64_t arg = ev->call.args[2];
	uint32_t n = (uint32_t)ev->call.args[3], nr = 0;
	if (op == REGISTER_FILES2 || op == REGISTER_FILES || op == UNREGISTER_FILES)
		r->files.n = 0;
	if (op == REGISTER_FILES)
		set_files(u, r, ev, 0, arg, n);
	else if (op == REGISTER_FILES2 && uring_read(u, ev, arg, &x, sizeof(x)))
		set_files(u, r, ev, 0, x.data, x.a);
	else if (op == REGISTER_FILES_UPDATE && uring_read(u, ev, arg, &x, 16))
		set_files(u, r, ev, x.a, x.c, n);
	else if (op == REGISTER_FILES_UPDATE2 && uring_read(u, ev, arg, &x, 24) &&
		 uring_read(u, ev, arg + 24, &nr, sizeof(nr)))
		set_files(u, r, ev, x.a, x.c, nr);
}

/* IORING_REGISTER_RING_FDS: the calling thread can use an index in place of each descriptor. */
static void register_rings(struct uring *u, const struct event *ev, const struct names *names)
{
	struct {
		uint32_t index, unused;
		uint64_t fd;
	} x;
	for (int64_t i = 0; i < ev->call.result && i < 64; i++) {
		if (!uring_read(u, ev, ev->call.args[2] + (uint64_t)i * sizeof(x), &x, sizeof(x)))
			return;
		struct uring_ring *r = ring_of_fd(u, ev->pid, (int)x.fd);
		uring_ring_locate(r, ev, names);
		put(u, &u->registered, key_of(ev->tid, x.index), r);
	}
}

static void registers(struct uring *u, const struct event *ev, const struct names *names)
{
	uint32_t op = (uint32_t)ev->call.args[1] & ~REGISTER_BY_INDEX;
	if (ev->call.error)
		return;
	if (op == REGISTER_RING_FDS) {
		register_rings(u, ev, names);
		return;
	}
	struct uring_ring *r = ring_of(u, ev, names);
	if (r)
		register_files(u, r, ev, op);
}

const struct uring_batch *uring_call(struct uring *u, const struct event *ev, const struct names *names)
{
	struct uring_batch *b = &u->batch;
	bool ends = ev->kind == EV_EXIT || ev->kind == EV_CALL;
	b->requests.n = b->completions.n = b->reads.n = 0;
	b->missed = 0;
	b->sight = URING_SEEN;
	buf_clear(&b->bytes);
	if (strcmp(ev->call.desc->name, "io_uring_enter") == 0) {
		if (ev->kind == EV_ENTER)
			enter_begins(u, ev, names);
		else
			enter_ends(u, ev);
		return b;
	}
	if (ends && strcmp(ev->call.desc->name, "io_uring_setup") == 0)
		set_up(u, ev);
	else if (ends)
		registers(u, ev, names);
	return b;
}

/* The keys of `m` whose upper half is `task`. */
struct keys {
	VEC(uint64_t) list;
};

static struct keys keys_of(const struct map *m, pid_t task)
{
	struct keys k = {0};
	uint64_t key;
	for (size_t i = 0; map_next(m, &i, &key);)
		if (key >> 32 == (uint32_t)task)
			vec_push(&k.list, key);
	return k;
}

static void forget(struct uring *u, struct map *m, pid_t task)
{
	struct keys k = keys_of(m, task);
	for (size_t i = 0; i < k.list.n; i++)
		uring_ring_drop(u, map_remove(m, k.list.v[i]));
	vec_free(&k.list);
}

void uring_other(struct uring *u, const struct event *ev)
{
	if (!u->rings.n && !u->registered.n)
		return;
	if (ev->kind == EV_NEW_TASK && !ev->is_thread) {
		struct keys k = keys_of(&u->rings, ev->pid);
		for (size_t i = 0; i < k.list.n; i++)
			put(u, &u->rings, key_of(ev->child, (uint32_t)k.list.v[i]), map_get(&u->rings, k.list.v[i]));
		vec_free(&k.list);
	}
	/* execve(2) unmaps the rings, and their descriptors are closed. */
	if (ev->kind == EV_EXEC || (ev->kind == EV_DEATH && ev->is_process))
		forget(u, &u->rings, ev->pid);
	if (ev->kind == EV_EXEC || ev->kind == EV_DEATH)
		forget(u, &u->registered, ev->tid);
}

/* Ends all rings. */
static void drop_all(struct uring *u)
{
	struct uring_ring *r;
	struct uring_call *c;
	for (size_t i = 0; (c = map_next(&u->calls, &i, NULL));)
		call_free(u, c);
	for (size_t i = 0; (r = map_next(&u->registered, &i, NULL));)
		uring_ring_drop(u, r);
	for (size_t i = 0; (r = map_next(&u->rings, &i, NULL));)
		uring_ring_drop(u, r);
	map_free(&u->calls);
	map_free(&u->registered);
	map_free(&u->rings);
}

void uring_each_left(struct uring *u, void (*fn)(void *ctx, const struct uring_request *r), void *ctx)
{
	drop_all(u);
	for (size_t i = 0; i < u->left.n; i++)
		fn(ctx, &u->left.v[i]);
}

void uring_say(const struct uring *u, struct buf *out)
{
	if (u->polled)
		buf_addf(out,
			 "io_uring: a kernel thread takes the requests of %llu ring%s without a call "
			 "(IORING_SETUP_SQPOLL), so they are not seen\n",
			 (unsigned long long)u->polled, u->polled == 1 ? "" : "s");
	if (u->unknown)
		buf_addf(out,
			 "io_uring: the requests of %llu call%s of io_uring_enter are not known, because the ring "
			 "could not be read\n",
			 (unsigned long long)u->unknown, u->unknown == 1 ? "" : "s");
	if (u->missed)
		buf_addf(out,
			 "io_uring: completions were overwritten before the next call, so they were not seen: %llu\n",
			 (unsigned long long)u->missed);
}

void uring_free(struct uring *u)
{
	drop_all(u);
	vec_free(&u->left);
	vec_free(&u->batch.requests);
	vec_free(&u->batch.completions);
	vec_free(&u->batch.reads);
	buf_free(&u->batch.bytes);
}
