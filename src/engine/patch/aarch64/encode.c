/* SPDX-License-Identifier: MIT */
#include "engine/patch/aarch64/encode.h"

#include "engine/patch/aarch64/resume.h"
#include "engine/patch/code/agent.h"

#include <asm/hwcap.h>
#include <string.h>
#include <sys/auxv.h>

#define FRAME_DROP   ((RED_ZONE + FRAME_SIZE) / 8)              /* as the field imm7 of stp and ldp */
#define STP_PUSH     (0xa9807bf0u | (-FRAME_DROP & 0x7f) << 15) /* stp x16, x30, [sp, #-...]! */
#define LDP_POP      (0xa8c07bf0u | FRAME_DROP << 15)           /* ldp x16, x30, [sp], #... */
#define LITERAL_MOST (1 << 20)

struct stub_head encode_head(void)
{
	const struct agent_labels *l = &agent_labels[getauxval(AT_HWCAP) & HWCAP_ATOMICS ? 0 : 1];
	return (struct stub_head){
		.entry = AGENT_AT(l->entry), .exit = AGENT_AT(l->exit), .knock = AGENT_AT(agent_knock)};
}

bool encode_branch(uint32_t *out, uint64_t at, uint64_t to)
{
	int64_t d = (int64_t)(to - at);
	*out = 0x14000000u | ((uint32_t)(d >> 2) & 0x03ffffffu);
	return !(d & 3) && d >= -(1 << 27) && d < 1 << 27;
}

bool encode_jump(unsigned char *out, size_t len, uint64_t at, uint64_t to)
{
	uint32_t code;
	bool ok = encode_branch(&code, at, to);
	memcpy(out, &code, sizeof(code));
	return ok && len == sizeof(code);
}

/* Stores `ldr x16, from` for address `at`. Returns false if `from` is out of reach. */
static bool put_literal(uint32_t *out, uint64_t at, uint64_t from)
{
	int64_t d = (int64_t)(from - at);
	*out = 0x58000010u | ((uint32_t)(d >> 2) & 0x7ffffu) << 5;
	return !(d & 3) && d >= -LITERAL_MOST && d < LITERAL_MOST;
}

bool encode_stub(unsigned char out[STUB_SIZE], uint64_t at, uint64_t head, uint64_t ip, const unsigned char *moved,
		 size_t n, bool early)
{
	uint32_t code[STUB_SIZE / 4] = {
		0xd1017508u, /*  0 sub x8, x8, #93 */
		0xb4000188u, /*  4 cbz x8, exit */
		0x91017508u, /*  8 add x8, x8, #93 */
		STP_PUSH,    /* 12 */
		0,           /* 16 ldr x16, entry */
		0xd63f0200u, /* 20 blr x16 */
		LDP_POP,     /* 24 made */
		0,           /* 28 b ip */
		0,           /* 32 refused: ldr x16, knock */
		0xd63f0200u, /* 36 blr x16 */
		LDP_POP,     /* 40 */
		SITE_CALL,   /* 44 */
		0,           /* 48 b ip */
		0,           /* 52 ldr x16, exit */
		0xd63f0200u, /* 56 blr x16 */
		0xd4200000u, /* 60 brk #0 */
	};
	_Static_assert(STUB_RAW == 44 && STUB_EXIT == 52 && STUB_BACK == 28 && STUB_REFUSED == 32,
		       "the offsets in a stub");
	(void)moved, (void)early;
	bool ok = n == 0 && put_literal(code + 4, at + 16, head + offsetof(struct stub_head, entry)) &&
		  put_literal(code + 8, at + STUB_REFUSED, head + offsetof(struct stub_head, knock)) &&
		  put_literal(code + 13, at + STUB_EXIT, head + offsetof(struct stub_head, exit)) &&
		  encode_branch(code + 7, at + STUB_BACK, ip) && encode_branch(code + 12, at + STUB_AFTER_CALL, ip);
	memcpy(out, code, sizeof(code));
	return ok;
}
