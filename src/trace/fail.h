/* The first failure of sctrace itself, kept until the end of the trace. */
#ifndef SCTRACE_TRACE_FAIL_H
#define SCTRACE_TRACE_FAIL_H

#include "base/buf.h"

/* Zeros mean that nothing has failed yet. The owner frees `why`. */
struct trace_failure {
	int err; /* -errno, or 0 */
	struct buf why;
};

/* Records the first failure; ignores later ones. `err` is -errno; `fmt` and the rest are a sentence for the user. */
void trace_fail(struct trace_failure *f, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
