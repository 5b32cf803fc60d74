/* A growable text buffer; the one way the program builds strings. */
#ifndef SCTRACE_BASE_BUF_H
#define SCTRACE_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Zero-initialise (`struct buf b = {0};`) or buf_init(); free with buf_free().
 * `s` is always NUL-terminated once anything was added; use buf_str() where nothing may have been.
 * When memory runs out, `failed` is set, later additions are dropped, and what was there stays intact.
 */
struct buf {
	char *s;
	size_t len;
	size_t cap;
	bool failed;
};

void buf_init(struct buf *b);
void buf_free(struct buf *b);
/* Forgets the contents and keeps the memory. */
void buf_clear(struct buf *b);
/* Cuts the text to `len` bytes; longer than the text is no change. */
void buf_truncate(struct buf *b, size_t len);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_addc(struct buf *b, char c);
void buf_adds(struct buf *b, const char *s);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_addv(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Appends `n` times `c`. */
void buf_fill(struct buf *b, char c, size_t n);
/*
 * Appends `text` and a newline, from column `col` on. A line is broken before the word that would pass column `width`, and goes on
 * at column `indent`, as it does after a newline in `text`. Spaces between words become one.
 */
void buf_add_wrapped(struct buf *b, const char *text, int col, int indent, int width);
/* The text, never NULL; owned by the buffer, valid until its next change. */
const char *buf_str(const struct buf *b);
/* Hands the text over (malloc'ed, NULL when memory ran out) and leaves the buffer empty. */
char *buf_take(struct buf *b);

#endif
