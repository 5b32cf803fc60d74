/* Breaks sentences into lines. */
#ifndef SCTRACE_OUT_WRAP_H
#define SCTRACE_OUT_WRAP_H

#include <stddef.h>

struct buf;

/*
 * Appends one line, broken at blanks to stay within `width` (0: not broken). Continuation lines are indented like
 * `prefix`.
 */
void wrap_line(struct buf *out, const char *prefix, const char *line, size_t len, size_t width);
/* Appends the lines of `text`, each after `prefix`. */
void wrap_lines(struct buf *out, const char *prefix, const char *text, size_t width);

#endif
