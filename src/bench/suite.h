/* A fixed sequence of system calls of all kinds. `bench load` compares its duration with and without a load. */
#ifndef SCTRACE_BENCH_SUITE_H
#define SCTRACE_BENCH_SUITE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct op;

/* `sctrace bench SUITE_WORD DIR TIMES WITHOUT` is the internal command that runs the suite TIMES times. */
#define SUITE_WORD "__suite"
/*
 * Finds the operations of `bench syscall` that cannot run on this machine. Appends their names, separated by commas, to
 * `without`. Appends an explanation for the user to `why`.
 */
void suite_find_missing(const char *dir, struct buf *without, struct buf *why);
/* Returns true if the list `without` contains the name of `op`. */
bool suite_is_without(const char *without, const struct op *op);
/*
 * Executes the command SUITE_WORD: runs each operation that is not in `without` a fixed number of times. Returns 0, or
 * -errno; `why` then says which operation failed or cannot run.
 */
int suite_run(const char *dir, uint64_t times, const char *without, struct buf *why);

#endif
