/* Breaks sentences into lines. */
#ifndef SCTRACE_OUT_WRAP_H
#define SCTRACE_OUT_WRAP_H

#include <stddef.h>

struct buf;

/*
 * Appends the `len` bytes at `line`, broken at blanks so that lines have at most `width` columns (0: not broken). The
 * first line begins with `prefix`, and the others are indented by the length of `prefix`.
 */
void wrap_line(struct buf *out, const char *prefix, const char *line, size_t len, size_t width);
/* Appends each line of `text` by wrap_line(), with `prefix` before it. */
void wrap_lines(struct buf *out, const char *prefix, const char *text, size_t width);

#endif
