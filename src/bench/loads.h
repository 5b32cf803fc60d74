/* Background loads for measurements. Each load works until it is ended, counts its work, and always ends. */
#ifndef SCTRACE_BENCH_LOADS_H
#define SCTRACE_BENCH_LOADS_H

#include "bench/kid.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

#define LOAD_PARTS 8   /* the largest number of loads at once: "suite+disk" has two */
#define LOAD_KIDS  256 /* the largest number of processes in one load */

/* State of a load's processes, in memory shared with sctrace. */
struct load_board {
	_Atomic uint64_t work; /* in the unit of the load, summed over all its processes */
	char why[160];         /* the reason, if a process gave up */
};

struct load_kind {
	const char *name;
	const char *about;
	const char *unit;                                   /* unit of its work: "MiB", "packets" */
	int per_cpu;                                        /* one process for each CPU, otherwise one in total */
	void (*run)(struct load_board *b, const char *dir); /* works for ever; returns only if it cannot continue */
};

/* Row `i`, or NULL after the last. */
const struct load_kind *load_kind_at(size_t i);

/* One running load, or none ("none" has no parts). */
struct load {
	const char *name; /* as the user typed it: "suite+disk"; owned by the caller */
	const struct load_kind *kind[LOAD_PARTS];
	struct load_board *board[LOAD_PARTS];
	size_t parts;
	pid_t kids[LOAD_KIDS];
	size_t nkids;
	/* The work between load_mark() and load_stop(), and the time between them, summed over all runs. */
	uint64_t start_work[LOAD_PARTS], work[LOAD_PARTS];
	uint64_t mark_ns, span_ns;
};

/* Parses "none", "disk", "suite+disk". Returns 0, or -EINVAL with the reason in `why`. */
int load_parse(struct load *l, const char *name, struct buf *why);
/*
 * Starts the load, with its files in `dir`, and waits until each part has done some work. Returns 0, or -errno with the
 * reason in `why` and no process left. Each process has a group of its own, which the guard knows.
 */
int load_start(struct load *l, const char *dir, struct kid_guard *guard, struct buf *why);
/* The measurement begins: starts to count the work. */
void load_mark(struct load *l);
/*
 * Notes the work and ends all processes. Returns 0, or -EIO with the reason in `why` if a part gave up or did nothing,
 * because then the measurement was not made under this load.
 */
int load_stop(struct load *l, struct kid_guard *guard, struct buf *why);
/* Appends the work since the mark: "disk 512 MiB, suite 12345 operations". Appends nothing for "none". */
void load_work(const struct load *l, struct buf *out);

#endif
