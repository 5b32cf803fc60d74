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
#ifndef SCTRACE_ENGINE_PATCH_CODE_TARGETS_H
#define SCTRACE_ENGINE_PATCH_CODE_TARGETS_H

#include "tracee/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct targets;

/*
 * Finds the targets in the ELF object loaded at `base`. `m` must show the program's own code, without the engine's
 * jumps. Returns NULL if the object cannot be read, or is larger than 64 MiB. The caller frees the result with
 * targets_free().
 */
struct targets *targets_find(const struct mem *m, uint64_t base);
void targets_free(struct targets *t); /* `t` may be NULL */

/* May a jump lead to an address from `lo` on and below `hi`? Short jumps are not included (relocate_near()). */
bool targets_include(const struct targets *t, uint64_t lo, uint64_t hi);

#endif
