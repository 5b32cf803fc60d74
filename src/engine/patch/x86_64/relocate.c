/* SPDX-License-Identifier: MIT */
#include "engine/patch/x86_64/relocate.h"

#include "base/memory.h"
#include "engine/patch/x86_64/padding.h"

#include <Zydis/Zydis.h>
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

struct targets *relocate_targets_find(const struct mem *m, uint64_t base)
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
	relocate_targets_free(t);
	return NULL;
}

void relocate_targets_free(struct targets *t)
{
	if (t)
		free(t->bits);
	free(t);
}

bool relocate_targets_include(const struct targets *t, uint64_t lo, uint64_t hi)
{
	bool found = lo < t->lo || hi > t->hi;
	for (uint64_t a = lo; !found && a < hi; a++)
		found = t->bits[(a - t->lo) / 8] >> (a - t->lo) % 8 & 1;
	return found;
}

struct walk {
	ZydisDecoder decoder;
	const unsigned char *code;
	size_t n;
	uint64_t at; /* address of code[0] */
};

struct instruction {
	ZydisDecodedInstruction i;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t addr, target; /* `target` is that of a direct branch, otherwise 0 */
};

static bool begin(struct walk *w, const unsigned char *code, size_t n, uint64_t at)
{
	*w = (struct walk){.code = code, .n = n, .at = at};
	return ZYAN_SUCCESS(ZydisDecoderInit(&w->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
}

static bool is_branch(const ZydisDecodedInstruction *i)
{
	return i->meta.category == ZYDIS_CATEGORY_COND_BR || i->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       i->meta.category == ZYDIS_CATEGORY_CALL;
}

static bool decode(const struct walk *w, size_t from, struct instruction *x)
{
	if (from >= w->n ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(&w->decoder, w->code + from, w->n - from, &x->i, x->ops)))
		return false;
	x->addr = w->at + from;
	x->target = 0;
	for (unsigned k = 0; is_branch(&x->i) && k < x->i.operand_count_visible; k++)
		if (x->ops[k].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && x->ops[k].imm.is_relative)
			ZydisCalcAbsoluteAddress(&x->i, &x->ops[k], x->addr, &x->target);
	return true;
}

/* Does the instruction never continue with the next one? */
static bool is_final(const struct instruction *x)
{
	return x->i.meta.category == ZYDIS_CATEGORY_UNCOND_BR || x->i.meta.category == ZYDIS_CATEGORY_RET;
}

/* Is it jcc? The other conditional branches, such as jrcxz, have no form with a distance of four bytes. */
static bool is_conditional(const struct instruction *x)
{
	uint8_t kind = x->i.opcode & 0xf0;
	return x->i.meta.category == ZYDIS_CATEGORY_COND_BR && (kind == 0x70 || kind == 0x80);
}

/* May the instruction run at another address? It may not if it shows its address, or enters the kernel. */
static bool is_movable(const struct instruction *x)
{
	switch ((int)x->i.meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSTEM:
		return false;
	case ZYDIS_CATEGORY_COND_BR:
		return is_conditional(x);
	default:
		return x->target || !(x->i.attributes & ZYDIS_ATTRIB_IS_RELATIVE) || x->i.address_width == 64;
	}
}

size_t relocate_length(const unsigned char *code, size_t n, uint64_t ip, size_t *taken)
{
	struct walk w;
	struct instruction x;
	unsigned char copy[RELOCATE_MAX + RELOCATE_GROWTH];
	size_t len = 0;
	bool last = false;
	*taken = 3;
	if (!begin(&w, code, n, ip))
		return 0;
	while (len < 3 && !last) {
		if (!decode(&w, len, &x) || !is_movable(&x))
			return 0;
		len += x.i.length;
		last = is_final(&x) || is_conditional(&x);
	}
	bool fills = len >= 3 || (is_final(&x) && padding_begins(code + len, n - len, 3 - len));
	if (len > *taken)
		*taken = len;
	bool inside = x.target > ip - 2 && x.target < ip + *taken;
	return fills && !inside && len <= RELOCATE_MAX && relocate_copy(copy, sizeof(copy), code, len, ip, ip) ? len
													       : 0;
}

/* The instructions before a call, the last one first. */
struct before {
	size_t n; /* number of bytes of the instructions added so far */
	size_t best;
	bool stopped;
};

/* Adds an instruction. If it has five bytes or more, it can be overwritten, and those after it need not be. */
static void add_before(struct before *b, const struct instruction *x)
{
	b->stopped |= !is_movable(x) || is_final(x) || is_conditional(x) || b->n + x->i.length > RELOCATE_EARLY_MAX;
	b->n += x->i.length;
	if (!b->stopped && x->i.length >= 5 && !b->best)
		b->best = b->n;
}

size_t relocate_early(const unsigned char *code, size_t n, uint64_t fn, uint64_t site)
{
	struct walk w;
	struct instruction x;
	struct before b = {.n = 0};
	uint8_t length[RELOCATE_EARLY_MAX] = {0}; /* of the last instructions */
	size_t at = 0, count = 0;
	if (site < fn || site - fn + 2 > n || !begin(&w, code, n, fn))
		return 0;
	for (; fn + at < site && decode(&w, at, &x); at += x.i.length)
		length[count++ % RELOCATE_EARLY_MAX] = x.i.length;
	for (size_t k = 0; fn + at == site && k < count && k < RELOCATE_EARLY_MAX && !b.stopped && !b.best; k++) {
		size_t len = length[(count - 1 - k) % RELOCATE_EARLY_MAX];
		if (!decode(&w, site - fn - b.n - len, &x))
			return 0;
		add_before(&b, &x);
	}
	return b.best;
}

/* Writes a short branch at `to`, in its form with a distance of four bytes. Returns its length. */
static size_t write_branch(unsigned char out[6], const struct instruction *x, uint64_t to)
{
	size_t head = is_conditional(x) ? 2 : 1;
	int64_t distance = (int64_t)(x->target - (to + head + 4));
	int32_t d = (int32_t)distance;
	out[0] = is_conditional(x) ? 0x0f : 0xe9;
	out[head - 1] = is_conditional(x) ? (unsigned char)(0x80 | (x->i.opcode & 0xf)) : 0xe9;
	memcpy(out + head, &d, sizeof(d));
	return distance == d ? head + 4 : 0;
}

size_t relocate_copy(unsigned char *out, size_t room, const unsigned char *code, size_t n, uint64_t from, uint64_t to)
{
	struct walk w;
	struct instruction x;
	unsigned char branch[6];
	if (n > room || !begin(&w, code, n, from))
		return 0;
	memcpy(out, code, n);
	for (size_t at = 0; at < n; at += x.i.length) {
		if (!decode(&w, at, &x))
			return 0;
		/* Only the distance of a long branch changes, so that it keeps its prefixes, and so its length. */
		bool is_long = x.target && x.i.raw.imm[0].size == 32;
		if (x.target && !is_long) {
			size_t len = write_branch(branch, &x, to + at);
			if (len < x.i.length || at + x.i.length != n || at + len > room)
				return 0;
			memcpy(out + at, branch, len);
			return at + len;
		}
		if (!(x.i.attributes & ZYDIS_ATTRIB_IS_RELATIVE))
			continue;
		int64_t distance = (is_long ? x.i.raw.imm[0].value.s : x.i.raw.disp.value) + (int64_t)(from - to);
		int32_t d = (int32_t)distance;
		if (d != distance)
			return 0;
		memcpy(out + at + (is_long ? x.i.raw.imm[0].offset : x.i.raw.disp.offset), &d, sizeof(d));
	}
	return n;
}

/* --- what leads to an address --- */

/* What the last instruction that wrote to a register has put into it, as far as an indirect jump may use it. */
enum origin {
	ORIGIN_OTHER,
	ORIGIN_OBJECT, /* a number from memory or from the instruction, so also from the memory of the object */
	ORIGIN_ENTRY,  /* an entry of a table of four-byte distances */
	ORIGIN_SUM,    /* such an entry, plus the address of the table */
};

struct origins {
	uint8_t of[16];
};

/* Returns the number of the general register, or -1 if it is another one. */
static int register_number(ZydisRegister r)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? ZydisRegisterGetId(whole) : -1;
}

