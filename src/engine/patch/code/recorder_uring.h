/* SPDX-License-Identifier: MIT */
/*
 * The part of recorder.c for io_uring(7): captures what tracee/uring.h reads of a ring when io_uring_enter(2) begins and ends.
 * It uses PART, HELPER and capture.h of that file, and is included only there.
 */
#ifndef SCTRACE_ENGINE_PATCH_CODE_RECORDER_URING_H
#define SCTRACE_ENGINE_PATCH_CODE_RECORDER_URING_H

#include <linux/io_uring.h>

/*
 * Flags of rings whose calls sctrace must see: a kernel thread takes the requests, entries of other sizes, memory of the program's
 * own, no descriptor, no array. After SQPOLL, these are SQE128, CQE32, NO_MMAP, REGISTERED_FD_ONLY, NO_SQARRAY, CQE_MIXED and
 * SQE_MIXED, which older headers do not have.
 */
#define SETUP_OTHER    (IORING_SETUP_SQPOLL | 1u << 10 | 1u << 11 | 1u << 14 | 1u << 15 | 1u << 16 | 1u << 18 | 1u << 19)
#define ENTER_BY_INDEX (1u << 4) /* IORING_ENTER_REGISTERED_RING */

enum {
	SEEN_AGAIN =
		16, /* number of old completions to capture again: sctrace may read the record of another thread first */
	TIME_SIZE = 16, /* of struct __kernel_timespec */
};

/* After io_uring_setup(2): notes the layout of the ring. */
HELPER void note_uring(const struct agent_scratch *s)
{
	const struct io_uring_params *p = (const struct io_uring_params *)s->args[1];
	if (s->nr != __NR_io_uring_setup || s->result < 0 || !p)
		return;
	volatile struct uring_row *u = uring_row((uint32_t)s->result);
	u->fd = 0;
	u->sqes = 0;
	u->seen = 0;
	u->sq_entries = p->sq_entries;
	u->cq_entries = p->cq_entries;
	u->sq_head = p->sq_off.head;
	u->sq_tail = p->sq_off.tail;
	u->sq_mask = p->sq_off.ring_mask;
	u->sq_array = p->sq_off.array;
	u->cq_tail = p->cq_off.tail;
	u->cq_mask = p->cq_off.ring_mask;
	u->cqes = p->cq_off.cqes;
	u->other = (p->flags & SETUP_OTHER) != 0;
	u->fd = (uint32_t)s->result + 1;
}

/* Returns the row of the ring of an io_uring_enter(2), if it can be recorded, or NULL. */
HELPER struct uring_row *uring_of(const struct agent_scratch *s)
{
	struct uring_row *u = uring_row((uint32_t)s->args[0]);
	return u->fd == (uint32_t)s->args[0] + 1 && u->sqes && !(s->args[3] & ENTER_BY_INDEX) ? u : NULL;
}

/* Captures `n` elements of `size` bytes of an array of `entries`, from position `from` on; after its end comes its beginning. */
PART bool put_round(struct capture *c, uint64_t base, uint32_t entries, uint64_t size, uint32_t from, uint32_t n)
{
	const uint32_t at = from & (entries - 1), first = n < entries - at ? n : entries - at;
	return put_any(c, base + at * size, first * size) && put_any(c, base, (n - first) * size);
}

/* Captures the completions that have come since the last look. */
PART bool put_completions(struct capture *c, struct uring_row *u)
{
	const uint32_t *tail = put_copy(c, u->cq + u->cq_tail, sizeof(*tail));
	if (!tail)
		return false;
	const uint32_t end = *tail, fresh = end - u->seen + SEEN_AGAIN,
		       n = fresh < u->cq_entries ? fresh : u->cq_entries;
	if (!put_round(c, u->cq + u->cqes, u->cq_entries, sizeof(struct io_uring_cqe), end - n, n))
		return false;
	u->seen = end;
	return true;
}

/* Captures a request and what it points at. Returns false if the record lacks room, or if the call must stop the thread. */
PART bool put_sqe(struct capture *c, uint64_t addr)
{
	const struct io_uring_sqe *q = put_copy(c, addr, sizeof(*q));
	const uint64_t op = q && q->opcode < 64 ? 1ull << q->opcode : 0, *of = c->tables->rings;
	if (op & of[URING_BYTES])
		return put_any(c, q->addr, smaller(q->len, c->string_max));
	if (op & of[URING_VECTOR])
		return put_vector(c, q->addr, q->len, UINT64_MAX, false, false);
	if (op & of[URING_BUFFERS])
		return put_vector(c, q->addr, q->len, 0, true, false);
	if (op & of[URING_PATH])
		return !q->addr || put_text(c, q->addr, UINT64_MAX);
	if (op & (of[URING_TIME] | of[URING_ADDRESS]))
		return put_any(c, q->addr, op & of[URING_TIME] ? TIME_SIZE : smaller(q->off, ADDRESS_MOST));
	return op & of[URING_NOTHING];
}

/* Captures the requests that the call will submit, at most. */
HELPER bool put_submissions(struct capture *c, const struct uring_row *u)
{
	if (!put_any(c, u->sq + u->sq_mask, sizeof(uint32_t)) || !put_any(c, u->cq + u->cq_mask, sizeof(uint32_t)))
		return false;
	if (!(uint32_t)c->args[1])
		return true;
	const uint32_t *head = put_copy(c, u->sq + u->sq_head, sizeof(*head));
	const uint32_t *tail = head ? put_copy(c, u->sq + u->sq_tail, sizeof(*tail)) : NULL;
	if (!tail)
		return false;
	const uint32_t from = *head, n = (uint32_t)smaller((uint32_t)c->args[1], *tail - from);
	if (n > u->sq_entries)
		return true;
	if (!put_round(c, u->sq + u->sq_array, u->sq_entries, sizeof(uint32_t), from, n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t at = u->sq + u->sq_array + ((from + i) & (u->sq_entries - 1)) * sizeof(uint32_t);
		const uint32_t index = *(const volatile uint32_t *)at;
		if (index < u->sq_entries && !put_sqe(c, u->sqes + (uint64_t)index * sizeof(struct io_uring_sqe)))
			return false;
	}
	return true;
}

/*
 * Before an io_uring_enter(2): captures what sctrace would read of the ring. Returns false if the call must stop the thread; c->full
 * is then 1 if the record lacks room.
 */
PART bool put_uring(const struct agent_scratch *s, struct capture *c)
{
	struct uring_row *u = uring_of(s);
	c->before = 1;
	return u && put_submissions(c, u) && put_completions(c, u);
}

#endif
