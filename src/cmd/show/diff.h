/* Implements `sctrace show --diff`: the differences between two recordings. */
#ifndef SCTRACE_CMD_SHOW_DIFF_H
#define SCTRACE_CMD_SHOW_DIFF_H

#include "cmd/trace/opts.h"

/*
 * Compares two recordings, whose files are `paths`. Prints the differences to o->output or standard output. Returns an
 * exit status like diff(1): 0 if there are no differences, 1 if there are some, 2 after a message about an error.
 */
int show_diff(const struct trace_opts *o, char *const *paths);

#endif
