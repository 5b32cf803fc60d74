/*
 * How 32-bit programs differ: their structures (compat.c), and the calls that i386 multiplexes through one number:
 * socketcall(2), ipc(2), and old calls that take a pointer to their arguments.
 */
#ifndef SCTRACE_DECODE_COMPAT_H
#define SCTRACE_DECODE_COMPAT_H

#include "event.h"

#include <stdbool.h>

struct mem;

/*
 * Finds out which call `c` really makes, as the kernel does. If `c` makes an inner call, fills in the number (from
 * syscall_inside()), the description and the arguments of *real, and returns true. Returns false if `c` is an ordinary
 * call, or if the arguments of the inner call cannot be read.
 */
bool decode_inside(const struct call *c, const struct mem *mem, struct call *real);

/*
 * Returns the result of the inner call after `outer`, the outer call, has ended. For shmat(2), ipc(2) stores the
 * resulting address in memory.
 */
int64_t decode_inside_result(const struct call *outer, const struct mem *mem);

#endif
