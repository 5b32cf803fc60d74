#include "recording/keep.h"

#include "base/buf.h"
#include "base/size.h"

#include <ctype.h>
#include <errno.h>
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
	/* All events of later blocks are newer than the end of the oldest block. */
	return newest->end_ns - oldest->end_ns > k->last.ns;
}

int recording_keep(struct recording_kept *k, struct kept_block block)
{
	/* When at least half of the array consists of dropped blocks, move the others to its start. */
	if (k->first && k->first >= k->blocks.n - k->first) {
		k->blocks.n -= k->first;
		memmove(k->blocks.v, k->blocks.v + k->first, k->blocks.n * sizeof(*k->blocks.v));
		k->first = 0;
	}
	if (!vec_push(&k->blocks, block)) {
		free(block.bytes);
		return -ENOMEM;
	}
	k->calls += block.calls;
	k->bytes += block.n;
	while (is_spare(k)) {
		struct kept_block *oldest = &k->blocks.v[k->first++];
		k->calls -= oldest->calls;
		k->bytes -= oldest->n;
		free(oldest->bytes);
	}
	return 0;
}

void recording_kept_free(struct recording_kept *k)
{
	for (size_t i = k->first; i < k->blocks.n; i++)
		free(k->blocks.v[i].bytes);
	vec_free(&k->blocks);
}
