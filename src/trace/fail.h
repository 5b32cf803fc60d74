/* The first failure of sctrace itself, kept until the end of the trace. */
#ifndef SCTRACE_TRACE_FAIL_H
#define SCTRACE_TRACE_FAIL_H

#include "base/buf.h"

/* Zeros mean that nothing has failed. The owner frees `why`. */
struct trace_failure {
	int err; /* -errno, or 0 */
	struct buf why;
};

/*
 * Keeps the first failure: `err` is -errno, and the rest a sentence for the user in the form of printf(3). Drops later
 * ones.
 */
void trace_fail(struct trace_failure *f, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
