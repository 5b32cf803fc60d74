/* A fixed set of system calls of all kinds, whose elapsed time `bench load` compares. */
#ifndef SCTRACE_BENCH_SUITE_H
#define SCTRACE_BENCH_SUITE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct op;

/* `sctrace bench SUITE_WORD DIR TIMES WITHOUT` runs the suite TIMES times. */
#define SUITE_WORD "__suite"
/*
 * Finds the operations of bench syscall that cannot run here. Appends their names, separated by commas, to `without`,
 * and an explanation for the user to `why`.
 */
void suite_find_missing(const char *dir, struct buf *without, struct buf *why);
/* True if the operation is in the list. */
bool suite_is_without(const char *without, const struct op *op);
/*
 * Runs that command: each operation, except those in `without`, a fixed number of times. Returns 0, or -errno and in
 * `why` which operation failed or could not run.
 */
int suite_run(const char *dir, uint64_t times, const char *without, struct buf *why);

#endif
