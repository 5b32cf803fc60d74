/* SPDX-License-Identifier: MIT */
#include "engine/patch/record/reader.h"

#include "base/memory.h"
#include "syscall/captured.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* Values of agent_record.marks, besides those of enum record_mark. */
#define CONTINUED 4 /* the call continued after an interruption */
#define WITHDRAWN 8 /* the thread has not made the call */

void reader_free(struct record_reader *r)
{
	free(r->bytes);
	r->bytes = NULL;
	r->n = r->at = r->cap = 0;
}

/* Makes room for `n` more bytes after the records that are not reported yet. */
static unsigned char *make_room(struct record_reader *r, size_t n)
{
	if (r->at == r->n)
		r->at = r->n = 0;
	if (r->n + n > r->cap) {
		size_t cap = r->n + n > 2 * r->cap ? r->n + n : 2 * r->cap;
		r->bytes = memory_resize(r->bytes, cap);
		r->cap = cap;
	}
	return r->bytes + r->n;
}

/* Checks the record of at most `most` bytes at `at`, and its captures. Returns its size, or 0 if it is invalid. */
static uint32_t check(const unsigned char *at, size_t most)
{
	struct agent_record head;
	struct captured c;
	if (most < RECORD_HEAD_LEAST)
		return 0;
	memcpy(&head, at, RECORD_HEAD_LEAST);
	if (head.head < RECORD_HEAD_LEAST || head.head > RECORD_HEAD_MOST || head.head % 8 || head.size < head.head ||
	    head.size > most || head.size > RECORD_MOST || head.size % 8 || head.nr >= AGENT_CALLS)
		return 0;
	for (uint32_t k = head.head; k < head.size;) {
		if (head.size - k < sizeof(c))
			return 0;
		memcpy(&c, at + k, sizeof(c));
		k += sizeof(c);
		if (c.len > head.size - k)
			return 0;
		k += (c.len + 7) & ~7u;
	}
	return head.size;
}

/* Was the call of this record, which has just been copied, already reported? */
static bool was_reported(struct record_reader *r, const struct agent_record *rec)
{
	bool reported = r->ahead;
	for (size_t i = 0; i < REPEATS_MOST && rec->nr == SYS_rt_sigreturn; i++)
		if (r->repeats[i] == rec->sp) {
			r->repeats[i] = 0;
			reported = true;
		}
	return reported;
}

/* Copies the records in the next `bytes` of the ring. */
static int copy_committed(struct record_reader *r, uint64_t bytes)
{
	const unsigned char *data = (const unsigned char *)r->ring + RING_HEAD;
	r->halted = r->halted && !bytes;
	while (bytes) {
		size_t lap = r->limit - r->off;
		/* The last record may extend beyond the end of the ring's data. */
		size_t n = bytes < lap ? bytes : r->end - r->off;
		unsigned char *to = make_room(r, n);
		memcpy(to, data + r->off, n);
		size_t k = 0;
		uint64_t taken_in_all = 0;
		while (taken_in_all < bytes && (taken_in_all == 0 || r->off)) {
			uint32_t taken, size = check(to + k, n - k);
			if (!size)
				return -EPROTO;
			struct agent_record *rec = (struct agent_record *)(void *)(to + k);
			rec->marks &= MARKS_OF_RECORDER;
			r->off = ring_step(r->off, size, r->limit, &taken);
			taken_in_all += taken;
			if (was_reported(r, rec)) {
				n -= size;
				memmove(to + k, to + k + size, n - k);
			} else
				k += size;
			r->ahead = false;
		}
		if (taken_in_all > bytes)
			return -EPROTO;
		bytes -= taken_in_all;
		r->n += k;
	}
	return 0;
}

/* The contents of the ring are invalid: skips everything that has been committed so far. */
static int drop(struct record_reader *r)
{
	r->n = r->at = 0;
	r->ahead = false;
	r->off = r->ring->next < r->limit ? r->ring->next : 0;
	r->has_open = r->entered = false;
	return -EPROTO;
}

/* Copies the header and the captures of a call in progress, unless its record was committed in the meantime. */
static void look_for_open(struct record_reader *r)
{
	uint64_t open = __atomic_load_n(&r->ring->open, __ATOMIC_ACQUIRE);
	r->has_open = false;
	/* A record that has just been committed may still be marked as open. */
	if (open != (uint64_t)r->off + 1 || r->ahead)
		return;
	const unsigned char *from = (const unsigned char *)ring_record(r->ring, (uint32_t)open - 1);
	size_t most = r->end - r->off < RECORD_MOST ? r->end - r->off : RECORD_MOST;
	memcpy(&r->open, from, sizeof(r->open));
	if (r->open.before > sizeof(r->open) && r->open.before <= most)
		memcpy(r->open_bytes + sizeof(r->open), from + sizeof(r->open), r->open.before - sizeof(r->open));
	bool announced = r->open.marks & 1;
	r->open.size = r->open.before;
	r->open.marks &= MARKS_OF_RECORDER;
	r->halted = r->halted && !r->open.t1;
	r->has_open = !r->halted && !announced && r->open.t0 && check(r->open_bytes, most);
	r->open_at = open;
	reader_verify_open(r);
}

void reader_announce(struct record_reader *r, uint64_t ticks)
{
	uint64_t open = __atomic_load_n(&r->ring->open, __ATOMIC_ACQUIRE);
	if (!open || open > r->limit)
		return;
	struct agent_record *rec = ring_record(r->ring, (uint32_t)open - 1);
	rec->t0 = ticks;
	rec->marks &= MARK_ABSENT;
}

