/* SPDX-License-Identifier: MIT */
/* Escapes text from traced programs, so that no control bytes, escape sequences or invalid UTF-8 are printed. */
#ifndef SCTRACE_BASE_ESCAPE_H
#define SCTRACE_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * Returns the length in bytes of the UTF-8 character at `s`, where `n` bytes can be read. Returns 0 if the character
 * must not be printed as it is: a control character (C0, DEL, C1), a bidirectional override, or bytes that are not
 * valid UTF-8 (RFC 3629 excludes overlong forms and surrogates).
 */
size_t escape_utf8_len(const char *s, size_t n);

/* Returns the number of bytes at the start of `s` that are printable ASCII characters, but neither " nor \. */
size_t escape_plain_len(const char *s, size_t n);

/* Appends `s` for a one-line message: printable UTF-8 as it is, everything else as a C escape (\n, \x1b). */
void escape_line(struct buf *out, const char *s, size_t n);

/*
 * Appends `s` as it would stand between the quotes of a C string, in strace's style: \n \t \" \\, and octal escapes for
 * other bytes. If `hex` is true, every byte becomes a hexadecimal escape.
 */
void escape_c(struct buf *out, const char *s, size_t n, bool hex);

/* Like escape_c(), for text between < and >. Also escapes >, so that the text cannot contain its own end. */
void escape_angled(struct buf *out, const char *s, size_t n, bool hex);

/* Appends a word of a shell command. It is in quotes unless all its characters are plain. */
void escape_shell(struct buf *out, const char *word, size_t n);

/* Appends text for a quoted field of CSV (RFC 4180): each quote in the text is doubled. */
void escape_csv_quoted(struct buf *out, const char *s, size_t n);
/*
 * Appends text as a field of CSV, in quotes only if it needs them. Text that a spreadsheet would take for a formula is
 * escaped, because the traced program may have chosen the text.
 */
void escape_csv(struct buf *out, const char *s);

/* Appends the JSON document `text`, with \u escapes for C1 control characters and DEL, which JSON allows unescaped. */
void escape_json(struct buf *out, const char *text);

#endif
