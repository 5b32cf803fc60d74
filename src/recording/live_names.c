/* SPDX-License-Identifier: MIT */
#include "recording/write.h"

#include "base/clock.h"
#include "base/memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* An epoch ends after this time at the latest, because untraced programs can change names without an event. */
#define EPOCH_NS (NSEC_PER_SEC / 100)

struct answer {
	uint64_t epoch; /* that of the look-up */
	struct buf text;
	int64_t number;
	bool is_text;
};

void recording_asked_free(struct recording_asked *a)
{
	size_t i = 0;
	struct answer *x;
	while ((x = map_next(&a->answers, &i, NULL))) {
		buf_free(&x->text);
		free(x);
	}
	map_free(&a->answers);
	if (a->spare)
		buf_free(&a->spare->text);
	free(a->spare);
	a->spare = NULL;
}

void recording_asked_event(struct recording_asked *a, struct recording_asked_thread *th, uint64_t block,
			   uint64_t now_ns)
{
	bool is_new = block != a->block;
	if (is_new)
		recording_asked_free(a); /* the answers belong to the previous block */
	a->block = block;
	if (is_new || now_ns >= a->epoch_end_ns) {
		recording_asked_changed(a, true);
		a->epoch_end_ns = now_ns + EPOCH_NS;
	}
	if (th->epoch < a->all_changed)
		th->fds = 0;
	for (uint64_t left = th->epoch < a->epoch ? th->fds : 0; left; left &= left - 1)
		if (th->epoch < a->changed[__builtin_ctzll(left)])
			th->fds &= ~(left & -left);
	th->epoch = a->epoch;
}

void recording_asked_changed(struct recording_asked *a, bool comm)
{
	a->all_changed = ++a->epoch;
	a->comm_epoch += comm;
}

/* The slot of a descriptor. Those below RECORDING_FD_SLOTS - 1 and AT_FDCWD have slots of their own. */
static unsigned slot_of(uint32_t fd)
{
	return fd == (uint32_t)AT_FDCWD ? 0 : 1 + fd % (RECORDING_FD_SLOTS - 1);
}

void recording_asked_changed_fds(struct recording_asked *a, uint32_t first, uint32_t last)
{
	a->epoch++;
	for (uint32_t i = 0; i < RECORDING_FD_SLOTS && i <= last - first; i++)
		a->changed[slot_of(first + i)] = a->epoch;
}

void recording_asked_named(struct recording_asked *a, pid_t tid, const struct event_names *names)
{
	for (unsigned i = 0; names && i < names->n; i++) {
		const struct event_name *n = &names->v[i];
		const struct answer *x =
			n->full ? map_get(&a->answers, recording_name_key(NAME_FULL, tid, (uint32_t)n->fd)) : NULL;
		if (x && strcmp(buf_str(&x->text), n->full) != 0)
			recording_asked_changed(a, false);
	}
}

bool recording_asked_comm(const struct recording_asked *a, struct recording_asked_thread *th)
{
	const bool asks = th->comm_epoch != a->comm_epoch;
	th->comm_epoch = a->comm_epoch;
	return asks;
}

/* Looks a name up on the live system, and stores the result in *x. */
static void ask(const struct recording_asked *a, enum recording_name kind, pid_t tid, uint32_t key, struct answer *x)
{
	const struct names *n = a->live;
	bool (*const by_fd[])(void *, pid_t, int, struct buf *) = {
		[NAME_FD] = n->fd, [NAME_FULL] = n->fd_in_full, [NAME_DEVICE] = n->device, [NAME_RING] = n->ring};
	buf_clear(&x->text);
	x->number = 0;
	x->is_text = false;
	if (kind == NAME_DELETED)
		x->number = n->deleted && n->deleted(n->ctx, tid, (int)key);
	else if (kind == NAME_NETLINK)
		x->number = n->netlink(n->ctx, tid, (int)key);
	else if (kind == NAME_INTERFACE)
		x->is_text = n->interface && n->interface(n->ctx, tid, key, &x->text);
	else if (kind == NAME_COMM)
		x->is_text = n->comm(n->ctx, tid, &x->text);
	else
		x->is_text = by_fd[kind] && by_fd[kind](n->ctx, tid, (int)key, &x->text);
}

static bool is_same(const struct answer *x, const struct answer *y)
{
	return x->is_text == y->is_text && x->number == y->number && x->text.len == y->text.len &&
	       (!x->text.len || memcmp(x->text.s, y->text.s, x->text.len) == 0);
}

/* Returns the first epoch in which a look-up of this name gave what it would give now. */
static uint64_t valid_from(const struct recording_asked *a, enum recording_name kind, uint32_t key)
{
	if (kind == NAME_COMM)
		return a->comm_epoch;
	if (kind == NAME_RING)
		return UINT64_MAX; /* mmap(2) changes it, and it is asked for only until it is known */
	const uint64_t changed = kind == NAME_INTERFACE ? 0 : a->changed[slot_of(key)];
	return changed > a->all_changed ? changed : a->all_changed;
}

static const struct answer *answer_to(struct recording_asked *a, enum recording_name kind, pid_t tid, uint32_t key)
{
	const uint64_t id = recording_name_key(kind, tid, key);
	struct answer *old = map_get(&a->answers, id), *x = old;
	if (old && old->epoch >= valid_from(a, kind, key))
		return old;
	if (!a->spare)
		a->spare = memory_zeroed(1, sizeof(*a->spare));
	ask(a, kind, tid, key, a->spare);
	if (!old || !is_same(old, a->spare)) {
		x = a->spare;
		a->spare = old;
		recording_name(a->writer, kind, tid, key, x->is_text ? &x->text : NULL, x->number);
		map_put(&a->answers, id, x);
	}
	x->epoch = kind == NAME_COMM ? a->comm_epoch : a->epoch;
	return x;
}

void recording_asked_decode(struct recording_asked *a, struct recording_asked_thread *th)
{
	a->decoding = th;
}

/* Returns the bit of `fd` in recording_asked_thread.fds, or 0 if it has none. */
static uint64_t bit_of(int fd)
{
	return fd == AT_FDCWD || (fd >= 0 && fd < RECORDING_FD_SLOTS - 1) ? UINT64_C(1) << slot_of((uint32_t)fd) : 0;
}

bool recording_asked_has(const struct recording_asked_thread *th, int fd)
{
	return th->fds & bit_of(fd);
}

static bool answer(void *asked, enum recording_name kind, pid_t tid, uint32_t key, struct buf *out, int64_t *number)
{
	struct recording_asked *a = asked;
	if (kind == NAME_FULL) {
		if (a->decoding && recording_asked_has(a->decoding, (int)key))
			return false;
		if (a->decoding)
			a->decoding->fds |= bit_of((int)key);
		/* The short name is recorded as well, because the recording may later be shown with short names. */
		(void)answer_to(a, NAME_FD, tid, key);
	}
	const struct answer *x = answer_to(a, kind, tid, key);
	*number = x->number;
	if (x->is_text)
		buf_add(out, buf_str(&x->text), x->text.len);
	return x->is_text;
}

void recording_asked_init(struct recording_asked *a, const struct names *live, struct recording_writer *writer)
{
	*a = (struct recording_asked){.live = live, .writer = writer};
	recording_answers_init(&a->names, answer, a);
}
