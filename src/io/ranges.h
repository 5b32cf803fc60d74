/* A set of byte offsets, kept as disjoint ranges in ascending order. */
#ifndef SCTRACE_IO_RANGES_H
#define SCTRACE_IO_RANGES_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* A set with more ranges than this does not grow any more, so a file that is accessed at random costs bounded memory. */
#define RANGES_MAX 8192

struct range {
	uint64_t from, to; /* `to` is the first offset after the range */
};

/* Zero-initialised is empty; free with vec_free(). */
struct ranges {
	struct range *v;
	size_t n, cap;
};

/* True if all offsets from `from` up to, but without, `to` are in the set. `from` < `to`. */
bool ranges_contain(const struct ranges *r, uint64_t from, uint64_t to);
/* Adds the offsets. Drops them if they would need one range more than RANGES_MAX, or if memory ran out. */
void ranges_add(struct ranges *r, uint64_t from, uint64_t to);
/* Removes the offsets. */
void ranges_remove(struct ranges *r, uint64_t from, uint64_t to);

#endif
