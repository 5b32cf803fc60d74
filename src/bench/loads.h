/* SPDX-License-Identifier: MIT */
/*
 * Background loads for measurements, and `bench load`, which measures what they cost. A load counts its work, and works
 * until it is stopped or sctrace exits.
 */
#ifndef SCTRACE_BENCH_LOADS_H
#define SCTRACE_BENCH_LOADS_H

#include "base/memory.h"
#include "bench/kid.h"
#include "bench/stop.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct run;

#define LOAD_PARTS 8   /* the largest number of parts of a load: "suite+disk" has two */
#define LOAD_KIDS  256 /* the largest number of processes in one load */

/* The state of a load, in memory that its processes share with sctrace. */
struct load_board {
	_Atomic uint64_t work; /* units of work done by all processes of the load */
	char why[160];         /* why a process gave up; empty if none did */
};

struct load_kind {
	const char *name;
	const char *about;
	const char *unit;                                   /* what the work is counted in: "MiB", "packets" */
	int per_cpu;                                        /* true: one process for each CPU; false: one process */
	void (*run)(struct load_board *b, const char *dir); /* runs for ever; returns only if it cannot continue */
};

/* Returns row `i` of the table of loads, or NULL after the last row. */
const struct load_kind *load_kind_at(size_t i);

/* The load that runs during a measurement. It consists of one or more parts. The load "none" has no parts. */
struct load {
	const char *name; /* what the user typed: "suite+disk"; belongs to the caller */
	const struct load_kind *kind[LOAD_PARTS];
	struct load_board *board[LOAD_PARTS];
	size_t parts;
	pid_t kids[LOAD_KIDS];
	size_t nkids;
	/*
	 * load_start() sets start_work and mark_ns. load_stop() adds the work and the time (in ns) since then to work
	 * and span_ns.
	 */
	uint64_t start_work[LOAD_PARTS], work[LOAD_PARTS];
	uint64_t mark_ns, span_ns;
};

/* The names of all loads, for shell completion. */
#define LOAD_WORDS "none cpu disk net fork memory suite"
#define LOADS_MAX  32

/* The loads under which a test measures. */
struct load_list {
	struct load v[LOADS_MAX];
	char names[LOADS_MAX][64];
	size_t n;
};

/*
 * Parses a list such as "none,net,suite+disk". Returns 0, or -EINVAL with the reason in `why`: a name is wrong or
 * occurs twice, or there are more than LOADS_MAX.
 */
int load_list_parse(struct load_list *l, const char *text, struct buf *why);
/* Appends the names of all loads and what each does, one in each line. */
void load_describe(struct buf *out);
/* Parses a name such as "none", "disk" or "suite+disk". Returns 0, or -EINVAL with the reason in `why`. */
int load_parse(struct load *l, const char *name, struct buf *why);
/*
 * Starts the processes of the load, with their files in `dir`, and waits until each part has done some work. Then
 * begins to count the work for load_stop(). Each process is in a process group of its own, which is registered with
 * `guard`. Returns 0, or -errno with the reason in `why`; after an error no process is left.
 */
int load_start(struct load *l, const char *dir, struct kid_guard *guard, struct buf *why);
/*
 * Stops counting the work, and ends all processes of the load. Returns 0. Returns -EIO with the reason in `why` if a
 * part gave up or did no work: in that case, the measurement was not made under this load.
 */
int load_stop(struct load *l, struct kid_guard *guard, struct buf *why);
/*
 * Like load_start(). Instead of the reason, adds a note to `run` that nothing was measured under this load, unless a
 * signal asked sctrace to stop (-EINTR).
 */
int load_begin(struct load *l, const char *dir, struct kid_guard *guard, struct run *run);
/*
 * Like load_stop(). If a part of the load gave up or did no work, adds a note to `run`, which may be NULL. The note is
 * the same for each run of the load, so it is added once.
 */
void load_end(struct load *l, struct kid_guard *guard, struct run *run);

/* A fixed sequence of system calls of all kinds. `bench load` compares its duration with and without a load. */

/* `sctrace bench SUITE_WORD DIR TIMES WITHOUT` is the internal command that runs the suite TIMES times. */
#define SUITE_WORD "__suite"
/*
 * Finds the operations of `bench syscall` that cannot run on this machine. Appends their names, separated by commas, to
 * `without`. Appends an explanation for the user to `why`.
 */
void suite_find_missing(const char *dir, struct buf *without, struct buf *why);
/*
 * Executes the command SUITE_WORD: runs each operation that is not in `without` a fixed number of times. Returns 0, or
 * -errno; `why` then says which operation failed or cannot run.
 */
int suite_run(const char *dir, uint64_t times, const char *without, struct buf *why);

/* `bench load` measures how much slower the suite or a command runs under loads. */
struct slowdown_plan {
	char *const *command; /* command line; NULL: the suite */
	const char *self;     /* path of sctrace, which is run with SUITE_WORD */
	const char *without;  /* operations that the suite omits (suite_find_missing()) */
	const char *dir;      /* directory for files */
	uint64_t time_ns;     /* the suite is repeated until it takes about this time without a load; 0: it runs once */
	int runs;             /* number of runs under each load */
	uint64_t seed;        /* seed of the random order of the loads, which is different in each round */
	const int *cpus;      /* the CPUs of the suite or the command; NULL: all */
	size_t ncpus;
	bool show_output, ignore_failure; /* options of the command */
	struct progress progress;
};

/* What was measured under one load. */
struct slowdown_row {
	struct load *load;
	VEC(double) wall, user, system; /* seconds, one value for each run */
};

/*
 * Measures under the load of each of the `n` rows, in rounds, after a run that warms up the caches. Sets *times to the
 * number of repetitions of the suite in one run. Adds notes about loads that did not run to `run`. Returns 0, or -errno
 * with the reason in `why` if it concerns the suite or the command: -ENOENT or -EACCES if the command cannot be run,
 * -ECANCELED if it failed, -ERANGE if plan->time_ns is too short. If stop_signal() is set, keeps the results so far and
 * returns -EINTR or 0.
 */
int slowdown_measure(const struct slowdown_plan *plan, struct slowdown_row *rows, size_t n, uint64_t *times,
		     struct run *run, struct buf *why);
void slowdown_rows_free(struct slowdown_row *rows, size_t n);

#endif
