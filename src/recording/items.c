/* SPDX-License-Identifier: MIT */
#include "recording/items.h"

#include "base/memory.h"
#include "syscall/call_table.h"

#include <stdlib.h>
#include <string.h>

#define INSIDE_MOST 64 /* more than the longest name of an operation of socketcall(2) or ipc(2) */

static uint64_t unsigned_of(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

char *item_number_at(char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(v | 0x80);
	*p++ = (char)v;
	return p;
}

char *item_signed_at(char *p, int64_t v)
{
	return item_number_at(p, unsigned_of(v));
}

void item_put(struct buf *out, uint64_t v)
{
	buf_end_at(out, item_number_at(buf_room(out, ITEM_NUMBER_MOST), v));
}

void item_put_signed(struct buf *out, int64_t v)
{
	item_put(out, unsigned_of(v));
}

void item_put_text(struct buf *out, const char *s, size_t n)
{
	item_put(out, n);
	buf_add(out, s, n);
}

uint64_t item_get(struct item_reader *r)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
		unsigned char c = *r->at++;
		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return v;
	}
	r->bad = true;
	r->at = r->end;
	return 0;
}

int64_t item_get_signed(struct item_reader *r)
{
	uint64_t v = item_get(r);
	return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

const char *item_get_text(struct item_reader *r, size_t *n)
{
	uint64_t len = item_get(r);
	*n = 0;
	if (r->bad || len > (uint64_t)(r->end - r->at)) {
		r->bad = true;
		r->at = r->end;
		return "";
	}
	*n = (size_t)len;
	r->at += len;
	return (const char *)r->at - len;
}

/* Returns the slot for calls with number `nr`. If the slot contains a call with another number, it is cleared. */
static struct call *slot_of(struct item_calls *calls, int64_t nr)
{
	struct call *slot = &calls->slots[(uint64_t)nr % RECORDING_SLOTS];
	if (slot->nr != nr)
		*slot = (struct call){.nr = nr};
	return slot;
}

/* Returns the member of a call for which bit 6 + `i` of the mask stands (enum recording_mask). */
static uint64_t *members(struct call *c, uint64_t *arch, unsigned i)
{
	uint64_t *const all[] = {&c->ip, &c->sp, arch, &c->cost_ns, &c->spread_ns};
	return all[i];
}

enum { MEMBERS = 5 };

static uint64_t mask_of(const struct event *ev, const struct call *slot)
{
	const struct call *c = &ev->call;
	uint64_t mask = (c->foreign ? MASK_FOREIGN : 0) | (c->restart ? MASK_RESTART : 0) |
			(ev->launch ? MASK_LAUNCH : 0) | (c->error ? MASK_ERROR : 0) |
			(c->error && c->err != (int)-c->result ? MASK_ERRNO : 0) | (c->injected ? MASK_INJECTED : 0) |
			(c->delayed ? MASK_DELAYED : 0) | (c->wait != WAIT_UNKNOWN ? MASK_JUDGED : 0) |
			(c->wait == WAIT_YES ? MASK_WAITED : 0) | (c->nr > UINT32_MAX ? MASK_INSIDE : 0) |
			(c->ip != slot->ip ? MASK_IP : 0) | (c->sp != slot->sp ? MASK_SP : 0) |
			(c->arch != slot->arch ? MASK_ARCH : 0) | (c->cost_ns != slot->cost_ns ? MASK_COST : 0) |
			(c->spread_ns != slot->spread_ns ? MASK_SPREAD : 0);
	for (unsigned i = 0; i < 6; i++)
		mask |= c->args[i] != slot->args[i] ? UINT64_C(1) << i : 0;
	return mask;
}

/* Stores the differences of `c` from `slot` that the mask announces. Returns the address after them. */
static char *differences_at(char *p, const struct call *c, const struct call *slot, uint64_t mask)
{
	const uint64_t now[] = {c->args[0], c->args[1], c->args[2], c->args[3], c->args[4],  c->args[5],
				c->ip,      c->sp,      c->arch,    c->cost_ns, c->spread_ns};
	const uint64_t before[] = {slot->args[0], slot->args[1], slot->args[2],  slot->args[3],
				   slot->args[4], slot->args[5], slot->ip,       slot->sp,
				   slot->arch,    slot->cost_ns, slot->spread_ns};
	for (unsigned i = 0; i < sizeof(now) / sizeof(*now); i++)
		if (mask >> i & 1)
			p = item_signed_at(p, (int64_t)(now[i] - before[i]));
	return p;
}

char *item_call_at(char *p, struct item_calls *calls, const struct event *ev)
{
	const struct call *c = &ev->call;
	int64_t nr = syscall_kernel_number(c->arch, c->nr);
	struct call *slot = slot_of(calls, nr);
	uint64_t mask = mask_of(ev, slot);
	p = item_number_at(item_signed_at(p, nr), mask);
	if (mask & MASK_DIFFERENCES) {
		p = differences_at(p, c, slot, mask);
		*slot = *c;
		slot->nr = nr;
	}
	if (mask & MASK_ERRNO)
		p = item_signed_at(p, c->err);
	if (mask & MASK_INSIDE) {
		size_t n = c->desc ? strlen(c->desc->name) : 0;
		p = mempcpy(item_number_at(p, n), c->desc ? c->desc->name : "", n);
	}
	return p;
}

static int64_t inside_number(struct item_reader *r, int64_t nr)
{
	char name[INSIDE_MOST];
	size_t n;
	const char *text = item_get_text(r, &n);
	if (n >= sizeof(name))
		return nr;
	memcpy(name, text, n);
	name[n] = '\0';
	int64_t inside = syscall_inside(name, nr);
	return inside < 0 ? nr : inside;
}

void item_get_call(struct item_reader *r, struct item_calls *calls, struct event *ev)
{
	int64_t nr = item_get_signed(r);
	uint64_t mask = item_get(r);
	nr = nr < 0 || nr > UINT32_MAX ? -1 : nr;
	struct call *slot = slot_of(calls, nr);
	uint64_t arch = slot->arch;
	for (uint64_t left = mask & MASK_DIFFERENCES; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		*(i < 6 ? &slot->args[i] : members(slot, &arch, i - 6)) += (uint64_t)item_get_signed(r);
	}
	slot->arch = (uint32_t)arch;
	ev->call = *slot;
	ev->launch = mask & MASK_LAUNCH;
	ev->call.foreign = mask & MASK_FOREIGN;
	ev->call.restart = mask & MASK_RESTART;
	ev->call.error = mask & MASK_ERROR;
	ev->call.injected = mask & MASK_INJECTED;
	ev->call.delayed = mask & MASK_DELAYED;
	ev->call.wait = !(mask & MASK_JUDGED) ? WAIT_UNKNOWN : mask & MASK_WAITED ? WAIT_YES : WAIT_NO;
	ev->call.err = mask & MASK_ERRNO ? (int)item_get_signed(r) : 0;
	if (mask & MASK_INSIDE)
		ev->call.nr = inside_number(r, nr);
	ev->call.desc = syscall_lookup(ev->call.arch, ev->call.nr);
}

/* Returns the index of the capture from before the call that is equal to `k`, or -1. */
static int same_as(const struct captured *k, const unsigned char *bytes, const struct captured_list *entry)
{
	const unsigned char *others;
	struct captured c;
	size_t at = entry ? entry->from : 0;
	for (int i = 0; entry && i < 64 && (others = captured_next(entry, &at, &c));) {
		if (c.before != 1)
			continue;
		if (c.addr == k->addr && c.len == k->len && memcmp(bytes, others, c.len) == 0)
			return i;
		i++;
	}
	return -1;
}

/* Returns the index of the closest argument at most 4095 bytes below `addr`, or BASE_ABSOLUTE. */
static unsigned base_of(const struct call *c, uint64_t addr)
{
	unsigned best = BASE_ABSOLUTE;
	uint64_t least = 4096;
	for (unsigned i = 0; i < 6; i++)
		if (addr - c->args[i] < least) {
			least = addr - c->args[i];
			best = i;
		}
	return best;
}

static void put_capture(struct buf *out, const struct call *c, const struct captured *k, const unsigned char *bytes)
{
	unsigned base = base_of(c, k->addr);
	item_put(out, (k->addr - (base < 6 ? c->args[base] : 0)) << 3 | base);
	if (base == BASE_ABSOLUTE)
		item_put(out, k->addr >> 61);
	item_put_text(out, (const char *)bytes, k->len);
}

void item_put_captures(struct buf *out, const struct call *c, const struct captured_list *captures, bool before,
		       const struct captured_list *entry)
{
	const unsigned char *bytes;
	struct captured k;
	uint64_t n = 0;
	for (size_t at = captures->from; captured_next(captures, &at, &k);)
		n += k.before == before;
	item_put(out, n);
	for (size_t at = captures->from; (bytes = captured_next(captures, &at, &k));) {
		if (k.before != before)
			continue;
		int same = same_as(&k, bytes, entry);
		if (same >= 0)
			item_put(out, (uint64_t)same << 3 | BASE_SAME);
		else
			put_capture(out, c, &k, bytes);
	}
}

void item_get_captures(struct item_reader *r, const struct call *c, struct buf *list, bool before)
{
	uint64_t n = item_get(r);
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		uint64_t head = item_get(r), addr = head >> 3;
		unsigned base = head & 7;
		/* What was captured before the call, and is the same after it, need not be there twice. */
		if (base == BASE_SAME && !before)
			continue;
		if (base == BASE_ABSOLUTE)
			addr |= item_get(r) << 61;
		size_t len;
		const char *bytes = item_get_text(r, &len);
		r->bad = r->bad || base == BASE_SAME;
		if (!r->bad && len && list->len < RECORDING_CAPTURES && len < RECORDING_CAPTURES)
			captured_add(list, addr + (base < 6 ? c->args[base] : 0), bytes, len, before);
	}
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
