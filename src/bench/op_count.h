/* Determines how many system calls each operation really makes: sctrace traces a child that runs the operations. */
#ifndef SCTRACE_BENCH_OP_COUNT_H
#define SCTRACE_BENCH_OP_COUNT_H

#include "bench/syscall.h"

/*
 * Sets the member `kernel` of the `n` results: the number of system calls that all threads of the process (but not its
 * children) make for each execution of the operation. `self` is the path of sctrace, which is run with OP_COUNT_WORD;
 * files are created in `dir`. `kernel` stays NAN for an operation that cannot be set up. Returns 0; -EINTR if
 * stop_signal() is set; or another -errno with the reason in `why`.
 */
int op_count_kernel(struct op_result *results, size_t n, const char *self, const char *dir, struct buf *why);

/*
 * Returns how often the operation is executed while its calls are counted. An operation that takes less than `fast_ns`,
 * and so makes less than one call, is executed more often.
 */
uint64_t op_count_times(const struct op_result *r, double fast_ns);

/*
 * `sctrace bench OP_COUNT_WORD DIR NAME TIMES [NAME TIMES...]` is the internal command that runs the operations. To
 * mark where operation i begins and ends, the command calls close() with the numbers INT_MIN + 2i and INT_MIN + 2i + 1,
 * which cannot be descriptors. The tracer recognises these two calls.
 */
#define OP_COUNT_WORD "__count"
/* Executes the command OP_COUNT_WORD. argv[0] is DIR. Returns 0 or -errno. */
int op_count_run(int argc, char *const *argv);

#endif
