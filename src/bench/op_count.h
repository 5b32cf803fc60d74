/* Which operations really enter the kernel: our own tracer counts the calls of a child that runs each of them. */
#ifndef SCTRACE_BENCH_OP_COUNT_H
#define SCTRACE_BENCH_OP_COUNT_H

#include "bench/syscall.h"

/*
 * Sets `kernel` of all `n` results: calls of the process (all its threads; not its children) per operation. `self` is
 * this program, which understands OP_COUNT_WORD; files go to `dir`. An operation that could not be set up stays NAN.
 * 0, or -errno and `why`; -EINTR when stop_signal() came.
 */
int op_count_kernel(struct op_result *results, size_t n, const char *self, const char *dir, struct buf *why);

/*
 * `sctrace bench OP_COUNT_WORD DIR NAME TIMES [NAME TIMES...]` runs the operations, each between two close() calls of
 * descriptors that cannot be: INT_MIN + 2i before and INT_MIN + 2i + 1 after, which the tracer knows again.
 */
#define OP_COUNT_WORD "__count"
/* That program's work; argv[0] is DIR. 0 or -errno. */
int op_count_run(int argc, char *const *argv);

#endif
