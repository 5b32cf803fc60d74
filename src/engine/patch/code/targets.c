#include "engine/patch/code/targets.h"

#include "base/memory.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS_MAX 16
#define OBJECT_MAX   (64ull << 20) /* limit on the memory of an object in bytes, because it is copied and searched */

struct targets {
	uint64_t lo, hi;     /* the object's code */
	unsigned char *bits; /* one for each address of the code: a jump may lead there */
};

struct segment {
	uint64_t addr;
	size_t n;
	bool code;
	unsigned char *bytes; /* followed by SLACK zero bytes */
};
#define SLACK 8

struct object {
	uint64_t bias; /* the difference between addresses in memory and in the file */
	struct segment segment[SEGMENTS_MAX];
	unsigned n;
};

static void add(struct targets *t, uint64_t addr)
{
	if (addr - t->lo < t->hi - t->lo)
		t->bits[(addr - t->lo) / 8] |= (unsigned char)(1u << (addr - t->lo) % 8);
}

static int32_t get_s32(const unsigned char *p)
{
	int32_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t get_u64(const unsigned char *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

/* Adds the entries of a table of distances from `table`, as far as they lead to code. */
static void add_table(struct targets *t, const struct object *o, uint64_t table)
{
	const struct segment *s = o->segment;
	while (s < o->segment + o->n && table - s->addr >= s->n)
		s++;
	for (size_t at = table - s->addr; s < o->segment + o->n && at + 4 <= s->n; at += 4) {
		uint64_t addr = table + (uint64_t)(int64_t)get_s32(s->bytes + at);
		if (addr - t->lo >= t->hi - t->lo)
			break;
		add(t, addr);
	}
}

static void search(struct targets *t, const struct object *o, const struct segment *s)
{
	const bool low = t->hi <= UINT32_MAX;
	for (size_t i = 0; i < s->n; i++) {
		const unsigned char *p = s->bytes + i;
		uint64_t number = get_u64(p);
		add(t, number);
		if (low && (s->code || (s->addr + i) % 4 == 0))
			add(t, (uint32_t)number);
		if ((s->addr + i) % 8 == 0) /* a relocation, or a symbol of the object */
			add(t, number + o->bias);
		if (!s->code || i < 2)
			continue;
		bool near = (p[-1] & 0xc7) == 0x05; /* an operand of the form x(%rip) */
		bool jcc = p[-2] == 0x0f && (p[-1] & 0xf0) == 0x80;
		bool xbegin = p[-2] == 0xc7 && p[-1] == 0xf8;
		uint64_t reached = s->addr + i + 4 + (uint64_t)(int64_t)get_s32(p);
		if (near || jcc || xbegin || (p[-1] & 0xfe) == 0xe8) /* call, jmp */
			add(t, reached);
		for (unsigned number_size = 1; near && number_size <= 4; number_size *= 2)
			add(t, reached + number_size);
		if (near && p[-2] == 0x8d) /* lea */
			add_table(t, o, reached);
	}
}

/* Reads the segments of the object. Returns false if they cannot be read. */
static bool read_object(struct object *o, const struct mem *m, uint64_t base)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	uint64_t total = 0;
	bool ok = mem_get(m, base, &eh, sizeof(eh)) == 0 && memcmp(eh.e_ident, ELFMAG, SELFMAG) == 0 &&
		  eh.e_ident[EI_CLASS] == ELFCLASS64 && eh.e_phentsize == sizeof(ph);
	for (unsigned i = 0; ok && i < eh.e_phnum; i++) {
		ok = mem_get(m, base + eh.e_phoff + i * sizeof(ph), &ph, sizeof(ph)) == 0;
		if (!ok || ph.p_type != PT_LOAD || !ph.p_filesz)
			continue;
		if (o->n == 0)
			o->bias = base - (ph.p_vaddr - ph.p_offset);
		total += ph.p_filesz;
		ok = o->n < SEGMENTS_MAX && ph.p_filesz <= OBJECT_MAX && total <= OBJECT_MAX;
		if (!ok)
			break;
		struct segment *s = &o->segment[o->n++];
		*s = (struct segment){o->bias + ph.p_vaddr, ph.p_filesz, ph.p_flags & PF_X,
				      memory_zeroed(1, ph.p_filesz + SLACK)};
		ok = mem_get(m, s->addr, s->bytes, s->n) == 0;
	}
	return ok;
}

struct targets *targets_find(const struct mem *m, uint64_t base)
{
	struct object o = {.n = 0};
	struct targets *t = memory_zeroed(1, sizeof(*t));
	bool ok = read_object(&o, m, base);
	for (unsigned i = 0; ok && i < o.n; i++) {
		const struct segment *s = &o.segment[i];
		if (s->code && (!t->hi || s->addr < t->lo))
			t->lo = s->addr;
		if (s->code && s->addr + s->n > t->hi)
			t->hi = s->addr + s->n;
	}
	ok = ok && t->hi - t->lo <= OBJECT_MAX && t->hi;
	if (ok)
		t->bits = memory_zeroed((t->hi - t->lo) / 8 + 1, 1);
	for (unsigned i = 0; ok && i < o.n; i++)
		search(t, &o, &o.segment[i]);
	for (unsigned i = 0; i < o.n; i++)
		free(o.segment[i].bytes);
	if (ok)
		return t;
	targets_free(t);
	return NULL;
}

void targets_free(struct targets *t)
{
	if (t)
		free(t->bits);
	free(t);
}

bool targets_include(const struct targets *t, uint64_t lo, uint64_t hi)
{
	bool found = lo < t->lo || hi > t->hi;
	for (uint64_t a = lo; !found && a < hi; a++)
		found = t->bits[(a - t->lo) / 8] >> (a - t->lo) % 8 & 1;
	return found;
}
