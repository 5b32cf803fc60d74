/* SPDX-License-Identifier: MIT */
#include "tracee/functions.h"

#include <errno.h>
#include <string.h>

/* DWARF pointer encodings (LSB Core, 10.5.1). */
enum { ENC_UDATA4 = 0x03, ENC_SDATA4 = 0x0b, ENC_FORMAT = 0x0f, ENC_PCREL = 0x10, ENC_DATAREL = 0x30 };

static int64_t get_s32(const unsigned char *p)
{
	int32_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

bool functions_head(const struct mem *m, uint64_t base, Elf64_Ehdr *eh)
{
	return mem_get(m, base, eh, sizeof(*eh)) == 0 && memcmp(eh->e_ident, ELFMAG, SELFMAG) == 0 &&
	       eh->e_ident[EI_CLASS] == ELFCLASS64 && eh->e_phentsize == sizeof(Elf64_Phdr);
}

bool functions_segment(const struct mem *m, uint64_t base, const Elf64_Ehdr *eh, unsigned i, Elf64_Phdr *ph)
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
	if (!functions_head(m, base, &eh))
		return 0;
	for (unsigned i = 0; i < eh.e_phnum && i < FUNCTIONS_SEGMENTS; i++) {
		Elf64_Phdr ph;
		if (!functions_segment(m, base, &eh, i, &ph))
			return 0;
		if (ph.p_type == PT_LOAD && !biased) {
			bias = base - (ph.p_vaddr - ph.p_offset);
			biased = true;
		} else if (ph.p_type == PT_GNU_EH_FRAME)
			hdr = ph.p_vaddr;
	}
	return hdr && biased ? bias + hdr : 0;
}

int functions_open(struct unwind_table *u, const struct mem *m, uint64_t base)
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

int functions_entry(const struct unwind_table *u, uint32_t i, uint64_t *loc, uint64_t *fde)
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

int functions_end(const struct unwind_table *u, uint64_t loc, uint64_t fde, uint64_t *end)
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

int64_t functions_above(const struct unwind_table *u, uint64_t addr)
{
	uint32_t lo = 0;
	uint32_t hi = u->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		uint64_t loc, fde;
		if (functions_entry(u, mid, &loc, &fde) < 0)
			return -EFAULT;
		if (loc > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

int functions_find(const struct mem *m, uint64_t base, uint64_t addr, uint64_t *lo, uint64_t *hi)
{
	struct unwind_table u;
	uint64_t fde;
	int64_t i = functions_open(&u, m, base) < 0 ? -1 : functions_above(&u, addr);
	if (i < 1 || functions_entry(&u, (uint32_t)i - 1, lo, &fde) < 0 || functions_end(&u, *lo, fde, hi) < 0)
		return -ENOEXEC;
	return addr < *hi ? 0 : -ENOEXEC;
}
