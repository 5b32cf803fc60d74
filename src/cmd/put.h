/* Where a command's result goes. */
#ifndef SCTRACE_CMD_PUT_H
#define SCTRACE_CMD_PUT_H

struct buf;

/* Writes `text` to the file `path`, or to standard output where that is NULL; 0, or EXIT_OWN after a message. */
int put_text(const char *path, const struct buf *text);

/* "sctrace 1.2.3" on standard output: what put_text() returns. */
int put_version(void);

#endif
