/*
 * Calls that i386 multiplexes through one number: socketcall(2), ipc(2), and old calls that take a pointer to their
 * arguments.
 */
#ifndef SCTRACE_DECODE_INSIDE_H
#define SCTRACE_DECODE_INSIDE_H

#include "event.h"

#include <stdbool.h>

struct mem;

/*
 * Determines the call that `c` really makes, as the kernel does: fills in the number (syscall_inside()), the
 * description and the arguments of *real, and returns true. Returns false if it is an ordinary call, or if its
 * arguments cannot be read.
 */
bool decode_inside(const struct call *c, const struct mem *mem, struct call *real);

/* The result of the inner call, once the outer call has ended. ipc(2) returns shmat's address in memory. */
int64_t decode_inside_result(const struct call *outer, const struct mem *mem);

#endif
