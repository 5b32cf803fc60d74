/* The machine code that the patch engine writes (Intel SDM vol. 2). The functions only compute. */
#ifndef SCTRACE_ENGINE_PATCH_CODE_ENCODE_H
#define SCTRACE_ENGINE_PATCH_CODE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes jmp rel8 (eb), two bytes, for address `at`. Returns false if `to` is out of reach. */
bool encode_jmp8(unsigned char out[2], uint64_t at, uint64_t to);
/* Writes jmp rel32 (e9), five bytes, for address `at`. Returns false if `to` is out of reach. */
bool encode_jmp32(unsigned char out[5], uint64_t at, uint64_t to);

/* Offsets in a stub. */
#define STUB_SIZE       64
#define STUB_LEA_DOWN   5  /* from here on the stack pointer is 128 lower */
#define STUB_LEA_UP     19 /* the agent returns here */
#define STUB_DECIDE     27 /* tests whether the agent has made the call */
#define STUB_RAW        29 /* the program's own call instruction, which stops */
#define STUB_AFTER_CALL 31 /* the call has been made */
#define STUB_MOVED      38 /* the instructions that moved into the stub */
#define STUB_EARLY      43 /* the instruction before the call, if it moved; in this case, no other instruction has */
#define STUB_EXIT       57 /* exit(2) */
#define STUB_MOVED_MAX  (STUB_EXIT - STUB_MOVED - 5)
#define STUB_EARLY_MAX  (STUB_EXIT - STUB_EARLY - 2)

/*
 * Writes a stub at `at` for a site. `ip` is the address after the site's instruction, as `syscall` leaves it in rcx.
 * `moved` are the `n` bytes of instructions that move from `ip` into the stub. If `early` is true, `moved` is the
 * instruction before the call instead, and the site's jump leads to STUB_EARLY. The stub is:
 *   lea -60(%rax),%ecx; jrcxz exit     exit(2) uses no stack, because its thread may have none
 *   lea -128(%rsp),%rsp                skips the red zone (System V ABI, 3.2.2)
 *   mov $agent_entry,%r11d; call *%r11
 *   lea 128(%rsp),%rsp
 *   jrcxz after                        the agent has made the call
 *   syscall                            the agent has not: this call stops, and the tracer handles it
 *   after: lea ip(%rip),%rcx; MOVED; jmp ip + n
 *   early: MOVED; jmp stub
 *   exit: mov $agent_exit,%ecx; jmp *%rcx
 * Returns false if `ip` is out of reach or too much is to be moved.
 */
bool encode_stub(unsigned char out[STUB_SIZE], uint64_t at, uint64_t ip, const unsigned char *moved, size_t n,
		 bool early, uint32_t agent_entry, uint32_t agent_exit);

#endif
