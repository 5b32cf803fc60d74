/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void buf_free(struct buf *b)
{
	free(b->s);
	*b = (struct buf){0};
}

void buf_truncate(struct buf *b, size_t len)
{
	if (len >= b->len)
		return;
	b->len = len;
	b->s[len] = '\0';
}

void buf_grow(struct buf *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 64;
	while (cap <= b->len + more)
		cap *= 2;
	b->s = memory_resize(b->s, cap);
	b->cap = cap;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (!len)
		return;
	char *to = buf_room(b, len);
	memcpy(to, data, len);
	buf_end_at(b, to + len);
}

/* Returns how many decimal digits `v` has. */
static unsigned decimal_digits(uint64_t v)
{
	static const uint64_t powers[] = {
		UINT64_C(0),
		UINT64_C(10),
		UINT64_C(100),
		UINT64_C(1000),
		UINT64_C(10000),
		UINT64_C(100000),
		UINT64_C(1000000),
		UINT64_C(10000000),
		UINT64_C(100000000),
		UINT64_C(1000000000),
		UINT64_C(10000000000),
		UINT64_C(100000000000),
		UINT64_C(1000000000000),
		UINT64_C(10000000000000),
		UINT64_C(100000000000000),
		UINT64_C(1000000000000000),
		UINT64_C(10000000000000000),
		UINT64_C(100000000000000000),
		UINT64_C(1000000000000000000),
		UINT64_C(10000000000000000000),
	};
	/* 1233 / 4096 is the logarithm of 2 to the base 10. */
	unsigned least = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12;
	return least + (v >= powers[least]);
}

/*
 * The digits are written directly to their final place. A copy of a temporary buffer would be slow: a load of many bytes
 * must wait until the processor has finished the stores of the single bytes.
 */
void buf_add_decimal(struct buf *b, uint64_t v, unsigned digits)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	unsigned n = decimal_digits(v);
	n = n > digits ? n : digits;
	char *to = buf_room(b, n), *p = to + n;
	for (; v >= 100; v /= 100)
		p = memcpy(p - 2, pairs + 2 * (v % 100), 2);
	if (v >= 10)
		p = memcpy(p - 2, pairs + 2 * v, 2);
	else
		*--p = (char)('0' + v);
	while (p > to)
		*--p = '0';
	buf_end_at(b, to + n);
}

void buf_add_signed(struct buf *b, int64_t v)
{
	if (v < 0)
		buf_addc(b, '-');
	buf_add_decimal(b, v < 0 ? -(uint64_t)v : (uint64_t)v, 1);
}

void buf_add_bits(struct buf *b, uint64_t v, unsigned bits, unsigned digits)
{
	unsigned n = 1;
	for (uint64_t rest = v >> bits; rest; rest >>= bits)
		n++;
	n = n > digits ? n : digits;
	char *to = buf_room(b, n);
	for (char *p = to + n; p > to; v >>= bits)
		*--p = "0123456789abcdef"[v & ((1u << bits) - 1)];
	buf_end_at(b, to + n);
}

void buf_addv(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	char small[128];
	int n = vsnprintf(small, sizeof(small), fmt, ap);
	if (n < 0) /* formatting fails only for lack of memory */
		memory_exhausted();
	if ((size_t)n < sizeof(small))
		buf_add(b, small, (size_t)n);
	else {
		(void)buf_room(b, (size_t)n);
		vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_addv(b, fmt, ap);
	va_end(ap);
}

void buf_fill(struct buf *b, char c, size_t n)
{
	char *to = buf_room(b, n);
	memset(to, c, n);
	buf_end_at(b, to + n);
}

const char *buf_str(const struct buf *b)
{
	return b->s ? b->s : "";
}

char *buf_take(struct buf *b)
{
	char *s = b->s ? b->s : memory_zeroed(1, 1);
	*b = (struct buf){0};
	return s;
}

void buf_add_wrapped(struct buf *b, const char *text, int col, int indent, int width)
{
	bool begins = true; /* true at the start of each line */
	while (*text) {
		text += strspn(text, " ");
		int len = (int)strcspn(text, " \n");
		if (!begins && col + 1 + len > width) {
			buf_addc(b, '\n');
			buf_fill(b, ' ', (size_t)indent);
			col = indent;
			begins = true;
		}
		if (!begins) {
			buf_addc(b, ' ');
			col++;
		}
		buf_add(b, text, (size_t)len);
		col += len;
		text += len;
		begins = *text == '\n';
		if (!begins)
			continue;
		text++;
		buf_addc(b, '\n');
		buf_fill(b, ' ', *text ? (size_t)indent : 0);
		col = indent;
	}
	buf_addc(b, '\n');
}
