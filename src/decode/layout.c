/* SPDX-License-Identifier: MIT */
#include "decode/layout.h"

#include "base/buf.h"
#include "tracee/names.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

/* Only this number of bytes of a structure is read. */
#define STRUCT_MOST 512

const struct layout *layout_for(const struct decode *d, const struct layout *l)
{
	return decode_word(d) == 8 ? l : l->narrow;
}

static uint64_t number_at(const char *bytes, size_t size)
{
	uint64_t v = 0;
	uint32_t v4;
	uint16_t v2;
	if (size == 1)
		return (uint8_t)*bytes;
	if (size == 2) {
		memcpy(&v2, bytes, sizeof(v2));
		return v2;
	}
	if (size == 4) {
		memcpy(&v4, bytes, sizeof(v4));
		return v4;
	}
	memcpy(&v, bytes, sizeof(v));
	return v;
}

void layout_emit(const struct decode *d, const struct layout *l, uint64_t addr, uint64_t size)
{
	layout_emit_there(d, l, addr, size, NULL);
}

void layout_emit_there(const struct decode *d, const struct layout *l, uint64_t addr, uint64_t size,
		       const struct layout_choice *c)
{
	char bytes[STRUCT_MOST];
	size_t want = size < l->size ? (size_t)size : l->size;
	bool more = size > l->size, brief = !d->opts->verbose;
	if (want > sizeof(bytes))
		want = sizeof(bytes);
	if (!decode_need(d, addr, bytes, want))
		return;
	uint64_t key = c && c->offset + c->size <= want ? number_at(bytes + c->offset, c->size) : 0;
	emit_open(d->out, '{');
	for (size_t i = 0; i < l->n; i++) {
		const struct member *m = &l->members[i];
		bool hidden = brief && m->flags & VERBOSE;
		if ((hidden && more) || m->offset + m->size > want || m->offset >= want || (c && !c->there(m, key)))
			continue;
		if (hidden) {
			more = true;
			continue;
		}
		uint64_t v = m->size ? number_at(bytes + m->offset, m->size) : addr + m->offset;
		if (m->flags & NONZERO && !v)
			continue;
		emit_field(d->out, m->name);
		show_kind(d, m->kind, v, -1);
	}
	if (more)
		emit_more(d->out);
	emit_close(d->out, '}');
}

void show_struct(const struct decode *d, const struct value *x)
{
	const struct layout *l = layout_for(d, x->about);
	if (l)
		layout_emit(d, l, x->v, l->size);
	else
		emit_ptr(d->out, x->v);
}

/* Reads the structure that decode_enter() has saved. `ctx` is a struct decode_memo. It is read only from its start. */
static ssize_t read_kept(void *ctx, uint64_t addr, void *buf, size_t n)
{
	const struct decode_memo *memo = ctx;
	(void)addr;
	n = n < memo->bytes ? n : memo->bytes;
	memcpy(buf, memo->structure, n);
	return (ssize_t)n;
}

void show_kept_struct(const struct decode *d, const struct value *x)
{
	struct mem kept = {.read = read_kept, .ctx = d->memo};
	struct decode before = *d;
	if (x->arg >= 0 && d->leaving && d->memo && d->memo->bytes)
		before.mem = &kept;
	show_struct(&before, x);
}

void show_struct_sized(const struct decode *d, const struct value *x)
{
	const struct layout *l = layout_for(d, x->about);
	if (l)
		layout_emit(d, l, x->v, d->call->args[x->arg + 1]);
	else
		emit_ptr(d->out, x->v);
}

void show_struct_own_size(const struct decode *d, const struct value *x)
{
	const struct layout *l = layout_for(d, x->about);
	uint32_t size;
	if (l && decode_get(d, x->v, &size, sizeof(size)))
		layout_emit(d, l, x->v, size < sizeof(size) ? sizeof(size) : size);
	else
		emit_ptr(d->out, x->v);
}

static void element(const struct decode *d, uint64_t addr, void *ctx)
{
	const struct layout *l = ctx;
	layout_emit(d, l, addr, l->size);
}

void layout_emit_array(const struct decode *d, const struct layout *l, uint64_t addr, uint64_t n)
{
	const struct layout *here = layout_for(d, l);
	if (here)
		decode_array(d, addr, n, here->size, element, (void *)(uintptr_t)here);
	else
		emit_ptr(d->out, addr);
}

void show_structs(const struct decode *d, const struct value *x)
{
	layout_emit_array(d, x->about, x->v, (uint32_t)d->call->args[x->arg + 1]);
}

/*
 * Numbers of special kinds, of which many are members of structures. Also says under which conditions some calls have certain
 * arguments.
 */

/* Shows a hexadecimal number with leading zeros up to the whole word, as sets of nodes are usually written. */
void show_hex16(const struct decode *d, const struct value *x)
{
	char text[24];
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)x->v);
	emit_sym(d->out, text, x->v);
}

static void network_order(const struct decode *d, const char *function, uint64_t v)
{
	emit_wrap(d->out, function);
	emit_unum(d->out, v);
	emit_wrap(d->out, ")");
}

