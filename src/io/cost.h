/* What requests cost: so much for each call, and so much for each byte. */
#ifndef SCTRACE_IO_COST_H
#define SCTRACE_IO_COST_H

#include <stdbool.h>

#define IO_COST_CLASSES 34

/* Requests by the size of what they moved: 0 bytes, 1, 2 to 3, 4 to 7, ... Zero-initialised is empty. */
struct io_cost {
	struct io_cost_class {
		double n, bytes, ns;
	} classes[IO_COST_CLASSES];
};

/* A line through the costs: ns = call_ns + bytes * byte_ns. */
struct io_fit {
	bool known;
	double call_ns, byte_ns;
};

/* Adds a request that moved `bytes` and took `ns` nanoseconds. */
void io_cost_add(struct io_cost *c, double bytes, double ns);
/* Adds all requests of `from`. */
void io_cost_merge(struct io_cost *c, const struct io_cost *from);
/*
 * Fits the line by least squares over the means of the classes, weighted so that all errors count relative to the cost. Unknown unless two classes with
 * eight requests each differ by a factor of eight in size, because requests of one size do not show how a cost divides.
 */
struct io_fit io_cost_fit(const struct io_cost *c);

#endif
