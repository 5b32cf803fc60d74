/* The options of `sctrace show`, most of which are options of the tracer. */
#ifndef SCTRACE_CMD_SHOW_OPTIONS_H
#define SCTRACE_CMD_SHOW_OPTIONS_H

#include "cmd/trace/opts.h"

/*
 * Writes at most `max` rows: all options of the tracer, and those that only `show` has. Some options of the tracer have
 * no meaning for a recording; show_check() rejects these.
 */
void show_all_options(struct opt_command *c, struct opt *rows, size_t max);
/* Checks that the options suit a recording and each other. Returns 0, or -EINVAL with the reason in `why`. */
int show_check(struct trace_opts *o, struct buf *why);

#endif
