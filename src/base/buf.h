/* SPDX-License-Identifier: MIT */
/* A growable text buffer. The whole program builds its strings with it. */
#ifndef SCTRACE_BASE_BUF_H
#define SCTRACE_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Initialise with zeros (`struct buf b = {0};`), and free with buf_free() (or auto_buf). `s` is NULL until something is added, and ends
 * with a NUL afterwards: use buf_str() if the buffer may be empty.
 */
struct buf {
	char *s;
	size_t len;
	size_t cap;
};

void buf_free(struct buf *b);
/* Declares local buffers that are freed at the end of their block: `auto_buf why = {0};`. */
#define auto_buf __attribute__((cleanup(buf_free))) struct buf
/* Deletes the contents, but does not free the memory. */
static inline void buf_clear(struct buf *b)
{
	if (b->len)
		b->s[b->len = 0] = '\0';
}
/* Cuts the text to `len` bytes. Does nothing if the text is shorter. */
void buf_truncate(struct buf *b, size_t len);
void buf_add(struct buf *b, const void *data, size_t len);
/*
 * Returns the address of the end of the text. `more` bytes may be stored there. Afterwards, buf_end_at() must be called
 * with the address after the last stored byte. buf_grow() is a part of buf_room().
 */
void buf_grow(struct buf *b, size_t more);
static inline char *buf_room(struct buf *b, size_t more)
{
	if (more >= b->cap - b->len)
		buf_grow(b, more);
	return b->s + b->len;
}
static inline void buf_end_at(struct buf *b, char *end)
{
	b->len = (size_t)(end - b->s);
	*end = '\0';
}
static inline void buf_addc(struct buf *b, char c)
{
	if (b->cap - b->len < 2) {
		buf_add(b, &c, 1);
		return;
	}
	b->s[b->len++] = c;
	b->s[b->len] = '\0';
}
/* This function is inline so that the compiler knows the length if `s` is a literal. */
static inline void buf_adds(struct buf *b, const char *s)
{
	size_t n = strlen(s);
	if (b->cap - b->len <= n) {
		buf_add(b, s, n);
		return;
	}
	memcpy(b->s + b->len, s, n);
	b->len += n;
	b->s[b->len] = '\0';
}
/* Appends `v` in decimal, with at least `digits` digits: for each event, because printf(3) takes ten times as long. */
void buf_add_decimal(struct buf *b, uint64_t v, unsigned digits);
void buf_add_signed(struct buf *b, int64_t v);
/* Appends `v` in octal (`bits` is 3) or hexadecimal (4), without a prefix and with at least `digits` digits. */
void buf_add_bits(struct buf *b, uint64_t v, unsigned bits, unsigned digits);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_addv(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Appends the character `c`, `n` times. */
void buf_fill(struct buf *b, char c, size_t n);
/*
 * Appends `text` and a newline. The text starts at column `col` and is wrapped at column `width`. Lines after a wrap,
 * or after a newline in `text`, start at column `indent`. Several spaces between words become one.
 */
void buf_add_wrapped(struct buf *b, const char *text, int col, int indent, int width);
/* Returns the text, or "" if there is none. It belongs to the buffer and is valid until the buffer changes. */
const char *buf_str(const struct buf *b);
/* Returns the text, which the caller must free. The buffer is empty afterwards. */
char *buf_take(struct buf *b);

#endif
