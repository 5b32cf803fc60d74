/* A fixed amount of system calls of all sorts, whose elapsed time `bench load` compares. */
#ifndef SCTRACE_BENCH_SUITE_H
#define SCTRACE_BENCH_SUITE_H

#include <stdint.h>

struct buf;

/* `sctrace bench SUITE_WORD DIR TIMES` runs the suite so many times. */
#define SUITE_WORD "__suite"
/* That program's work: every operation of bench syscall a fixed number of times; 0, or -EIO and in `why` which went wrong. */
int suite_run(const char *dir, uint64_t times, struct buf *why);

#endif
