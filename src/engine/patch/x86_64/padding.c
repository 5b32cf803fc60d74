/* SPDX-License-Identifier: MIT */
#include "engine/patch/x86_64/padding.h"

#include "tracee/functions.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

/* Does a note of the Go linker, which contains the build ID, begin at this address? */
static bool is_go_note(const struct mem *m, uint64_t at)
{
	static const uint32_t type = 4; /* ELF_NOTE_GOBUILDID_TAG */
	uint32_t note[4];
	return mem_get(m, at, note, sizeof(note)) == 0 && note[0] == 4 && note[2] == type &&
	       memcmp(&note[3], "Go\0", 4) == 0;
}

bool padding_is_of_go(const struct mem *m, uint64_t base)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	bool note = false;
	if (!functions_head(m, base, &eh) || eh.e_phnum > FUNCTIONS_SEGMENTS)
		return false;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		if (!functions_segment(m, base, &eh, i, &ph) || ph.p_type == PT_INTERP || ph.p_type == PT_DYNAMIC ||
		    ph.p_type == PT_TLS || ph.p_type == PT_GNU_EH_FRAME)
			return false;
		note |= ph.p_type == PT_NOTE && is_go_note(m, base + ph.p_offset);
	}
	return note;
}

int padding_gaps(const struct mem *m, uint64_t base, uint64_t lo, uint64_t hi, struct gap *gaps, int max)
{
	struct unwind_table u;
	if (functions_open(&u, m, base) < 0)
		return -ENOEXEC;
	int64_t i = functions_above(&u, lo);
	int found = 0;
	if (i < 0)
		return -ENOEXEC;
	uint64_t loc, fde, next, next_fde, end;
	for (i = i ? i : 1; i < u.n && found < max; i++) {
		if (functions_entry(&u, (uint32_t)i - 1, &loc, &fde) < 0 ||
		    functions_entry(&u, (uint32_t)i, &next, &next_fde) < 0)
			return -ENOEXEC;
		if (loc >= hi)
			break;
		/*
		 * Entries must be sorted, so that the loop runs at most once for each byte of the range, even for a
		 * malicious file.
		 */
		if (next <= loc || next <= lo)
			return -ENOEXEC;
		/* If an entry cannot be read, the end of its function is unknown, and no gap is assumed. */
		if (functions_end(&u, loc, fde, &end) < 0 || end >= next || end < lo || end >= hi)
			continue;
		gaps[found++] = (struct gap){end, next};
	}
	return found;
}

/* Returns the length of the no-op at `p`, or 0: any 0x66 and cs prefixes, then 90, or 0f 1f with its operand. */
static size_t nop_length(const unsigned char *p, size_t n)
{
	size_t i = 0;
	while (i < n && (p[i] == 0x66 || p[i] == 0x2e))
		i++;
	if (i < n && p[i] == 0x90)
		return i + 1;
	if (i + 2 >= n || p[i] != 0x0f || p[i + 1] != 0x1f)
		return 0;
	unsigned char mod = p[i + 2] >> 6;
	bool sib = (p[i + 2] & 7) == 4 && mod != 3;
	size_t disp = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	size_t len = i + 3 + sib + disp;
	return len <= n ? len : 0;
}

bool padding_begins(const unsigned char *p, size_t n, size_t least)
{
	for (size_t i = 0; i < least;) {
		size_t len = i < n && p[i] == 0xcc ? 1 : nop_length(p + i, n - i);
		if (!len)
			return false;
		i += len;
	}
	return true;
}

bool padding_is_fill(const unsigned char *p, size_t n)
{
	return n > 0 && padding_begins(p, n, n);
}

#define FUNCTION_ALIGNMENT 16

int padding_traps(const unsigned char *bytes, size_t n, uint64_t lo, uint64_t from, struct gap *gaps, int max)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction next;
	int found = 0;
	if (ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return 0;
	for (size_t i = from - lo; i < n && found < max;) {
		size_t len = 0;
		while (i + len < n && bytes[i + len] == 0xcc)
			len++;
		if (len >= 5 && (lo + i + len) % FUNCTION_ALIGNMENT == 0)
			gaps[found++] = (struct gap){lo + i, lo + i + len};
		if (len == 0) {
			if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes + i, n - i, &next)))
				break;
			len = next.length;
		}
		i += len;
	}
	return found;
}

static bool reaches(uint64_t from, uint64_t to)
{
	int64_t d = (int64_t)(to - from);
	return d >= -128 && d <= 127;
}

/*
 * A hop that the search has found. The search is breadth first and visits each gap once. So it finds the shortest way
 * in at most n * n steps, even if a malicious file has very many gaps. `before` is the index of the previous hop, or
 * -1.
 */
struct hop {
	int gap, before;
	int length; /* number of hops up to and including this one */
};

static bool five_bytes_from(uint64_t from, const struct gap *gaps, int n, int *found)
{
	for (*found = 0; *found < n; ++*found)
		if (gaps[*found].hi - gaps[*found].lo >= 5 && reaches(from, gaps[*found].lo))
			return true;
	return false;
}

/*
 * Fills in `way`, whose last jump leads from hops[last], or from the site if `last` is -1, to gap `end`. Removes the
 * bytes that the way uses from their gaps.
 */
static void take_way(const struct hop *hops, int last, int end, struct gap *gaps, struct padding_way *way)
{
	way->n = last < 0 ? 1 : hops[last].length + 1;
	way->at[way->n - 1] = gaps[end].lo;
	gaps[end].lo += 5;
	for (int i = way->n - 2; i >= 0; i--, last = hops[last].before) {
		way->at[i] = gaps[hops[last].gap].lo;
		gaps[hops[last].gap].lo += 2;
	}
}

bool padding_find_way(uint64_t from, struct gap *gaps, int n, struct padding_way *way)
{
	struct hop hops[PADDING_GAPS] = {{0}};
	bool seen[PADDING_GAPS] = {false};
	int nhops = 0, end;
	way->n = 0;
	n = n < PADDING_GAPS ? n : PADDING_GAPS;
	for (int at = -1; at < nhops; at++) {
		uint64_t end_of_jump = at < 0 ? from : gaps[hops[at].gap].lo + 2;
		int length = at < 0 ? 0 : hops[at].length;
		if (five_bytes_from(end_of_jump, gaps, n, &end)) {
			take_way(hops, at, end, gaps, way);
			return true;
		}
		for (int i = 0; length < PADDING_HOPS && i < n; i++) {
			if (seen[i] || gaps[i].hi - gaps[i].lo < 2 || !reaches(end_of_jump, gaps[i].lo))
				continue;
			seen[i] = true;
			hops[nhops++] = (struct hop){i, at, length + 1};
		}
	}
	return false;
}
