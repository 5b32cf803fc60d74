/* A growable text buffer. The whole program builds its strings with it. */
#ifndef SCTRACE_BASE_BUF_H
#define SCTRACE_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Initialise with zeros (`struct buf b = {0};`) or with buf_init(); free with buf_free(). `s` ends with a NUL as soon
 * as anything was added. Use buf_str() if the buffer may be empty. When memory runs out, `failed` is set, later
 * additions are dropped, and the earlier text stays intact.
 */
struct buf {
	char *s;
	size_t len;
	size_t cap;
	bool failed;
};

void buf_init(struct buf *b);
void buf_free(struct buf *b);
/* Deletes the contents and keeps the memory. */
void buf_clear(struct buf *b);
/* Cuts the text to `len` bytes. Does nothing if the text is shorter. */
void buf_truncate(struct buf *b, size_t len);
void buf_add(struct buf *b, const void *data, size_t len);
static inline void buf_addc(struct buf *b, char c)
{
	if (b->cap - b->len < 2 || b->failed) {
		buf_add(b, &c, 1);
		return;
	}
	b->s[b->len++] = c;
	b->s[b->len] = '\0';
}
/* Inline, because the length of a literal is then known at compile time. */
static inline void buf_adds(struct buf *b, const char *s)
{
	size_t n = strlen(s);
	if (b->cap - b->len <= n || b->failed) {
		buf_add(b, s, n);
		return;
	}
	memcpy(b->s + b->len, s, n);
	b->len += n;
	b->s[b->len] = '\0';
}
/* Numbers, for what is written for each event: printf(3) takes ten times as long. At least `digits` digits, zeros first. */
void buf_add_decimal(struct buf *b, uint64_t v, unsigned digits);
void buf_add_signed(struct buf *b, int64_t v);
/* Base 8 or 16, `bits` being 3 or 4; without a prefix. */
void buf_add_bits(struct buf *b, uint64_t v, unsigned bits, unsigned digits);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_addv(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Appends `n` times `c`. */
void buf_fill(struct buf *b, char c, size_t n);
/*
 * Appends `text` and a newline, starting at column `col`. Breaks the line before a word that would pass column `width`,
 * and continues at column `indent`; also after a newline in `text`. Several spaces between words become one.
 */
void buf_add_wrapped(struct buf *b, const char *text, int col, int indent, int width);
/* The text, never NULL; owned by the buffer, valid until its next change. */
const char *buf_str(const struct buf *b);
/*
 * Returns the text (malloc'ed, or NULL if memory ran out), which the caller then owns. The buffer is empty afterwards.
 */
char *buf_take(struct buf *b);

#endif
