/* Calls that i386 makes through one number: socketcall(2), ipc(2), and old calls that take a pointer to their arguments. */
#ifndef SCTRACE_DECODE_INSIDE_H
#define SCTRACE_DECODE_INSIDE_H

#include "event.h"

#include <stdbool.h>

struct mem;

/*
 * What `c` really is, as the kernel takes it apart: fills the number (syscall_inside()), the description
 * and the arguments of *real, and says true; false where it is a call like any other, or its arguments cannot be read.
 */
bool decode_inside(const struct call *c, const struct mem *mem, struct call *real);

/* The result of the outer call, once it has ended, as the one inside gives it: ipc(2) hands shmat's address out in memory. */
int64_t decode_inside_result(const struct call *outer, const struct mem *mem);

#endif
