/* Making foreign text harmless: no control byte, no escape sequence and no bad UTF-8 of a traced program is printed
 * raw. */
#ifndef SCTRACE_BASE_ESCAPE_H
#define SCTRACE_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * Length in bytes of the valid, printable UTF-8 character at `s` (at most `n` bytes), or 0: a control character (C0,
 * DEL, C1), a bidirectional override, or bytes that are no UTF-8 (RFC 3629: no overlong forms, no surrogates).
 */
size_t escape_utf8_len(const char *s, size_t n);

/* Appends `s` for a message: printable UTF-8 as it is, newlines and all else as C escapes (\n, \x1b). No quotes. */
void escape_line(struct buf *out, const char *s, size_t n);

/* The same for whole text: newlines and tabs stay. */
void escape_text(struct buf *out, const char *s, size_t n);

/* Appends `s` as the inside of a C string as strace writes it: \n \t \" \\, octal for the rest, hex where `hex`. */
void escape_c(struct buf *out, const char *s, size_t n, bool hex);

/* The same for what stands between < and >: a > of its own is escaped, so that nothing ends it early. */
void escape_angled(struct buf *out, const char *s, size_t n, bool hex);

/*
 * Appends JSON text whose strings hold such characters raw, as JSON allows all but C0: they become \u escapes, which mean
 * the same to who reads it.
 */
void escape_json(struct buf *out, const char *text);

#endif
