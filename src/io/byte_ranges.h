/* A set of byte offsets, stored as disjoint ranges in ascending order. */
#ifndef SCTRACE_IO_BYTE_RANGES_H
#define SCTRACE_IO_BYTE_RANGES_H

#include "base/memory.h"

#include <stdint.h>

/* The maximum number of ranges in a set, which limits the memory for a file with accesses at random offsets. */
#define RANGES_MAX 8192

struct range {
	uint64_t from, to; /* `to` is the first offset after the range */
};

/* A zeroed struct is an empty set. Free it with vec_free(). */
struct ranges {
	struct range *v;
	size_t n, cap;
};

/* Returns how many of the offsets from `from` to `to` - 1 the set contains. */
uint64_t ranges_common(const struct ranges *r, uint64_t from, uint64_t to);
/* Adds the offsets from `from` to `to` - 1. Does nothing if there would be more than RANGES_MAX ranges. */
void ranges_add(struct ranges *r, uint64_t from, uint64_t to);
/* Removes the offsets from `from` to `to` - 1. */
void ranges_remove(struct ranges *r, uint64_t from, uint64_t to);

#endif
