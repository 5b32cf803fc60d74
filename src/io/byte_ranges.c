#include "io/byte_ranges.h"

#include <string.h>

/* Returns the index of the first range that ends at `offset` or later. */
static size_t first_from(const struct ranges *r, uint64_t offset)
{
	size_t low = 0;
	size_t high = r->n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (r->v[middle].to >= offset)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint64_t ranges_common(const struct ranges *r, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;
	for (size_t i = first_from(r, from); i < r->n && r->v[i].from < to; i++) {
		uint64_t low = r->v[i].from > from ? r->v[i].from : from;
		uint64_t high = r->v[i].to < to ? r->v[i].to : to;
		sum += high - low;
	}
	return sum;
}

/* Replaces the ranges with the indices `i` to `end` - 1 by the `n` ranges (0 to 2) of `by`. */
static void replace(struct ranges *r, size_t i, size_t end, const struct range *by, size_t n)
{
	size_t size = r->n - (end - i) + n;
	while (r->cap < size)
		vec_reserve((void **)&r->v, r->cap, &r->cap, sizeof(*r->v));
	if (r->n > end)
		memmove(&r->v[i + n], &r->v[end], (r->n - end) * sizeof(*r->v));
	if (n)
		memcpy(&r->v[i], by, n * sizeof(*by));
	r->n = size;
}

void ranges_add(struct ranges *r, uint64_t from, uint64_t to)
{
	struct range all = {from, to};
	size_t i = first_from(r, from);
	size_t end = i;
	for (; end < r->n && r->v[end].from <= to; end++) {
		all.from = r->v[end].from < all.from ? r->v[end].from : all.from;
		all.to = r->v[end].to > all.to ? r->v[end].to : all.to;
	}
	if (end > i || r->n < RANGES_MAX)
		replace(r, i, end, &all, 1);
}

void ranges_remove(struct ranges *r, uint64_t from, uint64_t to)
{
	struct range left[2];
	size_t n = 0;
	size_t i = first_from(r, from + 1);
	size_t end = i;
	while (end < r->n && r->v[end].from < to)
		end++;
	if (end == i)
		return;
	if (r->v[i].from < from)
		left[n++] = (struct range){r->v[i].from, from};
	if (r->v[end - 1].to > to)
		left[n++] = (struct range){to, r->v[end - 1].to};
	replace(r, i, end, left, n);
}
