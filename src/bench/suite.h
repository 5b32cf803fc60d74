/* A fixed amount of system calls of all sorts, whose elapsed time `bench load` compares. */
#ifndef SCTRACE_BENCH_SUITE_H
#define SCTRACE_BENCH_SUITE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct op;

/* `sctrace bench SUITE_WORD DIR TIMES WITHOUT` runs the suite so many times. */
#define SUITE_WORD "__suite"
/*
 * Which operations of bench syscall cannot run here: their names, comma-separated, are appended to `without`, and with what is
 * missing to `why`, to be told.
 */
void suite_find_missing(const char *dir, struct buf *without, struct buf *why);
/* Is it one of the names? */
bool suite_is_without(const char *without, const struct op *op);
/*
 * That program's work: every operation but those it is `without` a fixed number of times; 0, or -errno and in `why` which went wrong
 * or could not run.
 */
int suite_run(const char *dir, uint64_t times, const char *without, struct buf *why);

#endif
