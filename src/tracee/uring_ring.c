/* SPDX-License-Identifier: MIT */
#include "tracee/uring_ring.h"

#include "base/memory.h"
#include "syscall/uring_ops.h"
#include "tracee/mem.h"
#include "tracee/names.h"
#include "tracee/proc.h"

#include <inttypes.h>
#include <linux/audit.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Flags of completions (IORING_CQE_F_..., linux/io_uring.h). */
enum {
	CQE_SKIP = 1 << 5,  /* the entry only fills the end of the ring */
	CQE_WIDE = 1 << 15, /* IORING_SETUP_CQE_MIXED: the entry takes the place of two */
};

#define ENTRIES_MOST (1u << 16) /* the kernel allows 32,768 requests and twice as many completions */
#define PENDING_MOST (1u << 18)
#define LEFT_MOST    (1u << 18)
#define VECTORS_MOST 1024
#define LOCATE_MOST  16 /* how many times in succession a ring is looked for */
#define SQE_SIZE     64
#define CQE_SIZE     16
#define CACHE_LINE   64

/* struct io_uring_sqe */
struct sqe {
	uint8_t opcode, flags;
	uint16_t ioprio;
	int32_t fd;
	uint64_t off, addr;
	uint32_t len, op_flags;
	uint64_t user_data;
	uint16_t buf_index, personality;
	int32_t other_fd;
	uint64_t addr3, pad;
};
_Static_assert(sizeof(struct sqe) == SQE_SIZE, "the layout is that of the kernel");

/* struct io_uring_cqe */
struct cqe {
	uint64_t user_data;
	int32_t res;
	uint32_t flags;
};

void uring_ring_drop(struct uring *u, struct uring_ring *r)
{
	struct uring_pending *p;
	if (!r || --r->refs)
		return;
	for (size_t i = 0; (p = map_next(&r->pending, &i, NULL));)
		for (struct uring_pending *next; p; p = next) {
			next = p->next;
			if (u->left.n < LEFT_MOST && !p->completed)
				vec_push(&u->left, p->request);
			free(p);
		}
	map_free(&r->pending);
	vec_free(&r->files);
	vec_free(&r->early);
	free(r);
}

struct uring_ring *uring_ring_new(int fd)
{
	struct uring_ring *r = memory_zeroed(1, sizeof(*r));
	r->fd = fd;
	return r;
}

bool uring_read(struct uring *u, const struct event *ev, uint64_t addr, void *to, size_t n)
{
	if (!ev->mem || !addr || !n || mem_get(ev->mem, addr, to, n) < 0)
		return false;
	vec_push(&u->batch.reads, (struct uring_read){addr, u->batch.bytes.len, n});
	buf_add(&u->batch.bytes, to, n);
	return true;
}

/* Reads `n` elements of `size` bytes from a ring of `entries` elements, from position `from` on. */
static bool get_round(struct uring *u, const struct event *ev, uint64_t base, uint32_t entries, size_t size,
		      uint32_t from, uint32_t n, void *to)
{
	uint32_t at = from & (entries - 1), first = n < entries - at ? n : entries - at;
	return uring_read(u, ev, base + at * size, to, first * size) &&
	       (first == n || uring_read(u, ev, base, (char *)to + first * size, (n - first) * size));
}

void uring_ring_locate(struct uring_ring *r, const struct event *ev, const struct names *names)
{
	auto_buf text = {0};
	struct uring_params p = r->params;
	unsigned polled;
	if (r->located || r->fd < 0 || r->failures >= LOCATE_MOST)
		return;
	r->failures++;
	if (names && names->ring && names->ring(names->ctx, ev->tid, r->fd, &text) &&
	    sscanf(buf_str(&text), "%" SCNx64 " %" SCNx64 " %" SCNx64 " %u %u %u %u %u %u %u %u", &r->sq, &r->cq,
		   &r->sqes, &polled, &p.sq.head, &p.sq.tail, &p.sq.mask, &p.cq.head, &p.cq.tail, &p.cq.mask,
		   &p.cq.cqes) == 11) {
		r->located = true;
		r->params = r->from_setup ? r->params : p;
		r->polled |= polled != 0;
	}
}

