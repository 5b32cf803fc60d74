/* The first failure of sctrace itself, kept until the end of the trace. */
#ifndef SCTRACE_TRACE_FAIL_H
#define SCTRACE_TRACE_FAIL_H

#include "base/buf.h"

/* Zeros mean that nothing has failed yet. The owner frees `why`. */
struct trace_failure {
	int err; /* -errno, or 0 */
	struct buf why;
};

/*
 * Records a failure if it is the first one; ignores later ones. `err` is -errno. `fmt` and the following arguments are
 * a sentence for the user, as for printf(3).
 */
void trace_fail(struct trace_failure *f, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
