/* SPDX-License-Identifier: MIT */
#include "stats/hist.h"

#include "base/memory.h"
#include "stats/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUB (1u << HIST_SUB_BITS)

uint32_t hist_bucket(uint64_t value)
{
	if (value < 2 * SUB)
		return (uint32_t)value;
	uint32_t shift = 63 - (uint32_t)__builtin_clzll(value) - HIST_SUB_BITS;
	return (shift << HIST_SUB_BITS) + (uint32_t)(value >> shift);
}

uint64_t hist_bucket_low(uint32_t bucket)
{
	if (bucket < 2 * SUB)
		return bucket;
	uint32_t shift = (bucket >> HIST_SUB_BITS) - 1;
	return (uint64_t)(bucket - (shift << HIST_SUB_BITS)) << shift;
}

void hist_free(struct hist *h)
{
	free(h->count);
	*h = (struct hist){0};
}

/* Extends the allocated range to include `bucket`, and some neighbours in advance. */
static void cover(struct hist *h, uint32_t bucket)
{
	if (h->n && bucket >= h->first && bucket - h->first < h->n)
		return;
	uint32_t first = h->n && h->first < bucket ? h->first : bucket & ~(SUB / 2 - 1);
	uint32_t end = h->n && h->first + h->n > bucket ? h->first + h->n : (bucket | (SUB / 2 - 1)) + 1;
	uint64_t *count = memory_zeroed(end - first, sizeof(*count));
	if (h->n)
		memcpy(count + (h->first - first), h->count, h->n * sizeof(*count));
	free(h->count);
	h->count = count;
	h->first = first;
	h->n = end - first;
}

void hist_add(struct hist *h, uint64_t value, uint64_t count)
{
	uint32_t bucket = hist_bucket(value);
	if (!count)
		return;
	cover(h, bucket);
	h->count[bucket - h->first] += count;
	h->total += count;
}

void hist_merge(struct hist *h, const struct hist *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		hist_add(h, hist_bucket_low(from->first + i), from->count[i]);
}

double hist_quantile(const struct hist *h, double q)
{
	if (!h->total)
		return 0;
	double want = ceil(q * (double)h->total);
	uint64_t rank = want < 1 ? 1 : want > (double)h->total ? h->total : (uint64_t)want;
	uint32_t i = 0;
	for (uint64_t seen = h->count[0]; seen < rank; seen += h->count[++i])
		;
	uint64_t low = hist_bucket_low(h->first + i);
	uint64_t next = hist_bucket_low(h->first + i + 1);
	return (double)low + (double)(next - low - 1) / 2;
}

double hist_sd(const struct hist *h)
{
	return quantile_sd(hist_quantile(h, 0.25), hist_quantile(h, 0.75));
}
