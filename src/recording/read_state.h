/* SPDX-License-Identifier: MIT */
/* The state of the reader of recordings, which read.c and read_names.c share. */
#ifndef SCTRACE_RECORDING_READ_STATE_H
#define SCTRACE_RECORDING_READ_STATE_H

#include "base/map.h"
#include "recording/read.h"

#include <zstd.h>

/* A thread that occurs in the current block. */
struct block_thread {
	pid_t tid, pid;
	struct item_calls calls;
	struct buf captures; /* the memory of the thread's current call */
	size_t entry;        /* how many bytes of `captures` were captured when the call began */
};

struct recording {
	struct engine engine; /* must be the first member */
	struct engine_ops ops;
	struct stack stack;
	struct recording_answers names;
	struct recording_head head;
	struct engine_result result;
	struct buf footer;
	bool complete; /* the item ITEM_END was read */
	bool damaged;
	bool continues; /* the file contains more data after ITEM_END */

	int fd;
	uint64_t size, done; /* size of the file (0: not a regular one), and bytes read so far */
	ZSTD_DCtx *zstd;
	unsigned char *input;
	ZSTD_inBuffer in;
	bool ended; /* the end of the file was reached, or the file cannot be read any further */
	int err;    /* -errno of the read(2) that failed; 0: none did */

	unsigned char *content; /* the decompressed items of the current block */
	size_t room;
	bool cut;              /* the file ends within the current block */
	struct item_reader at; /* position of the next item */
	uint64_t time_ns;
	VEC(struct block_thread *) threads; /* the first `nthreads` ones occur in the block; the others are spare */
	size_t nthreads;
	struct map known; /* recording_name_key() -> the address of the answer in the current block */

	struct captured_list captures; /* the memory of the last call */
	struct captured_memory before, after;
	struct mem mem, entry_mem;
	VEC(const unsigned char *) frames; /* addresses, in the current block, of the stack frames of the last event */
	bool told;                         /* an event was returned; its frames are dropped before the next one */
};

/* Initialises r->names and r->stack, which return the names and stacks that were recorded (read_names.c). */
void recording_answer(struct recording *r);
/* Reads the rest of an ITEM_NAME, whose first byte was already read, and remembers the position of its answer. */
void recording_learn(struct recording *r, struct item_reader *item);

#endif
