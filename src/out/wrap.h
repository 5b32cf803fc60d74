/* Sentences as lines of text. */
#ifndef SCTRACE_OUT_WRAP_H
#define SCTRACE_OUT_WRAP_H

#include <stddef.h>

struct buf;

/* One line, broken at blanks to stay within `width` (0: whole); what follows is indented like `prefix`. */
void wrap_line(struct buf *out, const char *prefix, const char *line, size_t len, size_t width);
/* The lines of `text`, each behind `prefix`. */
void wrap_lines(struct buf *out, const char *prefix, const char *text, size_t width);

#endif
