#include "engine/patch/code/relocate.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>

struct walk {
	ZydisDecoder decoder;
	const unsigned char *code;
	size_t n;
	uint64_t fn;
};

static bool decode(const struct walk *w, size_t at, ZydisDecodedInstruction *i, ZydisDecodedOperand *ops)
{
	return at < w->n && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&w->decoder, w->code + at, w->n - at, i, ops));
}

/* May the instruction run at another address? It may not if it uses its own address, jumps, or enters the kernel. */
static bool movable(const ZydisDecodedInstruction *i)
{
	switch ((int)i->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSTEM:
		return false;
	default:
		return !(i->attributes & ZYDIS_ATTRIB_IS_RELATIVE);
	}
}

static size_t movable_length(const struct walk *w, size_t from)
{
	ZydisDecodedInstruction i;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	size_t len = 0;
	while (len < 3) {
		if (!decode(w, from + len, &i, ops) || !movable(&i))
			return 0;
		len += i.length;
	}
	return len <= RELOCATE_MAX ? len : 0;
}

/* Returns the target of a relative branch, or 0 if the instruction is not a relative branch. */
static uint64_t branch_target(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *ops, uint64_t at)
{
	uint64_t target = 0;
	bool branch = i->meta.category == ZYDIS_CATEGORY_COND_BR || i->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
		      i->meta.category == ZYDIS_CATEGORY_CALL;
	for (unsigned k = 0; branch && k < i->operand_count_visible; k++)
		if (ops[k].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && ops[k].imm.is_relative)
			ZydisCalcAbsoluteAddress(i, &ops[k], at, &target);
	return target;
}

static bool is_indirect_jump(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *ops)
{
	return i->meta.category == ZYDIS_CATEGORY_UNCOND_BR && i->operand_count_visible > 0 &&
	       ops[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

/*
 * True if no branch of the function leads to an address after `site` and before `end`. The targets of indirect jumps are
 * not known: if `indirect` is true, the result is false for a function that has one. The instructions are decoded one
 * after the other. If none of them begins at the site, the decoder is not in step with the program, and the result is
 * false.
 */
static bool nothing_leads_into(const struct walk *w, uint64_t site, uint64_t end, bool indirect, const char **why)
{
	ZydisDecodedInstruction i;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	bool met = false;
	for (size_t at = 0; at < w->n; at += i.length) {
		if (!decode(w, at, &i, ops)) {
			*why = "its function cannot be disassembled";
			return false;
		}
		met |= w->fn + at == site;
		uint64_t target = branch_target(&i, ops, w->fn + at);
		if ((target > site && target < end) || (indirect && is_indirect_jump(&i, ops))) {
			*why = "a branch may lead into the instructions that would have to be moved";
			return false;
		}
	}
	if (!met)
		*why = "its function cannot be disassembled";
	return met;
}

static bool begin(struct walk *w, const unsigned char *code, size_t n, uint64_t fn, uint64_t site)
{
	*w = (struct walk){.code = code, .n = n, .fn = fn};
	return site >= fn && site - fn + 2 <= n &&
	       ZYAN_SUCCESS(ZydisDecoderInit(&w->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
}

size_t relocate_length(const unsigned char *code, size_t n, uint64_t fn, uint64_t site, const char **why)
{
	struct walk w;
	*why = "the instruction after the call cannot be moved";
	if (!begin(&w, code, n, fn, site))
		return 0;
	size_t len = movable_length(&w, site - fn + 2);
	return len && nothing_leads_into(&w, site, site + 2 + len, true, why) ? len : 0;
}

size_t relocate_early(const unsigned char *code, size_t n, uint64_t fn, uint64_t site, const char **why)
{
	ZydisDecodedInstruction i = {.length = 0};
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct walk w;
	size_t at = 0;
	*why = "the instruction before the call cannot be moved";
	if (!begin(&w, code, n, fn, site))
		return 0;
	while (fn + at < site && decode(&w, at, &i, ops))
		at += i.length;
	if (fn + at != site || i.length < 5 || i.length > RELOCATE_EARLY_MAX || !movable(&i))
		return 0;
	/*
	 * An indirect jump leads to the beginning of an instruction, so never into the middle of mov $number, %eax. If it
	 * leads to the syscall instruction after the mov, the thread stops there, as at a site that is not patched.
	 */
	bool number = i.length == 5 && code[at - 5] == 0xb8;
	return nothing_leads_into(&w, site - i.length, site + 1, !number, why) ? i.length : 0;
}
