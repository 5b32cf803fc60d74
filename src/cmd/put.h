/* Writes the result of a command. */
#ifndef SCTRACE_CMD_PUT_H
#define SCTRACE_CMD_PUT_H

struct buf;

/* Writes `text` to the file `path`, or to standard output if `path` is NULL. Returns 0, or EXIT_OWN after a message. */
int put_text(const char *path, const struct buf *text);

/* Prints each line of `text` as an error that begins with `prefix`. */
void put_errors(const char *prefix, const struct buf *text);

/* Writes "sctrace 1.2.3" to standard output. Returns 0, or EXIT_OWN after a message. */
int put_version(void);

#endif
