/* Where a command's result goes. */
#ifndef SCTRACE_CMD_PUT_H
#define SCTRACE_CMD_PUT_H

#include <stddef.h>

struct buf;

/* Writes `text` to the file `path`, or to standard output where that is NULL; 0, or EXIT_OWN after a message. */
int put_text(const char *path, const struct buf *text);

/* "sctrace 1.2.3" on standard output: what put_text() returns. */
int put_version(void);

/* One line, broken at blanks to stay within `width` (0: whole); what follows is indented like `prefix`. */
void put_wrapped(struct buf *out, const char *prefix, const char *line, size_t len, size_t width);
/* The lines of `text`, each behind `prefix`. */
void put_lines(struct buf *out, const char *prefix, const char *text, size_t width);

#endif
