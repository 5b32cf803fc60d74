/* SPDX-License-Identifier: MIT */
#include "decode/layout.h"

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
