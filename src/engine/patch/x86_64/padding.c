/* SPDX-License-Identifier: MIT */
#include "engine/patch/x86_64/padding.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

/* DWARF pointer encodings (LSB Core, 10.5.1). */
enum { ENC_UDATA4 = 0x03, ENC_SDATA4 = 0x0b, ENC_FORMAT = 0x0f, ENC_PCREL = 0x10, ENC_DATAREL = 0x30 };

/* The binary search table of an object's .eh_frame_hdr. */
struct unwind_table {
	const struct mem *m;
	uint64_t hdr;   /* address of .eh_frame_hdr; the table's entries are relative to it */
	uint64_t first; /* address of entry 0: two int32, location and frame description */
	uint32_t n;
};

static int64_t get_s32(const unsigned char *p)
{
	int32_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

/* Reads the header of the 64-bit ELF object at `base`. Returns false if there is none. */
static bool read_head(const struct mem *m, uint64_t base, Elf64_Ehdr *eh)
{
	return mem_get(m, base, eh, sizeof(*eh)) == 0 && memcmp(eh->e_ident, ELFMAG, SELFMAG) == 0 &&
	       eh->e_ident[EI_CLASS] == ELFCLASS64 && eh->e_phentsize == sizeof(Elf64_Phdr);
}

#define SEGMENTS_MAX 64

static bool read_segment(const struct mem *m, uint64_t base, const Elf64_Ehdr *eh, unsigned i, Elf64_Phdr *ph)
{
	return mem_get(m, base + eh->e_phoff + i * sizeof(*ph), ph, sizeof(*ph)) == 0;
}

/* Returns the address of PT_GNU_EH_FRAME in memory, or 0. */
static uint64_t find_hdr(const struct mem *m, uint64_t base)
{
	Elf64_Ehdr eh;
	uint64_t bias = base;
	uint64_t hdr = 0;
	bool biased = false;
	if (!read_head(m, base, &eh))
		return 0;
	for (unsigned i = 0; i < eh.e_phnum && i < SEGMENTS_MAX; i++) {
		Elf64_Phdr ph;
		if (!read_segment(m, base, &eh, i, &ph))
			return 0;
		if (ph.p_type == PT_LOAD && !biased) {
			bias = base - (ph.p_vaddr - ph.p_offset);
			biased = true;
		} else if (ph.p_type == PT_GNU_EH_FRAME)
			hdr = ph.p_vaddr;
	}
	return hdr && biased ? bias + hdr : 0;
}

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
	if (!read_head(m, base, &eh) || eh.e_phnum > SEGMENTS_MAX)
		return false;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		if (!read_segment(m, base, &eh, i, &ph) || ph.p_type == PT_INTERP || ph.p_type == PT_DYNAMIC ||
		    ph.p_type == PT_TLS || ph.p_type == PT_GNU_EH_FRAME)
			return false;
		note |= ph.p_type == PT_NOTE && is_go_note(m, base + ph.p_offset);
	}
	return note;
}

static int open_table(struct unwind_table *u, const struct mem *m, uint64_t base)
{
	unsigned char h[12];
	*u = (struct unwind_table){.m = m, .hdr = find_hdr(m, base)};
	if (!u->hdr || mem_get(m, u->hdr, h, sizeof(h)) < 0)
		return -ENOEXEC;
	/* version 1; eh_frame pointer of four bytes, count udata4, table of pairs of datarel sdata4 */
	if (h[0] != 1 || (h[1] & ENC_FORMAT) != ENC_SDATA4 || h[2] != ENC_UDATA4 || h[3] != (ENC_DATAREL | ENC_SDATA4))
		return -ENOEXEC;
	memcpy(&u->n, h + 8, sizeof(u->n));
	u->first = u->hdr + sizeof(h);
	return u->n && u->n < 1u << 24 ? 0 : -ENOEXEC;
}

static int read_entry(const struct unwind_table *u, uint32_t i, uint64_t *loc, uint64_t *fde)
{
	unsigned char e[8];
	if (i >= u->n || mem_get(u->m, u->first + 8ull * i, e, sizeof(e)) < 0)
		return -EFAULT;
	*loc = u->hdr + (uint64_t)get_s32(e);
	*fde = u->hdr + (uint64_t)get_s32(e + 4);
	return 0;
}

