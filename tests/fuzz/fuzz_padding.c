/* SPDX-License-Identifier: MIT */
/*
 * Searches for padding in any memory, as if it were a loaded ELF object with an unwind table. The gaps must be in
 * ascending order, not empty, and within the requested range. Chains of jumps must stay inside the gaps.
 */
#include "fuzz.h"

#include "engine/patch/x86_64/padding.h"
#include "stack/unwind.h"
#include "tracee/functions.h"

#include <errno.h>

#define BASE 0x555555554000u

struct memory {
	const uint8_t *data;
	size_t size;
};

static ssize_t memory_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	const struct memory *m = ctx;
	if (addr < BASE || addr - BASE >= m->size)
		return -EFAULT;
	size_t there = m->size - (addr - BASE);
	n = n < there ? n : there;
	memcpy(buf, m->data + (addr - BASE), n);
	return (ssize_t)n;
}

static void ways(struct gap *gaps, int n, uint64_t from)
{
	struct padding_way way;
	for (int i = 0; i < 8 && padding_find_way(from, gaps, n, &way); i++) {
		FUZZ_REQUIRE(way.n >= 1 && way.n <= PADDING_HOPS + 1);
		for (int hop = 0; hop < way.n; hop++)
			FUZZ_REQUIRE(way.at[hop] >= BASE);
	}
}

/* The stack walker parses the same header. The table must be after the header. */
static void unwind_header(const uint8_t *data, size_t size)
{
	struct eh_frame t;
	if (eh_frame_parse(data, size, BASE, &t) == 0)
		FUZZ_REQUIRE(t.header == BASE && t.table > BASE && t.table <= BASE + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory memory = {data, size};
	struct mem mem = {memory_read, &memory};
	struct gap gaps[PADDING_GAPS];
	uint64_t lo, hi;
	int n = padding_gaps(&mem, BASE, BASE, BASE + size, gaps, PADDING_GAPS);
	FUZZ_REQUIRE(n <= PADDING_GAPS);
	for (int i = 0; i < n; i++)
		FUZZ_REQUIRE(gaps[i].lo < gaps[i].hi && (i == 0 || gaps[i - 1].hi <= gaps[i].lo));
	if (n > 0)
		ways(gaps, n, gaps[0].lo);
	for (size_t at = 0; at < size; at += 97)
		if (functions_find(&mem, BASE, BASE + at, &lo, &hi) == 0)
			FUZZ_REQUIRE(lo <= BASE + at && BASE + at < hi);
	padding_is_fill(data, size);
	unwind_header(data, size);
	return 0;
}
