/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "recording/read_state.h"

#include <string.h>

/* Returns the names and stacks that were recorded. */
void recording_learn(struct recording *r, struct item_reader *item)
{
	uint64_t kind = item_get(item), tid = item_get(item), key = item_get(item);
	const unsigned char *at = item->at;
	size_t n;
	if (item_get(item))
		(void)item_get_text(item, &n);
	else
		(void)item_get_signed(item);
	if (kind >= NAME_KINDS)
		item->bad = true;
	if (!item->bad)
		map_put(&r->known, recording_name_key((enum recording_name)kind, (pid_t)tid, (uint32_t)key),
			(void *)(uintptr_t)at);
}

static bool text_of(const struct recording_answers *a, enum recording_name kind, pid_t tid, uint32_t key,
		    struct buf *out)
{
	int64_t number;
	return a->answer(a->ctx, kind, tid, key, out, &number);
}

static int64_t number_of(const struct recording_answers *a, enum recording_name kind, pid_t tid, int fd, int64_t number)
{
	a->answer(a->ctx, kind, tid, (uint32_t)fd, NULL, &number);
	return number;
}

static bool name_fd(void *a, pid_t tid, int fd, struct buf *out)
{
	return text_of(a, NAME_FD, tid, (uint32_t)fd, out);
}

static bool name_full(void *a, pid_t tid, int fd, struct buf *out)
{
	return text_of(a, NAME_FULL, tid, (uint32_t)fd, out);
}

static bool name_device(void *a, pid_t tid, int fd, struct buf *out)
{
	return text_of(a, NAME_DEVICE, tid, (uint32_t)fd, out);
}

static bool name_deleted(void *a, pid_t tid, int fd)
{
	return number_of(a, NAME_DELETED, tid, fd, 0) > 0;
}

static int name_netlink(void *a, pid_t tid, int fd)
{
	return (int)number_of(a, NAME_NETLINK, tid, fd, -1);
}

static bool name_interface(void *a, pid_t tid, uint32_t index, struct buf *out)
{
	return text_of(a, NAME_INTERFACE, tid, index, out);
}

static bool name_ring(void *a, pid_t tid, int fd, struct buf *out)
{
	return text_of(a, NAME_RING, tid, (uint32_t)fd, out);
}

static bool name_comm(void *a, pid_t tid, struct buf *out)
{
	return text_of(a, NAME_COMM, tid, 0, out);
}

void recording_answers_init(struct recording_answers *a, recording_answer_fn *answer, void *ctx)
{
	*a = (struct recording_answers){.names = {.fd = name_fd,
						  .fd_in_full = name_full,
						  .deleted = name_deleted,
						  .device = name_device,
						  .netlink = name_netlink,
						  .interface = name_interface,
						  .ring = name_ring,
						  .comm = name_comm,
						  .ctx = a},
					.answer = answer,
					.ctx = ctx};
}

/*
 * Checks the type and number of a device, such as "char 1:3". They are printed without escapes, and the file may be
 * damaged.
 */
static bool is_device(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!text[i] || !strchr("abcdefghijklmnopqrstuvwxyz 0123456789:", text[i]))
			return false;
	return n > 0;
}

/* Finds the answer that was recorded. */
static bool recorded(void *recording, enum recording_name kind, pid_t tid, uint32_t key, struct buf *out,
		     int64_t *number)
{
	const struct recording *r = recording;
	const unsigned char *at = map_get(&r->known, recording_name_key(kind, tid, key));
	struct item_reader item = {.at = at, .end = r->at.end};
	size_t n;
	if (!at)
		return false;
	if (!item_get(&item)) {
		*number = item_get_signed(&item);
		return false;
	}
	const char *text = item_get_text(&item, &n);
	if (kind == NAME_DEVICE && !is_device(text, n))
		return false;
	if (out)
		buf_add(out, text, n);
	return true;
}

/* Reads frame `i`. Its strings are stored in `texts`. */
static struct stack_frame frame_at(const struct recording *r, size_t i, struct buf *texts)
{
	struct item_reader item = {.at = r->frames.v[i], .end = r->at.end};
	struct stack_frame f = {.index = (unsigned)i};
	const char **const to[] = {&f.module, &f.function, &f.file};
	size_t at[3], n;
	bool has[3];
	f.ip = item_get(&item);
	f.module_addr = item_get(&item);
	f.offset = item_get(&item);
	f.line = (int)item_get(&item);
	buf_clear(texts);
	for (int k = 0; k < 3; k++) {
		at[k] = texts->len;
		has[k] = item_get(&item) != 0;
		const char *text = has[k] ? item_get_text(&item, &n) : NULL;
		if (text) {
			buf_add(texts, text, n);
			buf_addc(texts, '\0');
		}
	}
	for (int k = 0; k < 3; k++)
		*to[k] = has[k] ? texts->s + at[k] : NULL;
	return f;
}

static int stack_recorded(struct stack *s, const struct event *ev, stack_frame_fn fn, void *ctx)
{
	const struct recording *r = (const void *)((char *)s - offsetof(struct recording, stack));
	struct buf texts = {0};
	bool more = true;
	(void)ev;
	for (size_t i = 0; i < r->frames.n && more; i++) {
		struct stack_frame f = frame_at(r, i, &texts);
		more = fn(ctx, &f);
	}
	buf_free(&texts);
	return (int)r->frames.n;
}

/* forget() and close() are never called: recording_close_read() frees the stack. */
static const struct stack_ops recorded_stacks = {.name = "recorded", .walk = stack_recorded};

void recording_answer(struct recording *r)
{
	r->stack.ops = &recorded_stacks;
	recording_answers_init(&r->names, recorded, r);
}

const struct names *recording_names(struct recording *r)
{
	return &r->names.names;
}

struct stack *recording_stack(struct recording *r)
{
	return &r->stack;
}
