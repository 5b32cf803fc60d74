/* Which of the tracer's options `sctrace show` has. */
#ifndef SCTRACE_CMD_SHOW_OPTIONS_H
#define SCTRACE_CMD_SHOW_OPTIONS_H

#include "cmd/trace/opts.h"

/* All options of the tracer, and those of `show`: what is of no use is refused by show_check(), with a reason. At most `max` rows. */
void show_all_options(struct opt_command *c, struct opt *rows, size_t max);
/* Looks for what cannot be done with a recording, and for what does not go together: 0, or -EINVAL and `why`. */
int show_check(struct trace_opts *o, struct buf *why);

#endif
