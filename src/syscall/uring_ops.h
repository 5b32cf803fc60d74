/* SPDX-License-Identifier: MIT */
/* The operations of io_uring(7): the names and the properties that matter for counts and for --io. */
#ifndef SCTRACE_SYSCALL_URING_OPS_H
#define SCTRACE_SYSCALL_URING_OPS_H

#include "event.h"
#include "syscall/rules.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Summaries have rows for operations as well as for calls. The operation takes the place of the call's number, and this
 * number that of the architecture. It is not an AUDIT_ARCH_* value, so a program cannot make a call that is counted there.
 */
#define SYSCALL_URING_ARCH 0x00750000u

enum uring_use { URING_NO_FD, URING_FD, URING_DIRFD }; /* what the member `fd` of a request is */

struct uring_op {
	const char *name;   /* without IORING_OP_ */
	uint8_t fd;         /* enum uring_use */
	bool reads, writes; /* the result is the number of bytes that were moved */
	uint8_t memory;     /* enum uring_memory */
	bool positioned;    /* the member `off` is a position in the file; -1: the current position */
	bool opens;         /* the result is a new descriptor */
	bool renames;       /* it may change what descriptors refer to, or names of files, in another way */
};

/*
 * Is the first argument of this call of io_uring_enter(2) or io_uring_register(2) the index of a ring that the thread has
 * registered, and not a descriptor?
 */
bool uring_is_index(const struct call *c);
/* Sets t->rings. `names`: without operations that change names, because sctrace must look the names up before that. */
void uring_memory_tables(struct memory_tables *t, bool names);
/* Returns the operation, or NULL if it is newer than this table. */
const struct uring_op *uring_op(uint64_t opcode);

#endif
