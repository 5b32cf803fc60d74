/* `sctrace show --diff`: what two recordings differ in. */
#ifndef SCTRACE_CMD_SHOW_DIFF_H
#define SCTRACE_CMD_SHOW_DIFF_H

#include "cmd/trace/opts.h"

/*
 * Compares the recordings in two files, and prints the differences to o->output or standard output. The exit status is as of diff(1):
 * 0 none, 1 some, 2 after a message.
 */
int show_diff(const struct trace_opts *o, char *const *paths);

#endif