bool reader_wants_open(const struct record_reader *r)
{
	return r->has_open && !(r->entered && r->at == r->n);
}

void reader_verify_open(struct record_reader *r)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	r->has_open = r->has_open && __atomic_load_n(&r->ring->open, __ATOMIC_RELAXED) == r->open_at &&
		      __atomic_load_n(&r->ring->produced, __ATOMIC_RELAXED) == r->consumed;
}

uint64_t reader_waiting(const struct record_reader *r)
{
	return r->ring ? __atomic_load_n(&r->ring->produced, __ATOMIC_RELAXED) - r->consumed : 0;
}

int reader_fill(struct record_reader *r)
{
	if (!r->ring)
		return 0;
	uint64_t produced = __atomic_load_n(&r->ring->produced, __ATOMIC_ACQUIRE);
	uint64_t bytes = produced - r->consumed;
	/* A thread that makes no calls needs no memory for them. */
	if (!bytes && r->at == r->n && r->bytes)
		reader_free(r);
	int err = bytes > r->limit ? -EPROTO : copy_committed(r, bytes);
	r->consumed = produced;
	__atomic_store_n(&r->ring->consumed, produced, __ATOMIC_RELEASE);
	if (err == -EPROTO)
		return drop(r);
	look_for_open(r);
	return err;
}

/* Appends the open record with this result. With RECORD_LIVE, it has only the captures from before the call. */
static void append(struct record_reader *r, int64_t result, uint64_t t1, unsigned marks)
{
	size_t size = marks & RECORD_LIVE ? r->open.before : r->open.size;
	unsigned char *to = make_room(r, size);
	memcpy(to, r->open_bytes, size);
	struct agent_record *copy = (struct agent_record *)(void *)to;
	copy->size = (uint16_t)size;
	copy->marks = (uint8_t)((copy->marks & MARKS_OF_RECORDER) | (r->went_on ? CONTINUED : 0) | marks);
	copy->t0 = r->went_on ? r->went_on : copy->t0;
	copy->t1 = t1;
	copy->result = result;
	r->n += size;
}

void reader_complete(struct record_reader *r, int64_t result, uint64_t t1, unsigned marks)
{
	if (r->has_open)
		append(r, result, t1, marks);
	r->has_open = r->ahead = false;
	r->went_on = 0;
}

void reader_repeats(struct record_reader *r, uint64_t sp)
{
	memmove(r->repeats + 1, r->repeats, sizeof(r->repeats) - sizeof(*r->repeats));
	r->repeats[0] = sp;
}

void reader_end(struct record_reader *r, int64_t result, uint64_t t1)
{
	bool ahead = r->has_open;
	reader_complete(r, result, t1, RECORD_LIVE);
	r->ahead = ahead;
}

void reader_interrupt(struct record_reader *r, int64_t result, uint64_t t1)
{
	if (r->has_open)
		append(r, result, t1, RECORD_LIVE);
	r->halted = r->has_open;
	r->has_open = false;
	r->went_on = t1;
}

void reader_renew(struct record_reader *r, const struct mem *live)
{
	unsigned char *ring = (unsigned char *)ring_record(r->ring, (uint32_t)r->open_at - 1);
	for (uint32_t k = r->open.head; r->has_open && k < r->open.before;) {
		struct captured c;
		memcpy(&c, r->open_bytes + k, sizeof(c));
		k += (uint32_t)sizeof(c);
		unsigned char bytes[RECORD_MOST];
		if (c.before < CAPTURED_NAME && c.len <= r->open.before - k && mem_get(live, c.addr, bytes, c.len) == 0)
			memcpy(ring + k, bytes, c.len);
		k += (c.len + 7) & ~7u;
	}
}

bool reader_withdraw(struct record_reader *r, uint64_t ticks)
{
	bool reported = r->has_open && r->entered && r->at == r->n;
	if (reported)
		reader_complete(r, -513 /* ERESTARTNOINTR (include/linux/errno.h) */, ticks, RECORD_LIVE | WITHDRAWN);
	r->has_open = r->halted = r->ahead = false;
	r->went_on = 0;
	return reported;
}

struct record_item reader_peek(const struct record_reader *r)
{
	struct record_item item = {0};
	bool committed = r->at < r->n;
	if (committed)
		item.record = (const struct agent_record *)(const void *)(r->bytes + r->at);
	else if (r->has_open)
		item.record = &r->open;
	else
		return item;
	unsigned marks = item.record->marks;
	bool went_on = !(marks & RECORD_LIVE) && r->went_on > item.record->t0;
	item.committed = committed;
	item.live = marks & RECORD_LIVE;
	item.caught = marks & RECORD_CAUGHT;
	item.withdrawn = marks & WITHDRAWN;
	item.continued = marks & CONTINUED || went_on;
	item.began = went_on ? r->went_on : item.record->t0;
	if (!r->entered) {
		item.kind = RECORD_ENTER;
		item.ticks = item.began;
	} else if (committed) {
		item.kind = RECORD_EXIT;
		item.ticks = item.record->t1;
	} else if (r->ended_at) {
		item.kind = RECORD_VANISH;
		item.ticks = r->ended_at;
	}
	return item;
}

void reader_pop(struct record_reader *r)
{
	r->entered = !r->entered;
	if (r->entered)
		return;
	if (r->at == r->n) {
		r->has_open = false;
		return;
	}
	const struct agent_record *record = (const struct agent_record *)(const void *)(r->bytes + r->at);
	if (!(record->marks & RECORD_LIVE))
		r->went_on = 0;
	r->at += record->size;
}
