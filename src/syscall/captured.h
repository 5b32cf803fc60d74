/* SPDX-License-Identifier: MIT */
/* Lists of captures, as syscall/capture.h makes them: how they are made, searched and read as memory. */
#ifndef SCTRACE_SYSCALL_CAPTURED_H
#define SCTRACE_SYSCALL_CAPTURED_H

#include "base/buf.h"
#include "syscall/rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Captures: `bytes` contains struct captured, each followed by its bytes, from offset `from` to offset `to`. */
struct captured_list {
	const unsigned char *bytes;
	size_t from, to;
};

/* Sets *c to the capture at offset *at, and *at to the offset of the next one. Returns its bytes, or NULL at the end. */
static inline const unsigned char *captured_next(const struct captured_list *list, size_t *at, struct captured *c)
{
	if (*at >= list->to)
		return NULL;
	const unsigned char *head = list->bytes + *at;
	__builtin_memcpy(c, head, sizeof(*c));
	*at += sizeof(*c) + ((c->len + 7) & ~(size_t)7);
	return head + sizeof(*c);
}

/* Appends a capture to `out`, which contains only captures. */
void captured_add(struct buf *out, uint64_t addr, const void *bytes, size_t n, bool before);

/*
 * Memory as it was before the call or after it. Captures of that time are preferred. Memory that was captured at only one of
 * the two times did not change.
 */
struct captured_memory {
	const struct captured_list *list;
	bool before;
	size_t at; /* the offset of the capture that was read last, 0 at first: memory is mostly read in the order of its captures */
};
/* A `read` function of struct mem for a struct captured_memory. Reading what was not captured fails with -EFAULT. */
ssize_t captured_read(void *memory, uint64_t addr, void *buf, size_t n);

#endif
