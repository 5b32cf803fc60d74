/* SPDX-License-Identifier: MIT */
/* Measures here what a trace does not show, for the estimates of savings. Used only within src/io. */
#ifndef SCTRACE_IO_PROBE_H
#define SCTRACE_IO_PROBE_H

#include "stats/hist.h"

#include <stdbool.h>
#include <stddef.h>

/* What calls cost. A request costs a constant part, and a part for each page that it touches. */

#define IO_PAGE         4096 /* bytes; the result is the same on machines with larger pages */
#define IO_COST_CLASSES 24

/* The number of calls of one kind and their times. A zeroed struct is empty. Free it with io_tally_free(). */
struct io_tally {
	double n, ns;
	double spread_ns; /* sum of the uncertainties of the times, from subtracting the tracing cost */
	/* The calls that are known to have waited (enum call_wait). Their times say nothing about the cost of a call. */
	double waits, waited_ns;
	struct hist took; /* how many of the other calls took how many ns */
};

/* Requests in classes, by how many pages they touch that the previous one did not: 0, 1, 2 to 3, 4 to 7, and so on. */
struct io_cost {
	struct io_cost_class {
		double pages, bytes;
		struct io_tally calls;
	} classes[IO_COST_CLASSES];
};

/* A linear function for the cost of a request: ns = call_ns + pages * page_ns. Valid if `known`. */
struct io_fit {
	bool known;
	double call_ns, page_ns;
};

/* Adds a call that took `ns` nanoseconds. `spread_ns`: see struct io_tally. */
void io_tally_add(struct io_tally *t, double ns, double spread_ns);
/* Does the same for a call of which it is known whether it waited. */
void io_tally_add_judged(struct io_tally *t, double ns, double spread_ns, bool waited);
void io_tally_free(struct io_tally *t);
/* Returns the mean time of all calls in ns, or 0 if there are no calls. */
double io_tally_mean(const struct io_tally *t);
/*
 * Returns the mean time of a call in ns, or 0 if there are no calls. Calls that waited are left out, unless all did.
 * Calls that took more than 16 times the median are left out as well, because such calls were probably interrupted or
 * had to wait.
 */
double io_tally_each(const struct io_tally *t);
/* The calls that io_tally_each() leaves out: their number, and by how many ns they took longer than the others. */
struct io_delays {
	double n, ns;
};
struct io_delays io_tally_delays(const struct io_tally *t);

/* Adds a request that moved `bytes` in `ns` ns, and touched `pages` pages that the previous one did not touch. */
void io_cost_add(struct io_cost *c, double pages, double bytes, double ns, double spread_ns);
/* Adds all requests of `from` to `c`. */
void io_cost_merge(struct io_cost *c, const struct io_cost *from);
void io_cost_free(struct io_cost *c);
/*
 * Computes the function by least squares from the means of the classes. Relative errors have the same weight in all
 * classes. The result is unknown if the sizes of the requests are too similar to separate the two parts of the cost.
 * They differ enough if two classes have at least eight requests each, and if either their numbers of pages differ by a
 * factor of eight or one of the two classes touched no new page.
 */
struct io_fit io_cost_fit(const struct io_cost *c);
/* Returns the class of requests that touched no new page, or NULL if it has fewer than eight requests. */
const struct io_cost_class *io_cost_light(const struct io_cost *c);

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
