/* SPDX-License-Identifier: MIT */
/* Shows numbers of special kinds. Also says under which conditions some calls have certain arguments. */
#include "decode/kinds.h"

#include "base/buf.h"
#include "tracee/names.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>

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
