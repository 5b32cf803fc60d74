/* Breaks sentences into lines. */
#ifndef SCTRACE_OUT_WRAP_H
#define SCTRACE_OUT_WRAP_H

#include <stddef.h>

struct buf;

/*
 * Appends each line of `text`, broken at blanks so that lines have at most `width` columns (0: not broken). Each line
 * begins with `prefix`, and the lines after a break are indented by the length of `prefix`.
 */
void wrap_lines(struct buf *out, const char *prefix, const char *text, size_t width);

#endif
