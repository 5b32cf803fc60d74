/* The first failure of sctrace itself, kept until the end of a trace. */
#ifndef SCTRACE_TRACE_FAIL_H
#define SCTRACE_TRACE_FAIL_H

#include "base/buf.h"

/* Zero-initialised: nothing failed. `why` is to be freed. */
struct trace_failure {
	int err; /* -errno, or 0 */
	struct buf why;
};

/* Keeps the first failure: `err` is -errno, the rest a sentence for the user as of printf(3). Later ones are dropped. */
void trace_fail(struct trace_failure *f, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