static enum origin origin_of(const struct origins *o, ZydisRegister r)
{
	int number = register_number(r);
	return number < 0 ? ORIGIN_OTHER : (enum origin)o->of[number];
}

static enum origin find_origin(const struct origins *o, const struct instruction *x)
{
	const ZydisDecodedOperand *from = &x->ops[1];
	bool mem = from->type == ZYDIS_OPERAND_TYPE_MEMORY;
	bool reg = from->type == ZYDIS_OPERAND_TYPE_REGISTER;
	if (x->i.operand_count_visible != 2)
		return ORIGIN_OTHER;
	if (x->i.mnemonic == ZYDIS_MNEMONIC_MOVSXD && mem && from->mem.scale == 4)
		return ORIGIN_ENTRY;
	if (x->i.mnemonic == ZYDIS_MNEMONIC_MOV)
		return reg ? origin_of(o, from->reg.value) : ORIGIN_OBJECT;
	if (x->i.mnemonic == ZYDIS_MNEMONIC_LEA && from->mem.base == ZYDIS_REGISTER_RIP)
		return ORIGIN_OBJECT;
	bool sum =
		(x->i.mnemonic == ZYDIS_MNEMONIC_ADD && reg && x->ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		 (origin_of(o, x->ops[0].reg.value) == ORIGIN_ENTRY || origin_of(o, from->reg.value) == ORIGIN_ENTRY));
	return sum ? ORIGIN_SUM : ORIGIN_OTHER;
}

