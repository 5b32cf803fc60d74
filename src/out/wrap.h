/* Breaks sentences into lines. */
#ifndef SCTRACE_OUT_WRAP_H
#define SCTRACE_OUT_WRAP_H

#include <stddef.h>

struct buf;

/*
 * Appends each line of `text` after `prefix`, broken at blanks so that lines have at most `width` columns (0: not
 * broken). The parts of a line after a break are indented by the length of `prefix`.
 */
void wrap_lines(struct buf *out, const char *prefix, const char *text, size_t width);

#endif
