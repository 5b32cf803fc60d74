/*
 * Captures are copies of those parts of a program's memory that were read to show an event. They are written to a
 * recording. When the recording is read, the captures take the place of the program's memory.
 */
#ifndef SCTRACE_RECORDING_CAPTURES_H
#define SCTRACE_RECORDING_CAPTURES_H

#include "base/buf.h"
#include "base/vec.h"
#include "tracee/mem.h"

#include <stdint.h>

struct capture {
	uint64_t addr;
	size_t at; /* offset of the captured bytes in `bytes` */
	uint32_t len;
};

/* A zeroed struct is an empty list of captures. */
struct captures {
	VEC(struct capture) list;
	struct buf bytes;
	size_t last; /* index of the capture that was read last; the next read usually needs it or the next one */
	const struct mem *under; /* the memory whose reads are captured; NULL: none */
};

void captures_free(struct captures *c);
/* Removes all captures. From now on, reads of `under` through captures_keeping() are captured. */
void captures_begin(struct captures *c, const struct mem *under);
/*
 * Adds a capture of the `n` bytes at the address `addr`. Does nothing if one of the latest captures contains this memory,
 * or if there would be more than RECORDING_CAPTURES bytes.
 */
void captures_add(struct captures *c, uint64_t addr, const void *bytes, size_t n);
/* Returns memory whose reads are passed to `under` and captured. */
struct mem captures_keeping(struct captures *c);
/* Returns memory that consists of the captures. Reading anything else fails with -EFAULT. */
struct mem captures_memory(struct captures *c);

#endif
