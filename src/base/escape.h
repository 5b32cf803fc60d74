/*
 * Makes text from traced programs safe to print: it contains no control bytes, escape sequences or invalid UTF-8
 * afterwards.
 */
#ifndef SCTRACE_BASE_ESCAPE_H
#define SCTRACE_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * Length in bytes of the valid, printable UTF-8 character at `s` (at most `n` bytes). Returns 0 for a control character
 * (C0, DEL, C1), a bidirectional override, or bytes that are not UTF-8 (RFC 3629: overlong forms and surrogates are
 * invalid).
 */
size_t escape_utf8_len(const char *s, size_t n);

/*
 * Appends `s` for a message: printable UTF-8 unchanged, and everything else, newlines included, as C escapes (\n,
 * \x1b). Adds no quotes.
 */
void escape_line(struct buf *out, const char *s, size_t n);

/* The same for text of several lines: newlines and tabs are kept. */
void escape_text(struct buf *out, const char *s, size_t n);

/*
 * Appends `s` as the inside of a C string in strace's style: \n \t \" \\, and octal escapes for other bytes, or
 * hexadecimal ones if `hex`.
 */
void escape_c(struct buf *out, const char *s, size_t n, bool hex);

/* The same for text between < and >. It escapes > as well, so that the text cannot end early. */
void escape_angled(struct buf *out, const char *s, size_t n, bool hex);

/*
 * Appends JSON text. JSON allows raw control characters beyond C0 in strings; this function writes them as \u escapes,
 * which have the same meaning.
 */
void escape_json(struct buf *out, const char *text);

#endif
