/* What calls cost: so much for each call, and so much for each page that a request touches. */
#ifndef SCTRACE_IO_COST_H
#define SCTRACE_IO_COST_H

#include "stats/hist.h"

#include <stdbool.h>

#define IO_PAGE         4096 /* bytes; a larger page of the machine makes no difference here */
#define IO_COST_CLASSES 24

/* Calls of one sort. Zero-initialised is empty; free with io_tally_free(). */
struct io_tally {
	double n, ns;
	struct hist took; /* ns of each */
};

/* Requests by the number of pages that they touch and the request before them did not: 0, 1, 2 to 3, 4 to 7, ... */
struct io_cost {
	struct io_cost_class {
		double pages, bytes;
		struct io_tally calls;
	} classes[IO_COST_CLASSES];
};

/* A line through the costs: ns = call_ns + pages * page_ns. */
struct io_fit {
	bool known;
	double call_ns, page_ns;
};

/* Adds a call that took `ns` nanoseconds. */
void io_tally_add(struct io_tally *t, double ns);
void io_tally_free(struct io_tally *t);
/*
 * The nanoseconds of one call: the mean without calls that took more than 16 times the median, because those were interrupted or waited.
 * 0 if there are no calls.
 */
double io_tally_each(const struct io_tally *t);

/* Adds a request that moved `bytes`, touched `pages` further pages and took `ns` nanoseconds. */
void io_cost_add(struct io_cost *c, double pages, double bytes, double ns);
/* Adds all requests of `from`. */
void io_cost_merge(struct io_cost *c, const struct io_cost *from);
void io_cost_free(struct io_cost *c);
/*
 * Fits the line by least squares over the classes, weighted so that all errors count relative to the cost. Unknown unless two classes with
 * eight requests each differ by a factor of eight, or one of them touched no pages, because requests of one size do not show how a cost
 * divides.
 */
struct io_fit io_cost_fit(const struct io_cost *c);
/* The class of requests that touched no further page, or NULL if there are fewer than eight. */
const struct io_cost_class *io_cost_light(const struct io_cost *c);

#endif
