/* SPDX-License-Identifier: MIT */
/* The machine code that the patch engine writes (Intel SDM vol. 2). The functions only compute. */
#ifndef SCTRACE_ENGINE_PATCH_X86_64_ENCODE_H
#define SCTRACE_ENGINE_PATCH_X86_64_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes jmp rel8 (eb), two bytes, for address `at`. Returns false if `to` is out of reach. */
bool encode_jmp8(unsigned char out[2], uint64_t at, uint64_t to);
/* Writes jmp rel32 (e9), five bytes, for address `at`. Returns false if `to` is out of reach. */
bool encode_jmp32(unsigned char out[5], uint64_t at, uint64_t to);
/* Writes the jump that has this length. */
bool encode_jump(unsigned char *out, size_t len, uint64_t at, uint64_t to);

/* Offsets in a stub. */
#define STUB_SIZE       64
#define STUB_LEA_DOWN   5           /* from here on the stack pointer is 128 lower */
#define STUB_LEA_UP     16          /* the agent returns here */
#define STUB_STACK_END  STUB_LEA_UP /* the last instruction that uses the stack */
#define STUB_DECIDE     24          /* tests whether the agent has made the call */
#define STUB_RAW        26          /* the program's own call instruction, which stops */
#define STUB_AFTER_CALL 28          /* the call has been made */
#define STUB_MOVED      35          /* the instructions that moved into the stub */
#define STUB_EARLY      40 /* the instructions before the call, if they moved; in this case, no other instruction has */
#define STUB_EXIT       58 /* exit(2) */
#define STUB_MOVED_MAX  (STUB_EXIT - STUB_MOVED - 5)
#define STUB_EARLY_MAX  (STUB_EXIT - STUB_EARLY - 2)

#define RELOCATE_MAX       14 /* the largest number of bytes that may move into a stub (relocate.h) */
#define RELOCATE_GROWTH    4  /* how much longer their copy may be, because a branch gets a larger distance */
#define RELOCATE_EARLY_MAX 12 /* the same for instructions before the call */
_Static_assert(RELOCATE_MAX + RELOCATE_GROWTH <= STUB_MOVED_MAX && RELOCATE_EARLY_MAX <= STUB_EARLY_MAX,
	       "a stub has room for all instructions that may move into it");

/*
 * The beginning of an area of stubs, in place of its first stub: the addresses of the agent's code for a call and for
 * exit(2). The stubs jump to these addresses.
 */
struct stub_head {
	uint64_t entry, exit;
	uint64_t pad[6];
};
_Static_assert(sizeof(struct stub_head) == STUB_SIZE, "in place of a stub");
/* Returns the beginning of an area of stubs. */
struct stub_head encode_head(void);

/*
 * Writes a stub at `at`, in the area that begins at `head`, for a site. `ip` is the address after the site's instruction,
 * as `syscall` leaves it in rcx.
 * `moved` are the `n` bytes of instructions that move from `ip` into the stub. If `early` is true, `moved` is the
 * instructions before the call instead, and the site's jump leads to STUB_EARLY. The stub is:
 *   lea -60(%rax),%ecx; jrcxz exit     exit(2) uses no stack, because its thread may have none
 *   lea -128(%rsp),%rsp                skips the red zone (System V ABI, 3.2.2)
 *   call *stub_head.entry(%rip)
 *   lea 128(%rsp),%rsp
 *   jrcxz after                        the agent has made the call
 *   syscall                            the agent has not: this call stops, and the tracer handles it
 *   after: lea ip(%rip),%rcx; MOVED; jmp ip + n
 *   early: MOVED; jmp stub
 *   exit: jmp *stub_head.exit(%rip)
 * MOVED may be longer than the instructions were (relocate_copy()), and ends with a jump if they did. Returns false if
 * `ip`, or what they refer to, is out of reach, or too much is to be moved.
 */
bool encode_stub(unsigned char out[STUB_SIZE], uint64_t at, uint64_t head, uint64_t ip, const unsigned char *moved,
		 size_t n, bool early);

/* The addresses in an ELF object's code to which a jump may lead (relocate.h). */
struct targets;
void relocate_targets_free(struct targets *t); /* `t` may be NULL */

#endif
