/* Measures here what a trace does not show, for the estimates of savings. Used only within src/io. */
#ifndef SCTRACE_IO_PROBE_H
#define SCTRACE_IO_PROBE_H

#include "io/cost.h"

#include <stddef.h>

/*
 * Returns the time in ns that a call costs the program outside of the kernel. Most of it is the time to return from the
 * function of the C library (48 ns on an EPYC whose bare call takes 115 ns), presumably because the processor predicts
 * the first return after a call wrongly. The result is the difference of two loops of getppid(2), with and without this
 * function.
 */
double io_probe_return_ns(void);

/*
 * Returns the part (0 to 1) of the time of writes that is saved if the same bytes are appended to a file by writes of
 * `large` bytes instead of those in `small`, whose sizes alternate. It depends on the file system, so the writes are made
 * here, in the folder that contains `file`, to a file without a name (O_TMPFILE, open(2)). It has at most 2 MiB, is
 * truncated before it would reach the disk, and the kernel deletes it when it is closed. Returns NAN if the measurement
 * fails or takes longer than 0.1 s. Also returns NAN if `small_ns`, the mean time of the traced program's small writes,
 * is much longer than the time measured here: the program's writes then did something that this measurement does not
 * repeat.
 */
double io_probe_joined(const char *file, const struct io_cost *small, double small_ns, size_t large);

#endif