void show_be16(const struct decode *d, const struct value *x)
{
	network_order(d, "htons(", ntohs((uint16_t)x->v));
}

void show_be32(const struct decode *d, const struct value *x)
{
	network_order(d, "htonl(", ntohl((uint32_t)x->v));
}

void show_be64(const struct decode *d, const struct value *x)
{
	network_order(d, "htobe64(", be64toh(x->v));
}

void show_ethertype(const struct decode *d, const struct value *x)
{
	emit_wrap(d->out, "htons(");
	flags_emit_choice(d->out, &flags_ethertype, ntohs((uint16_t)x->v));
	emit_wrap(d->out, ")");
}

/* Shows an interface index and its current name. The name may have changed since the program looked up the index. */
void show_ifindex(const struct decode *d, const struct value *x)
{
	auto_buf name = {0};
	uint32_t index = (uint32_t)x->v;
	const struct names *n = d->opts->names;
	bool known = index && n && n->interface && n->interface(n->ctx, d->pid, index, &name);
	if (known)
		emit_index(d->out, index, buf_str(&name));
	else
		emit_num(d->out, (int32_t)index);
}

/*
 * Shows a device number in the kernel's internal form. It has 20 bits for the minor number (linux/kdev_t.h); programs
 * see another form.
 */
void show_kernel_dev(const struct decode *d, const struct value *x)
{
	char text[48];
	snprintf(text, sizeof(text), "makedev(%#x, %#x)", (unsigned)(x->v >> 20), (unsigned)(x->v & 0xfffff));
	emit_sym(d->out, text, x->v);
}

void show_bit_numbers(const struct decode *d, const struct value *x)
{
	const struct bit_numbers *bits = x->about;
	auto_buf text = {0};
	uint64_t left = x->v;
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = x->v >> bit & 1 ? flags_find(bits->names, bit + bits->first) : NULL;
		if (!name)
			continue;
		left &= ~(UINT64_C(1) << bit);
		buf_addf(&text, bits->first ? "%s1<<(%s-%u)" : "%s1<<%s", text.len ? "|" : "", name, bits->first);
	}
	if (left || !text.len)
		buf_addf(&text, left ? "%s0x%llx" : "%s%llx", text.len ? "|" : "", (unsigned long long)left);
	emit_sym(d->out, buf_str(&text), x->v);
}

void show_low_bit(const struct decode *d, const struct value *x)
{
	emit_num(d->out, (int64_t)(x->v & 1));
}

void show_short(const struct decode *d, const struct value *x)
{
	emit_num(d->out, (int16_t)x->v);
}

void show_choice16(const struct decode *d, const struct value *x)
{
	flags_emit_choice(d->out, x->about, x->arg < 0 ? (uint16_t)x->v : (uint32_t)x->v);
}

void show_errno(const struct decode *d, const struct value *x)
{
	emit_name(d->out, decode_errno_name((int)x->v), (int32_t)x->v);
}

/* Shows a number, or a negative errno such as -ENOENT. */
void show_negative_errno(const struct decode *d, const struct value *x)
{
	int32_t n = (int32_t)x->v;
	const char *name = n < 0 && n > -4096 ? decode_errno_name(-n) : NULL;
	char text[40];
	if (!name) {
		emit_num(d->out, n);
		return;
	}
	snprintf(text, sizeof(text), "-%s", name);
	emit_sym(d->out, text, (uint32_t)n);
}

void show_numbers(const struct decode *d, const struct value *x)
{
	const struct numbers *about = x->about;
	uint64_t n = about->n == NUMBERS_RESULT ? decode_returned(d)
		     : about->n == NUMBERS_ARG2 ? d->call->args[1]
						: about->n;
	decode_numbers(d, x->v, n, about->size ? about->size : decode_word(d), about->kind);
}

/* A 64-bit argument of an i386 program takes two arguments. The lower half comes first, except in _llseek(2). */
static void show_halves(const struct decode *d, uint64_t low, uint64_t high)
{
	emit_num(d->out, (int64_t)((high & UINT32_MAX) << 32 | (low & UINT32_MAX)));
}

void show_off_low(const struct decode *d, const struct value *x)
{
	show_halves(d, x->v, d->call->args[x->arg + 1]);
}

void show_off_swapped(const struct decode *d, const struct value *x)
{
	show_halves(d, d->call->args[x->arg + 1], x->v);
}

/* Only 32-bit programs use the upper half of the offset of preadv(2). */
enum when when_off_high(const struct decode *d, int i)
{
	(void)i;
	return decode_word(d) == 4 ? WHEN_ENTERING : WHEN_NEVER;
}

/* mremap(2) uses its fifth argument only with MREMAP_FIXED (2) or MREMAP_DONTUNMAP (4). */
enum when when_mremap_addr(const struct decode *d, int i)
{
	return d->call->args[i - 1] & 6 ? WHEN_ENTERING : WHEN_NEVER;
}