static void note_origins(struct origins *o, const struct instruction *x)
{
	enum origin from = find_origin(o, x);
	for (unsigned k = 0; k < x->i.operand_count; k++) {
		int number = x->ops[k].type == ZYDIS_OPERAND_TYPE_REGISTER &&
					     x->ops[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE
				     ? register_number(x->ops[k].reg.value)
				     : -1;
		if (number >= 0)
			o->of[number] = (uint8_t)from;
	}
}

/* Returns ENTRY_NONE if this is not an indirect jump. */
static enum relocate_entry indirect_entry(const struct origins *o, const struct instruction *x)
{
	const ZydisDecodedOperand *to = &x->ops[0];
	if (x->i.meta.category != ZYDIS_CATEGORY_UNCOND_BR || x->target || !x->i.operand_count_visible)
		return ENTRY_NONE;
	if (to->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return to->mem.index == ZYDIS_REGISTER_NONE || to->mem.scale == 8 ? ENTRY_TABLE : ENTRY_UNKNOWN;
	enum origin from = to->type == ZYDIS_OPERAND_TYPE_REGISTER ? origin_of(o, to->reg.value) : ORIGIN_OTHER;
	return from == ORIGIN_OBJECT || from == ORIGIN_SUM ? ENTRY_TABLE : ENTRY_UNKNOWN;
}

static bool is_inside(uint64_t target, uint64_t lo, uint64_t hi)
{
	return target > lo && target < hi;
}

static enum relocate_entry worse(enum relocate_entry a, enum relocate_entry b)
{
	return a > b ? a : b;
}

enum relocate_entry relocate_entry(const unsigned char *code, size_t n, uint64_t fn, uint64_t site, uint64_t lo,
				   uint64_t hi)
{
	struct walk w;
	struct instruction x;
	struct origins o = {{ORIGIN_OTHER}};
	enum relocate_entry found = ENTRY_NONE;
	bool met = false;
	if (!begin(&w, code, n, fn))
		return ENTRY_GARBLED;
	for (size_t at = 0; at < n; at += x.i.length) {
		if (!decode(&w, at, &x))
			return ENTRY_GARBLED;
		met |= x.addr == site;
		found = worse(found, is_inside(x.target, lo, hi) ? ENTRY_BRANCH : indirect_entry(&o, &x));
		note_origins(&o, &x);
	}
	return met ? found : ENTRY_GARBLED;
}

/* --- code whose bounds are not known --- */

/* A branch from outside the code may lead to the first or last bytes of the code, or an instruction may reach into it. */
#define EDGE 144

/*
 * Sets start[i] for each offset at which a thread may find the beginning of an instruction: the edges of the code, the
 * targets of the object, the instruction after the call, and all that instructions there continue with or branch to.
 */
static void find_starts(const struct walk *w, const struct targets *t, size_t after, bool *start)
{
	bool done[RELOCATE_NEAR_MAX] = {false};
	struct instruction x;
	for (size_t i = 0; i < w->n; i++)
		start[i] = i < EDGE || i + EDGE > w->n || i == after ||
			   relocate_targets_include(t, w->at + i, w->at + i + 1);
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < w->n; i++) {
			if (!start[i] || done[i])
				continue;
			done[i] = true;
			if (!decode(w, i, &x))
				continue;
			if (!is_final(&x) && i + x.i.length < w->n)
				start[i + x.i.length] = true;
			size_t to = x.target - w->at;
			if (x.target && to < w->n && !start[to])
				again = start[to] = true;
		}
	}
}

enum relocate_entry relocate_near(const unsigned char *code, size_t n, uint64_t at, uint64_t site, uint64_t lo,
				  uint64_t hi, const struct targets *t)
{
	struct walk w;
	struct instruction x;
	struct origins o = {{ORIGIN_OTHER}};
	enum relocate_entry found = ENTRY_TABLE; /* the function may have an indirect jump that is farther away */
	bool start[RELOCATE_NEAR_MAX];
	if (n > RELOCATE_NEAR_MAX || !begin(&w, code, n, at))
		return ENTRY_GARBLED;
	find_starts(&w, t, site - at + 2, start);
	for (size_t i = 0; i < n; i++) {
		if (!start[i] || !decode(&w, i, &x))
			continue;
		found = worse(found, is_inside(x.target, lo, hi)  ? ENTRY_BRANCH
				     : i >= EDGE && i + EDGE <= n ? indirect_entry(&o, &x)
								  : ENTRY_NONE);
		note_origins(&o, &x);
	}
	return found;
}

size_t relocate_early_near(const unsigned char *code, size_t n, uint64_t at, uint64_t site, const struct targets *t)
{
	struct walk w;
	struct instruction x, last;
	struct before b = {.n = 0};
	bool start[RELOCATE_NEAR_MAX];
	if (n > RELOCATE_NEAR_MAX || !begin(&w, code, n, at))
		return 0;
	find_starts(&w, t, site - at + 2, start);
	while (!b.stopped && !b.best) {
		uint64_t end = site - b.n;
		bool found = false;
		for (size_t i = end - at > EDGE ? end - at - ZYDIS_MAX_INSTRUCTION_LENGTH : end - at; i < end - at;
		     i++) {
			if (!start[i] || !decode(&w, i, &x) || x.addr + x.i.length < end)
				continue;
			if (found || x.addr + x.i.length != end)
				return 0;
			found = true;
			last = x;
		}
		if (!found)
			return 0;
		add_before(&b, &last);
	}
	return b.best;
}
