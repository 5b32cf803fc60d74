/* The end of a recording, kept in memory (--last): whole blocks, of which the oldest are dropped. */
#ifndef SCTRACE_RECORDING_KEEP_H
#define SCTRACE_RECORDING_KEEP_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* How much is kept: at least so many calls, at least so many bytes, or at least the last so many nanoseconds; one is not 0. */
struct recording_last {
	uint64_t calls, bytes, ns;
};

/* Reads "1000" (calls), "64M" (bytes) or "30s": 0, or -EINVAL and `why`. */
int recording_last_parse(const char *text, struct recording_last *last, struct buf *why);

/* A block as it will stand in the file. */
struct kept_block {
	char *bytes; /* owned */
	size_t n;
	uint64_t calls;  /* that ended in it */
	uint64_t end_ns; /* of its last event */
};

/* Zero-initialised but for `last`. */
struct recording_kept {
	struct recording_last last;
	VEC(struct kept_block) blocks; /* the oldest first, from `first` on */
	size_t first;
	uint64_t calls, bytes; /* in them */
};

/* Appends a block, which it owns from now on, and drops what is too old; -ENOMEM: the block is lost. */
int recording_keep(struct recording_kept *k, struct kept_block block);
void recording_kept_free(struct recording_kept *k);

#endif
