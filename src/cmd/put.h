/* Writes the result of a command. */
#ifndef SCTRACE_CMD_PUT_H
#define SCTRACE_CMD_PUT_H

#include "cli/opt.h"

/* Writes `text` to the file `path`, or to standard output if `path` is NULL. Returns 0, or EXIT_OWN after a message. */
int put_text(const char *path, const struct buf *text);

/* Prints each line of `text` as an error that begins with `prefix`. */
void put_errors(const char *prefix, const struct buf *text);

/*
 * Prints the first line of `text` as an error with `prefix`, and the others, such as one that shows the wrong word,
 * below it.
 */
void put_usage_error(const char *prefix, const char *text);

/*
 * Does what the result of opt_parse() asks for: writes the help text of `c` or "sctrace 1.2.3" to standard output, or
 * prints `why` as put_usage_error() does, with a reference to the help text if `why` has one line. Returns the exit
 * status, which is 0 for OPT_OK. The help text is wrapped to the width of the terminal, or to that in the environment
 * variable COLUMNS, or to 80 columns.
 */
int put_outcome(const struct opt_command *c, enum opt_outcome outcome, const char *prefix, const struct buf *why);

#endif
