/* SPDX-License-Identifier: MIT */
#include "recording/write.h"

#include "base/buf.h"
#include "base/size.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int recording_last_parse(const char *text, struct recording_last *last, struct buf *why)
{
	size_t digits = strspn(text, "0123456789");
	int64_t calls;
	*last = (struct recording_last){0};
	if (digits && !text[digits]) {
		if (number_parse(text, 1, INT64_MAX, &calls) == 0)
			last->calls = (uint64_t)calls;
	} else if (size_parse(text, &last->bytes) < 0 && duration_parse(text, &last->ns) < 0) {
		*last = (struct recording_last){0};
	}
	if (last->calls || last->bytes || last->ns)
		return 0;
	buf_addf(why, "'%s' is not a number of calls (1000), a size (64M) or a duration (30s)", text);
	return -EINVAL;
}

/* Returns true if the oldest block can be dropped. */
static bool is_spare(const struct recording_kept *k)
{
	const struct kept_block *oldest = &k->blocks.v[k->first], *newest = &k->blocks.v[k->blocks.n - 1];
	if (oldest == newest)
		return false;
	if (k->last.calls)
		return k->calls - oldest->calls >= k->last.calls;
	if (k->last.bytes)
		return k->bytes - oldest->n >= k->last.bytes;
	/* All later blocks begin after the end of the oldest one, so they alone cover the requested duration. */
	return newest->end_ns - oldest->end_ns > k->last.ns;
}

/* Drops the oldest block, or moves it to the pinned ones. */
static void take_oldest(struct recording_kept *k)
{
	struct kept_block *oldest = &k->blocks.v[k->first];
	if (oldest->pins)
		vec_push(&k->pinned, *oldest);
	k->first++;
	k->calls -= oldest->calls;
	k->bytes -= oldest->n;
	if (!oldest->pins)
		free(oldest->bytes);
}

void recording_pin(struct recording_kept *k, uint64_t number, int by)
{
	size_t i = 0, n = k->blocks.n - k->first;
	uint64_t oldest = n ? k->blocks.v[k->first].number : number + 1;
	if (number >= oldest && number - oldest < n) {
		k->blocks.v[k->first + (number - oldest)].pins += (uint64_t)by;
		return;
	}
	while (i < k->pinned.n && k->pinned.v[i].number != number)
		i++;
	if (i == k->pinned.n)
		return;
	struct kept_block *b = &k->pinned.v[i];
	b->pins += (uint64_t)by;
	if (b->pins)
		return;
	free(b->bytes);
	k->pinned.n--;
	memmove(b, b + 1, (k->pinned.n - i) * sizeof(*b));
}

void recording_keep(struct recording_kept *k, struct kept_block block)
{
	/* When at least half of the array consists of dropped blocks, move the others to its start. */
	if (k->first && k->first >= k->blocks.n - k->first) {
		k->blocks.n -= k->first;
		memmove(k->blocks.v, k->blocks.v + k->first, k->blocks.n * sizeof(*k->blocks.v));
		k->first = 0;
	}
	vec_push(&k->blocks, block);
	k->calls += block.calls;
	k->bytes += block.n;
	while (is_spare(k))
		take_oldest(k);
}

void recording_kept_free(struct recording_kept *k)
{
	for (size_t i = k->first; i < k->blocks.n; i++)
		free(k->blocks.v[i].bytes);
	for (size_t i = 0; i < k->pinned.n; i++)
		free(k->pinned.v[i].bytes);
	vec_free(&k->pinned);
	vec_free(&k->blocks);
}
