/* The options of `sctrace show`: its own, and those of the tracer. */
#ifndef SCTRACE_CMD_SHOW_SHOW_OPTIONS_H
#define SCTRACE_CMD_SHOW_SHOW_OPTIONS_H

#include "cmd/trace/opts.h"

/* Fills in `c` with at most `max` rows: its own options, and all of the tracer, even if check() rejects them. */
void show_all_options(struct opt_command *c, struct opt *rows, size_t max);
/* Checks that the options suit a recording and each other. Returns 0, or -EINVAL with the reason in `why`. */
int show_check(struct trace_opts *o, struct buf *why);

#endif
