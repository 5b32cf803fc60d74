/* Loads to measure under: each works until it is ended, counts its work, and ends for certain. */
#ifndef SCTRACE_BENCH_LOADS_H
#define SCTRACE_BENCH_LOADS_H

#include "bench/kid.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

#define LOAD_PARTS 8   /* the most loads at once: "suite+disk" has two */
#define LOAD_KIDS  256 /* the most processes of one load */

/* What a load's process works with; lies in memory shared with us. */
struct load_board {
	_Atomic uint64_t work; /* in the kind's unit, added up by all its processes */
	char why[160];         /* what went wrong, when one gave up */
};

struct load_kind {
	const char *name;
	const char *about;
	const char *unit;                                   /* of its work: "MiB", "packets" */
	int per_cpu;                                        /* a process for each CPU, else one */
	void (*run)(struct load_board *b, const char *dir); /* for ever; returns only when it cannot */
};

/* Row `i`, NULL behind the last. */
const struct load_kind *load_kind_at(size_t i);

/* One load at work, or the lack of one ("none" has no parts). */
struct load {
	const char *name; /* as the user wrote it: "suite+disk"; the caller's */
	const struct load_kind *kind[LOAD_PARTS];
	struct load_board *board[LOAD_PARTS];
	size_t parts;
	pid_t kids[LOAD_KIDS];
	size_t nkids;
	/* What was done while it was measured, from load_mark() to load_stop(), and in what time; added up over all runs. */
	uint64_t start_work[LOAD_PARTS], work[LOAD_PARTS];
	uint64_t mark_ns, span_ns;
};

/* Reads "none", "disk", "suite+disk". 0, or -EINVAL and `why`. */
int load_parse(struct load *l, const char *name, struct buf *why);
/*
 * Starts it, files going to `dir`, and waits until every part has done some work. 0, or -errno and `why`: then nothing is
 * left running. Each process is in a group of its own, known to the guard.
 */
int load_start(struct load *l, const char *dir, struct kid_guard *guard, struct buf *why);
/* The measurement begins: work counts from here. */
void load_mark(struct load *l);
/*
 * Notes the work done and ends all processes. 0, or -EIO and `why`: a part gave up or did nothing, so what was measured
 * was not measured under it.
 */
int load_stop(struct load *l, struct kid_guard *guard, struct buf *why);
/* Appends the work since the mark: "disk 512 MiB, suite 12345 operations"; nothing for "none". */
void load_work(const struct load *l, struct buf *out);

#endif
