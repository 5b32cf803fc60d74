#include "recording/items.h"

#include "base/memory.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RECENT 8 /* a new capture is compared with this many previous ones */

void captures_free(struct captures *c)
{
	vec_free(&c->list);
	buf_free(&c->bytes);
}

void captures_clear(struct captures *c)
{
	c->list.n = c->last = 0;
	buf_clear(&c->bytes);
}

void captures_add(struct captures *c, uint64_t addr, const void *bytes, size_t n)
{
	if (!n || n > RECORDING_CAPTURES - c->bytes.len)
		return;
	for (size_t i = c->list.n; i > 0 && i + RECENT > c->list.n; i--) {
		const struct capture *k = &c->list.v[i - 1];
		if (addr - k->addr < k->len && k->len - (addr - k->addr) >= n)
			return;
	}
	struct capture k = {.addr = addr, .at = c->bytes.len, .len = (uint32_t)n};
	buf_add(&c->bytes, bytes, n);
	vec_push(&c->list, k);
}

/* Returns a capture that contains `addr`, or NULL, and sets *most to the length from `addr` to its end. */
static const struct capture *find(struct captures *c, uint64_t addr, size_t *most)
{
	for (size_t n = 0, i = c->last; n < c->list.n; n++, i = i + 1 < c->list.n ? i + 1 : 0) {
		const struct capture *k = &c->list.v[i];
		if (addr - k->addr < k->len) {
			*most = (size_t)(k->len - (addr - k->addr));
			c->last = i;
			return k;
		}
	}
	return NULL;
}

/* Returns the distance from `addr` to the next capture behind it. */
static size_t next_after(const struct captures *c, uint64_t addr)
{
	uint64_t next = SIZE_MAX;
	for (size_t i = 0; i < c->list.n; i++)
		if (c->list.v[i].addr > addr && c->list.v[i].addr - addr < next)
			next = c->list.v[i].addr - addr;
	return (size_t)next;
}

/* Memory that was captured in parts is also read at once. */
static ssize_t read_kept(void *view, uint64_t addr, void *buf, size_t n)
{
	const struct captures_view *v = view;
	size_t done = 0, most;
	while (done < n) {
		const struct captures *in = v->of;
		const struct capture *found = find(v->of, addr + done, &most);
		if (!found && v->other && (found = find(v->other, addr + done, &most))) {
			size_t next = next_after(v->of, addr + done);
			in = v->other;
			most = most < next ? most : next;
		}
		if (!found)
			break;
		most = most < n - done ? most : n - done;
		memcpy((char *)buf + done, in->bytes.s + found->at + (addr + done - found->addr), most);
		done += most;
	}
	return done ? (ssize_t)done : -EFAULT;
}

struct mem captures_memory(struct captures_view *view)
{
	return (struct mem){.read = read_kept, .ctx = view};
}

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

/* Returns the index in `entry` of a capture that is equal to `k`, or -1. */
static int same_as(const struct captures *captures, const struct capture *k, const struct captures *entry)
{
	for (size_t i = 0; entry && i < entry->list.n && i < 64; i++) {
		const struct capture *e = &entry->list.v[i];
		if (e->addr == k->addr && e->len == k->len &&
		    memcmp(entry->bytes.s + e->at, captures->bytes.s + k->at, k->len) == 0)
			return (int)i;
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

void item_put_captures(struct buf *out, const struct call *c, const struct captures *captures,
		       const struct captures *entry)
{
	item_put(out, captures->list.n);
	for (size_t i = 0; i < captures->list.n; i++) {
		const struct capture *k = &captures->list.v[i];
		int same = same_as(captures, k, entry);
		unsigned base = base_of(c, k->addr);
		if (same >= 0) {
			item_put(out, (uint64_t)same << 3 | BASE_SAME);
			continue;
		}
		item_put(out, (k->addr - (base < 6 ? c->args[base] : 0)) << 3 | base);
		if (base == BASE_ABSOLUTE)
			item_put(out, k->addr >> 61);
		item_put_text(out, captures->bytes.s + k->at, k->len);
	}
}

void item_get_captures(struct item_reader *r, const struct call *c, struct captures *captures,
		       const struct captures *entry)
{
	uint64_t n = item_get(r);
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		uint64_t head = item_get(r), addr = head >> 3;
		unsigned base = head & 7;
		if (base == BASE_SAME && addr < entry->list.n) {
			const struct capture *e = &entry->list.v[addr];
			captures_add(captures, e->addr, entry->bytes.s + e->at, e->len);
			continue;
		}
		if (base == BASE_ABSOLUTE)
			addr |= item_get(r) << 61;
		size_t len;
		const char *bytes = item_get_text(r, &len);
		r->bad = r->bad || base == BASE_SAME;
		if (!r->bad)
			captures_add(captures, addr + (base < 6 ? c->args[base] : 0), bytes, len);
	}
}
