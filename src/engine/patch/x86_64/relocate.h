/* SPDX-License-Identifier: MIT */
/*
 * Finds out which instructions may move into a call's stub to make room for a long jump, and what may lead to them. The
 * functions only compute.
 */
#ifndef SCTRACE_ENGINE_PATCH_X86_64_RELOCATE_H
#define SCTRACE_ENGINE_PATCH_X86_64_RELOCATE_H

#include "engine/patch/x86_64/encode.h"
#include "tracee/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The addresses in an ELF object's code to which a jump may lead, for functions whose bounds are not known. The
 * functions read the program's memory only through struct mem.
 *
 * A long jump replaces the instructions after a call, so no thread may reach these bytes except through the call. The
 * unwind table gives the bounds of a function, whose instructions can then be decoded one after the other (relocate.h).
 * Programs of musl, most static programs, and assembly have no unwind table. Then the following is taken for the target
 * of a jump, wherever it is in the object's memory, whether or not an instruction begins there:
 *
 *   - the target of a jmp, jcc, call or xbegin with a distance of four bytes, and the address of an operand that is given
 *     as such a distance (lea, and data between functions).
 *   - a number of eight bytes that is an address of the code; at a multiple of eight, also one that will be after the
 *     loader has relocated it. If the code is below 4 GiB, also such a number of four bytes, which must be at a multiple
 *     of four unless it is in the code. These are pointers to functions, exported symbols, operands, and jump tables of
 *     addresses.
 *   - each entry of a table of four-byte distances from its beginning, if an instruction computes the address of that
 *     beginning. These are the other jump tables of compilers.
 *
 * So the list contains the target of each long branch of the object, whatever its offset, and each address in its memory;
 * relocate_near() adds the short branches. It is assumed that no other code knows addresses in this object that are not
 * in its memory, and that the object does not compute addresses of code in other ways. Assembly can do that, so
 * relocate_entry() and relocate_near() refuse code near an indirect jump that does not look like a compiler's. The tests
 * regs-entered* contain an example for each rule.
 */

/*
 * Finds the targets in the ELF object loaded at `base`. `m` must show the program's own code, without the engine's
 * jumps. Returns NULL if the object cannot be read, or is larger than 64 MiB. The caller frees the result with
 * relocate_targets_free().
 */
struct targets *relocate_targets_find(const struct mem *m, uint64_t base);

/* May a jump lead to an address from `lo` on and below `hi`? Short jumps are not included (relocate_near()). */
bool relocate_targets_include(const struct targets *t, uint64_t lo, uint64_t hi);

/*
 * `code` holds the `n` bytes after a call, at address `ip`. Returns how many bytes of whole instructions may move (1 to
 * RELOCATE_MAX), or 0 if these instructions cannot run at another address. Sets *taken to the number of bytes from `ip`
 * on, at least 3, that no thread may reach except through the call: the instructions that move, and, if the last of
 * them never continues with the next instruction, padding after it.
 */
size_t relocate_length(const unsigned char *code, size_t n, uint64_t ip, size_t *taken);

/*
 * Returns the size of the instructions before the call at `site` that are copied to the stub, so that a long jump can be
 * written over the first of them: at most RELOCATE_EARLY_MAX bytes. The others are copied, and also remain in place.
 * Returns 0 if this is not possible. `code` holds the `n` bytes of a function that is loaded at `fn`.
 */
size_t relocate_early(const unsigned char *code, size_t n, uint64_t fn, uint64_t site);

/*
 * Copies `n` bytes of instructions at address `from` to `out`, so that they can run at address `to`. All instructions
 * but the last keep their length, and the last does not become shorter, so that each address in the copy is that of the
 * same instruction (stepout.c). Returns the length of the copy, or 0 if this is not possible, the copy would be larger
 * than `room`, or it cannot reach what the instructions refer to.
 */
size_t relocate_copy(unsigned char *out, size_t room, const unsigned char *code, size_t n, uint64_t from, uint64_t to);

/* How a thread can reach an address, as far as the code around it shows. */
enum relocate_entry {
	ENTRY_NONE,   /* it cannot, except through the instruction before */
	ENTRY_TABLE,  /* only by an indirect jump to an address that comes from memory, as in a compiler's jump table */
	ENTRY_BRANCH, /* by a direct branch */
	ENTRY_UNKNOWN, /* there is an indirect jump whose targets the program computes */
	ENTRY_GARBLED, /* not known: no instruction begins at the call, or some bytes are not an instruction */
};

/*
 * How can a thread reach an address above `lo` and below `hi`? `code` holds the `n` bytes of the function at `fn` with
 * the call at `site`. Its instructions are decoded one after the other. Branches of other functions are not considered.
 */
enum relocate_entry relocate_entry(const unsigned char *code, size_t n, uint64_t fn, uint64_t site, uint64_t lo,
				   uint64_t hi);

/*
 * The same two functions if the bounds of the function are not known. `code` holds the `n` bytes at `at`, at most
 * RELOCATE_NEAR before and after the call, and `t` are the targets of the object. It is not known where the instructions
 * begin. So all possible beginnings are considered: each of the first and last bytes, each target, the instruction after
 * the call, and all that follows from these. The instruction before the call is known if there is no other possibility.
 */
enum relocate_entry relocate_near(const unsigned char *code, size_t n, uint64_t at, uint64_t site, uint64_t lo,
				  uint64_t hi, const struct targets *t);
size_t relocate_early_near(const unsigned char *code, size_t n, uint64_t at, uint64_t site, const struct targets *t);
#define RELOCATE_NEAR     512
#define RELOCATE_NEAR_MAX (2 * RELOCATE_NEAR)

#endif