/*
 * Sets the numbers of entries from the masks of a ring. They are powers of two, and the rest of this file relies on it. `array`: finds
 * out where the array is, too.
 */
static bool set_sizes(struct uring_params *p, uint32_t sq, uint32_t cq, bool array)
{
	if (sq >= ENTRIES_MOST || cq >= ENTRIES_MOST || sq & (sq + 1) || cq & (cq + 1))
		return false;
	p->sq_entries = sq + 1;
	p->cq_entries = cq + 1;
	uint32_t end = p->cq.cqes + p->cq_entries * CQE_SIZE;
	if (array)
		p->sq.array = (end + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	return true;
}

static bool get_sizes(struct uring *u, struct uring_ring *r, const struct event *ev)
{
	uint32_t sq, cq;
	return uring_read(u, ev, r->sq + r->params.sq.mask, &sq, sizeof(sq)) &&
	       uring_read(u, ev, r->cq + r->params.cq.mask, &cq, sizeof(cq)) &&
	       set_sizes(&r->params, sq, cq, !r->from_setup);
}

/* Fills in the descriptor and the number of bytes. */
static void interpret(struct uring *u, const struct uring_ring *r, const struct event *ev, struct uring_request *q)
{
	const struct uring_op *op = uring_op(q->opcode);
	bool has_fd = op && op->fd != URING_NO_FD, fixed = q->flags & URING_FIXED_FILE;
	q->file = -1;
	if (has_fd && !fixed)
		q->file = q->fd;
	else if (has_fd && q->fd >= 0 && (size_t)q->fd < r->files.n)
		q->file = r->files.v[q->fd];
	if (!op || !(op->reads || op->writes))
		return;
	q->bytes = q->length;
	if (op->memory != URING_VECTOR && op->memory != URING_BUFFERS)
		return;
	bool wide = ev->call.arch & __AUDIT_ARCH_64BIT;
	uint32_t n = q->length < VECTORS_MOST ? q->length : VECTORS_MOST;
	uint64_t vectors[2 * VECTORS_MOST];
	q->bytes = 0;
	if (!uring_read(u, ev, q->address, vectors, n * (wide ? 16 : 8)))
		return;
	for (uint32_t i = 0; i < n; i++)
		q->bytes += wide ? vectors[2 * i + 1] : vectors[i] >> 32;
}

static void add_request(struct uring *u, const struct uring_ring *r, const struct event *ev, const void *entry)
{
	struct sqe s;
	memcpy(&s, entry, sizeof(s));
	struct uring_request q = {.opcode = s.opcode,
				  .flags = s.flags,
				  .priority = s.ioprio,
				  .buffer = s.buf_index,
				  .personality = s.personality,
				  .fd = s.fd,
				  .length = s.len,
				  .op_flags = s.op_flags,
				  .other_fd = s.other_fd,
				  .offset = s.off,
				  .address = s.addr,
				  .user_data = s.user_data,
				  .began_ns = ev->time_ns,
				  .tid = ev->tid,
				  .pid = ev->pid};
	interpret(u, r, ev, &q);
	vec_push(&u->batch.requests, q);
}

/* Reads the requests at the `n` places `at`. Places that follow each other are read together. */
static bool get_requests(struct uring *u, const struct uring_ring *r, const struct event *ev, const uint32_t *at,
			 uint32_t n)
{
	const size_t size = r->params.flags & URING_SQE128 ? 2 * SQE_SIZE : SQE_SIZE;
	auto_free char *entries = memory_get(n * size);
	bool good = true;
	for (uint32_t i = 0, run; i < n && good; i += run) {
		for (run = 1; i + run < n && at[i + run] == at[i] + run;)
			run++;
		if (at[i] >= r->params.sq_entries || run > r->params.sq_entries - at[i])
			continue; /* the kernel drops such an entry */
		good = uring_read(u, ev, r->sqes + at[i] * size, entries, run * size);
		for (uint32_t k = 0; good && k < run; k++)
			add_request(u, r, ev, entries + k * size);
	}
	return good;
}

bool uring_ring_submit(struct uring *u, struct uring_ring *r, const struct event *ev)
{
	const struct uring_params *p = &r->params;
	uint32_t head, tail, n = (uint32_t)ev->call.args[1];
	if (!get_sizes(u, r, ev))
		return false;
	if (!n || r->polled)
		return true;
	if (!uring_read(u, ev, r->sq + p->sq.head, &head, sizeof(head)) ||
	    !uring_read(u, ev, r->sq + p->sq.tail, &tail, sizeof(tail)))
		return false;
	n = n < tail - head ? n : tail - head;
	if (!n || n > p->sq_entries)
		return n == 0;
	auto_free uint32_t *at = memory_get(n * sizeof(*at));
	bool good = true;
	if (p->flags & URING_NO_SQARRAY)
		for (uint32_t i = 0; i < n; i++)
			at[i] = (head + i) & (p->sq_entries - 1);
	else
		good = get_round(u, ev, r->sq + p->sq.array, p->sq_entries, sizeof(*at), head, n, at);
	return good && get_requests(u, r, ev, at, n);
}

void uring_ring_expect(struct uring_ring *r, const struct uring_request *q)
{
	struct uring_pending *first = map_get(&r->pending, q->user_data), *p;
	uint64_t id = r->next_id++;
	if (r->npending >= PENDING_MOST)
		return;
	r->npending++;
	p = memory_zeroed(1, sizeof(*p));
	p->request = *q;
	p->id = id;
	p->last = p;
	if (!first) {
		map_put(&r->pending, q->user_data, p);
		return;
	}
	first->last->next = p;
	first->last = p;
}

/* Removes an element of the list of `user_data`. `before` is the element before it, or NULL. */
static void remove_pending(struct uring_ring *r, uint64_t user_data, struct uring_pending *p,
			   struct uring_pending *before)
{
	struct uring_pending *first = map_get(&r->pending, user_data);
	if (before) {
		before->next = p->next;
		first->last = first->last == p ? before : first->last;
	} else if (p->next) {
		p->next->last = first->last;
		map_put(&r->pending, user_data, p->next);
	} else {
		map_remove(&r->pending, user_data);
	}
	r->npending--;
	free(p);
}

void uring_ring_withdraw(struct uring_ring *r, uint64_t user_data, uint64_t id)
{
	struct uring_pending *before = NULL, *p = map_get(&r->pending, user_data);
	for (; p && p->id != id; p = p->next)
		before = p;
	if (p)
		remove_pending(r, user_data, p, before);
}

static struct uring_completion completion_of(struct uring_ring *r, const struct event *ev, const struct cqe *c)
{
	struct uring_completion done = {.user_data = c->user_data, .result = c->res, .flags = c->flags};
	struct uring_pending *p = map_get(&r->pending, c->user_data);
	if (!p)
		return done;
	done.known = true;
	done.request = p->request;
	done.ns = ev->time_ns > p->request.began_ns ? ev->time_ns - p->request.began_ns : 0;
	p->completed = true;
	if (!(c->flags & URING_MORE))
		remove_pending(r, c->user_data, p, NULL);
	return done;
}

bool uring_ring_reap(struct uring *u, struct uring_ring *r, const struct event *ev)
{
	const struct uring_params *p = &r->params;
	const size_t size = p->flags & URING_CQE32 ? 2 * CQE_SIZE : CQE_SIZE;
	uint32_t tail;
	if (!uring_read(u, ev, r->cq + p->cq.tail, &tail, sizeof(tail)))
		return false;
	if (!r->counts && !r->from_setup && !uring_read(u, ev, r->cq + p->cq.head, &r->seen, sizeof(r->seen)))
		return false;
	r->counts = true;
	uint32_t n = tail - r->seen;
	if (n > INT32_MAX) {
		r->seen = tail; /* the program has changed the ring itself */
		return true;
	}
	if (n > p->cq_entries) {
		r->missed += n - p->cq_entries;
		r->seen = tail - p->cq_entries;
		n = p->cq_entries;
	}
	auto_free char *entries = memory_get(n * size + 1);
	bool good = !n || get_round(u, ev, r->cq + p->cq.cqes, p->cq_entries, size, r->seen, n, entries);
	for (uint32_t i = 0; good && i < n; i++) {
		struct cqe c;
		memcpy(&c, entries + i * size, sizeof(c));
		if (!(c.flags & CQE_SKIP))
			vec_push(&r->early, completion_of(r, ev, &c));
		i += size == CQE_SIZE && c.flags & CQE_WIDE;
	}
	r->seen = tail;
	return good;
}

/* The offsets at which a program maps the parts of a ring (IORING_OFF_..., linux/io_uring.h). */
#define OFFSET_SQ   0x0ull
#define OFFSET_CQ   0x8000000ull
#define OFFSET_SQES 0x10000000ull

#define RING_NAME "anon_inode:[io_uring]"

static void note(struct uring_places *p, uint64_t *place, uint64_t addr)
{
	p->several |= *place && *place != addr;
	*place = addr;
}

/* Finds the mappings of the file with inode `ino`. */
static void find_places(const char *maps, uint64_t ino, struct uring_places *p)
{
	struct proc_map m;
	while (proc_map_next(&maps, &m)) {
		if (m.ino != ino || !proc_map_is(&m, RING_NAME))
			continue;
		if (m.offset == OFFSET_SQ)
			note(p, &p->sq, m.lo);
		else if (m.offset == OFFSET_CQ)
			note(p, &p->cq, m.lo);
		else if (m.offset == OFFSET_SQES)
			note(p, &p->sqes, m.lo);
	}
}

/* Has the ring a kernel thread that takes its requests? fdinfo has its number, or -1. */
static bool is_polled(pid_t tid, int fd)
{
	auto_buf info = {0};
	char name[40];
	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	uint64_t thread = proc_read(tid, name, &info) == 0 ? proc_number(buf_str(&info), "SqThread") : 0;
	return thread > 0 && thread < INT32_MAX;
}

/*
 * Gets the layout of rings, which is the same for all rings of a kernel, but not in all kernels, from a ring of sctrace's
 * own. Only the offset of the array depends on the number of entries. Returns false if sctrace may not create a ring.
 */
static bool get_layout(struct uring_params *p)
{
	*p = (struct uring_params){0};
	int fd = (int)syscall(SYS_io_uring_setup, 1, p);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Completes the usual layout by the numbers of entries in the memory of the thread. */
static bool complete_layout(pid_t tid, struct uring_places *p)
{
	struct uring_params *l = &p->layout;
	uint32_t masks[2];
	if (!get_layout(l))
		return false;
	const struct iovec to = {masks, sizeof(masks)};
	const struct iovec from[] = {{(void *)(uintptr_t)(p->sq + l->sq.mask), sizeof(*masks)},
				     {(void *)(uintptr_t)(p->cq + l->cq.mask), sizeof(*masks)}};
	return process_vm_readv(tid, &to, 1, from, 2, 0) == sizeof(masks) && set_sizes(l, masks[0], masks[1], true);
}

bool uring_places(pid_t tid, int fd, bool layout, struct uring_places *p)
{
	struct statx st;
	auto_buf maps = {0};
	char link[64];
	*p = (struct uring_places){0};
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)tid, fd);
	if (proc_stat(link, &st) == 0 && proc_read(tid, "maps", &maps) == 0)
		find_places(buf_str(&maps), st.stx_ino, p);
	p->cq = p->cq ? p->cq : p->sq;
	return p->sq && p->sqes && !p->several && (!layout || (!is_polled(tid, fd) && complete_layout(tid, p)));
}

bool uring_find(pid_t tid, int fd, struct buf *out)
{
	struct uring_places p;
	struct uring_params own;
	if (!uring_places(tid, fd, false, &p) || !get_layout(&own))
		return false;
	buf_addf(out, "%llx %llx %llx %d %u %u %u %u %u %u %u", (unsigned long long)p.sq, (unsigned long long)p.cq,
		 (unsigned long long)p.sqes, is_polled(tid, fd), own.sq.head, own.sq.tail, own.sq.mask, own.cq.head,
		 own.cq.tail, own.cq.mask, own.cq.cqes);
	return true;
}
