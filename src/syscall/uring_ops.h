/* SPDX-License-Identifier: MIT */
/* The operations of io_uring(7): the names and the properties that matter for counts and for --io. */
#ifndef SCTRACE_SYSCALL_URING_OPS_H
#define SCTRACE_SYSCALL_URING_OPS_H

#include "event.h"

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
	bool vector;        /* the request points to an array of struct iovec */
	bool positioned;    /* the member `off` is a position in the file; -1: the current position */
	bool opens;         /* the result is a new descriptor */
};

/*
 * Is the first argument of this call of io_uring_enter(2) or io_uring_register(2) the index of a ring that the thread has
 * registered, and not a descriptor?
 */
bool uring_is_index(const struct call *c);
/* Returns the operation, or NULL if it is newer than this table. */
const struct uring_op *uring_op(uint64_t opcode);

#endif