/* Skips an LEB128 number. */
static size_t skip_leb(const unsigned char *p, size_t i, size_t n)
{
	while (i < n && p[i] & 0x80)
		i++;
	return i + 1;
}

/*
 * Returns how pointers are encoded in the descriptions that use the common entry at `cie`, or -1 if the encoding is not
 * supported.
 */
static int cie_encoding(const struct mem *m, uint64_t cie)
{
	unsigned char c[64] = {0};
	ssize_t got = mem_read(m, cie, c, sizeof(c));
	size_t n = got > 0 ? (size_t)got : 0;
	size_t i = 9; /* length, id, version */
	if (n < 16 || !memchr(c + i, 0, n - i))
		return -1;
	const char *aug = (const char *)c + i;
	i += strlen(aug) + 1;
	if (aug[0] != 'z')
		return -1;
	for (int k = 0; k < 4; k++) /* code and data alignment, return register, length of the augmentation */
		i = skip_leb(c, i, n);
	for (const char *a = aug + 1; *a && i < n; a++) {
		if (*a == 'R')
			return c[i];
		if (*a == 'L')
			i++;
		else if (*a == 'P')
			i += (c[i] & 7) == 4 || (c[i] & 7) == 0 ? 9 : (c[i] & 7) == 3 ? 5 : 64;
		else if (*a != 'S' && *a != 'B')
			return -1;
	}
	return -1;
}

/* Sets *end to the end of the function at `loc`, which the frame description at `fde` gives. Returns 0 or -EFAULT. */
static int function_end(const struct unwind_table *u, uint64_t loc, uint64_t fde, uint64_t *end)
{
	unsigned char f[16];
	if (mem_get(u->m, fde, f, sizeof(f)) < 0)
		return -EFAULT;
	uint32_t length;
	memcpy(&length, f, sizeof(length));
	uint64_t cie = fde + 4 - (uint64_t)get_s32(f + 4);
	int enc = length == 0xffffffff ? -1 : cie_encoding(u->m, cie);
	if (enc < 0 || ((enc & ENC_FORMAT) != ENC_SDATA4 && (enc & ENC_FORMAT) != ENC_UDATA4))
		return -EFAULT;
	uint32_t range;
	memcpy(&range, f + 12, sizeof(range));
	*end = loc + range;
	return 0;
}

/* Returns the first entry whose location is above `addr`. */
static int64_t first_above(const struct unwind_table *u, uint64_t addr)
{
	uint32_t lo = 0;
	uint32_t hi = u->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		uint64_t loc, fde;
		if (read_entry(u, mid, &loc, &fde) < 0)
			return -EFAULT;
		if (loc > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

int padding_gaps(const struct mem *m, uint64_t base, uint64_t lo, uint64_t hi, struct gap *gaps, int max)
{
	struct unwind_table u;
	if (open_table(&u, m, base) < 0)
		return -ENOEXEC;
	int64_t i = first_above(&u, lo);
	int found = 0;
	if (i < 0)
		return -ENOEXEC;
	uint64_t loc, fde, next, next_fde, end;
	for (i = i ? i : 1; i < u.n && found < max; i++) {
		if (read_entry(&u, (uint32_t)i - 1, &loc, &fde) < 0 ||
		    read_entry(&u, (uint32_t)i, &next, &next_fde) < 0)
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
		if (function_end(&u, loc, fde, &end) < 0 || end >= next || end < lo || end >= hi)
			continue;
		gaps[found++] = (struct gap){end, next};
	}
	return found;
}

int padding_function(const struct mem *m, uint64_t base, uint64_t addr, uint64_t *lo, uint64_t *hi)
{
	struct unwind_table u;
	uint64_t fde;
	int64_t i = open_table(&u, m, base) < 0 ? -1 : first_above(&u, addr);
	if (i < 1 || read_entry(&u, (uint32_t)i - 1, lo, &fde) < 0 || function_end(&u, *lo, fde, hi) < 0)
		return -ENOEXEC;
	return addr < *hi ? 0 : -ENOEXEC;
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
