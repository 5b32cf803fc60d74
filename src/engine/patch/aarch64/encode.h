/* SPDX-License-Identifier: MIT */
/*
 * The machine code that the patch engine writes on aarch64 (Arm Architecture Reference Manual, C6.2), and the stack frame of
 * its agent. The functions only compute. Included by C and by agent.S.
 *
 * `svc #0` and `b` both have 4 bytes, so each call site can be patched without moving other instructions. A branch reaches
 * 128 MiB, so stubs must be near their sites.
 */
#ifndef SCTRACE_ENGINE_PATCH_AARCH64_ENCODE_H
#define SCTRACE_ENGINE_PATCH_AARCH64_ENCODE_H

/*
 * The frame, from its lowest address. The program's memory up to RED_ZONE bytes below its stack pointer does not change. The
 * procedure call standard has no red zone, but code of Go's compiler stores its frame pointer 8 bytes below the stack pointer.
 */
#define FRAME_X16  0
#define FRAME_X30  8
#define FRAME_X9   16
#define FRAME_X11  32
#define FRAME_X13  48
#define FRAME_SIZE 64
#define RED_ZONE   128

/* From the slot, minus the offset of its histogram: where buckets are counted from (agent.S, resume.c). */
#define BUCKET_AT (4 * (16 * 58 + 31))

/* Offsets in a stub. */
#define STUB_SIZE       64
#define STUB_SAVE       12 /* x8 has its value again; nothing is stored yet */
#define STUB_CALL       20 /* calls the agent */
#define STUB_MADE       24 /* the agent has made the call */
#define STUB_BACK       28 /* the registers have their values again */
#define STUB_REFUSED    32 /* the agent has not made the call */
#define STUB_STACK_END  40 /* the last instruction that uses the stack */
#define STUB_RAW        44 /* the program's own call instruction, which stops */
#define STUB_AFTER_CALL 48 /* that call has been made */
#define STUB_EXIT       52 /* exit(2) */
/* No instruction moves into a stub. */
#define STUB_MOVED         STUB_AFTER_CALL
#define STUB_EARLY         0
#define RELOCATE_MAX       1
#define RELOCATE_EARLY_MAX 1

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SITE_CALL 0xd4000001u /* svc #0 */

/*
 * The beginning of an area of stubs, in place of its first stub: the addresses of the agent's code for a call, for exit(2), and
 * for a call that the agent has not made. The first two depend on the processor (agent.S).
 */
struct stub_head {
	uint64_t entry, exit, knock;
	uint64_t pad[5];
};
_Static_assert(sizeof(struct stub_head) == STUB_SIZE, "in place of a stub");
/* Returns the beginning of an area of stubs. */
struct stub_head encode_head(void);

/* Writes the instruction `b to` for address `at`. Returns false if `to` is out of reach or not an instruction's address. */
bool encode_branch(uint32_t *out, uint64_t at, uint64_t to);
/* The same, for jumps of `len` bytes, which must be 4. */
bool encode_jump(unsigned char *out, size_t len, uint64_t at, uint64_t to);

/*
 * Writes a stub at `at`, in the area that begins at `head`, for a site. `ip` is the address after the site's instruction.
 * No instruction moves into a stub, so `n` must be 0. The way back is a direct branch, so the program's code needs no
 * landing pad (BTI). The stub is:
 *   sub x8, x8, #93; cbz x8, exit; add x8, x8, #93     exit(2) uses no stack, because its thread may have none
 *   stp x16, x30, [sp, #-(RED_ZONE + FRAME_SIZE)]!
 *   ldr x16, stub_head.entry; blr x16
 *   ldp x16, x30, [sp], #...; b ip
 *   refused: ldr x16, stub_head.knock; blr x16          calls for the tracer (agent.S), if svc does not
 *   ldp x16, x30, [sp], #...; svc #0; b ip              this call stops, and the tracer handles it
 *   exit: ldr x16, stub_head.exit; blr x16              in the agent, x30 shows which stub has called it
 * Returns false if `ip` or `head` is out of reach.
 */
bool encode_stub(unsigned char out[STUB_SIZE], uint64_t at, uint64_t head, uint64_t ip, const unsigned char *moved,
		 size_t n, bool early);

/* Only other processors need the addresses to which jumps may lead. */
struct targets;
static inline void relocate_targets_free(struct targets *t)
{
	(void)t;
}
#endif

#endif
