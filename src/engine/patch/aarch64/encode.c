#include "engine/patch/aarch64/encode.h"

#include <string.h>

#define FRAME_DROP   ((RED_ZONE + FRAME_SIZE) / 8)              /* as the field imm7 of stp and ldp */
#define STP_PUSH     (0xa9807bf0u | (-FRAME_DROP & 0x7f) << 15) /* stp x16, x30, [sp, #-...]! */
#define LDP_POP      (0xa8c07bf0u | FRAME_DROP << 15)           /* ldp x16, x30, [sp], #... */
#define LITERAL_MOST (1 << 20)

bool encode_branch(uint32_t *out, uint64_t at, uint64_t to)
{
	int64_t d = (int64_t)(to - at);
	*out = 0x14000000u | ((uint32_t)(d >> 2) & 0x03ffffffu);
	return !(d & 3) && d >= -(1 << 27) && d < 1 << 27;
}

/* Stores `ldr x16, from` for address `at`. Returns false if `from` is out of reach. */
static bool put_literal(uint32_t *out, uint64_t at, uint64_t from)
{
	int64_t d = (int64_t)(from - at);
	*out = 0x58000010u | ((uint32_t)(d >> 2) & 0x7ffffu) << 5;
	return !(d & 3) && d >= -LITERAL_MOST && d < LITERAL_MOST;
}

bool encode_stub(uint32_t out[STUB_SIZE / 4], uint64_t at, uint64_t head, uint64_t ip)
{
	static const uint32_t code[STUB_SIZE / 4] = {
		0xd1017508u, /*  0 sub x8, x8, #93 */
		0xb4000168u, /*  4 cbz x8, exit */
		0x91017508u, /*  8 add x8, x8, #93 */
		STP_PUSH,    /* 12 */
		0,           /* 16 ldr x16, entry */
		0xd63f0200u, /* 20 blr x16 */
		0xb5000070u, /* 24 cbnz x16, refused */
		LDP_POP,     /* 28 */
		0,           /* 32 b ip */
		LDP_POP,     /* 36 refused */
		SITE_CALL,   /* 40 */
		0,           /* 44 b ip */
		0,           /* 48 ldr x16, exit */
		0xd61f0200u, /* 52 br x16 */
		0xd4200000u, /* 56 brk #0 */
		0xd4200000u,
	};
	_Static_assert(STUB_RAW == 40 && STUB_EXIT == 48 && STUB_AFTER_CALL == 32, "the offsets in a stub");
	memcpy(out, code, sizeof(code));
	return put_literal(out + 4, at + 16, head + offsetof(struct stub_head, entry)) &&
	       put_literal(out + 12, at + STUB_EXIT, head + offsetof(struct stub_head, exit)) &&
	       encode_branch(out + 8, at + STUB_AFTER_CALL, ip) && encode_branch(out + 11, at + STUB_RAW + 4, ip);
}
