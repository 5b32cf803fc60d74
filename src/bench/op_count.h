/* Determines which operations really enter the kernel: our own tracer counts the calls of a child that runs them. */
#ifndef SCTRACE_BENCH_OP_COUNT_H
#define SCTRACE_BENCH_OP_COUNT_H

#include "bench/syscall.h"

/*
 * Sets `kernel` of all `n` results: calls of the process (all threads, without children) per operation. `self` is this
 * program, which understands OP_COUNT_WORD; files go to `dir`. An operation that could not be set up stays NAN. Returns
 * 0, or -errno with the reason in `why`; -EINTR if stop_signal() is set.
 */
int op_count_kernel(struct op_result *results, size_t n, const char *self, const char *dir, struct buf *why);

/*
 * `sctrace bench OP_COUNT_WORD DIR NAME TIMES [NAME TIMES...]` runs the operations. Before and after each, it calls
 * close() with a descriptor that cannot exist, INT_MIN + 2i and INT_MIN + 2i + 1, by which the tracer recognises the
 * operation.
 */
#define OP_COUNT_WORD "__count"
/* Runs that command; argv[0] is DIR. Returns 0 or -errno. */
int op_count_run(int argc, char *const *argv);

#endif
