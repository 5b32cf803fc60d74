/* SPDX-License-Identifier: MIT */
/*
 * For --last: keeps the end of a recording in memory, as whole blocks, and drops the oldest ones. Blocks with the last
 * events of a thread are kept longer, because other threads can make any number of calls before sctrace sees a crash.
 */
#ifndef SCTRACE_RECORDING_KEEP_H
#define SCTRACE_RECORDING_KEEP_H

#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>

struct buf;

/* How much of the end of the recording must at least be kept. Exactly one member is not 0. */
struct recording_last {
	uint64_t calls, bytes, ns;
};

/* Parses "1000" (calls), "64M" (bytes) or "30s". Returns 0, or -EINVAL with the reason in `why`. */
int recording_last_parse(const char *text, struct recording_last *last, struct buf *why);

/* A compressed block, as it will be written to the file. */
struct kept_block {
	char *bytes; /* freed by the owner of the struct */
	size_t n;
	uint64_t number; /* the blocks of a recording are numbered consecutively */
	uint64_t calls;  /* number of calls that ended in the block */
	uint64_t end_ns; /* time of the block's last event */
	uint64_t pins;   /* the number of reasons to keep the block, however old it is; 0: none */
};

/* A zeroed struct is empty. The caller must set `last`. */
struct recording_kept {
	struct recording_last last;
	VEC(struct kept_block) pinned; /* pinned blocks, which are older than all of `blocks`; the oldest one first */
	VEC(struct kept_block) blocks; /* the newest blocks, from index `first` on; the oldest one first */
	size_t first;
	uint64_t calls, bytes; /* totals of `blocks`, without the pinned ones */
};

/* Appends a block, and drops blocks that are no longer needed. The block belongs to `k` afterwards. */
void recording_keep(struct recording_kept *k, struct kept_block block);
/* Adds `by` (1 or -1) to the pins of a block. Does nothing if the block was dropped. */
void recording_pin(struct recording_kept *k, uint64_t number, int by);
void recording_kept_free(struct recording_kept *k);

#endif
