#include "engine/patch/code/relocate.h"

#include "engine/patch/code/padding.h"

#include <Zydis/Zydis.h>
#include <string.h>

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

/* Writes a direct branch at `to`, in its form with a distance of four bytes. Returns its length. */
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
		if (x.target) {
			size_t len = write_branch(branch, &x, to + at);
			if (!len || at + x.i.length != n || at + len > room)
				return 0;
			memcpy(out + at, branch, len);
			return at + len;
		}
		if (!(x.i.attributes & ZYDIS_ATTRIB_IS_RELATIVE))
			continue;
		int64_t distance = x.i.raw.disp.value + (int64_t)(from - to);
		int32_t d = (int32_t)distance;
		if (d != distance)
			return 0;
		memcpy(out + at + x.i.raw.disp.offset, &d, sizeof(d));
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
		start[i] = i < EDGE || i + EDGE > w->n || i == after || targets_include(t, w->at + i, w->at + i + 1);
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
