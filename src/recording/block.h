/* The state of a reader of recordings that its files share. */
#ifndef SCTRACE_RECORDING_BLOCK_H
#define SCTRACE_RECORDING_BLOCK_H

#include "base/map.h"
#include "recording/read.h"

#include <zstd.h>

/* A thread of the block. */
struct block_thread {
	pid_t tid, pid;
	struct item_calls calls;
	struct captures entry; /* of the call in progress */
};

struct recording {
	struct engine engine; /* the first member */
	struct stack stack;
	struct names names;
	struct recording_head head;
	struct engine_result result;
	struct buf footer;
	bool complete; /* the end was read */
	bool damaged;

	int fd;
	uint64_t size, done; /* bytes of the file; size 0: it is not a regular file */
	ZSTD_DCtx *zstd;
	unsigned char *input;
	ZSTD_inBuffer in;
	bool ended; /* the file has been read */

	unsigned char *content; /* of the block */
	size_t room;
	bool cut;              /* the file ends within the block */
	struct item_reader at; /* the next item */
	uint64_t time_ns;
	VEC(struct block_thread *) threads; /* of the block, the first `nthreads`; the others are unused */
	size_t nthreads;
	struct map known; /* names: kind, thread and key -> the item in the block */

	struct captures captures; /* of the last event */
	struct mem mem;
	VEC(const unsigned char *) frames; /* of the stack of the last event, in the block */
	bool told;                         /* an event was given: its frames are dropped before the next one */
};

/* Reads the next block: 1, 0 at the end of the file, -EBADMSG where it is damaged, or -errno. A block that is cut short is read as far as it goes. */
int recording_next_block(struct recording *r);
/* The next event: true and *ev. */
bool recording_next(struct recording *r, struct event *ev);
/* Sets up r->names and r->stack. */
void recording_answer(struct recording *r);
/* Keeps the answer at `item`, right behind its tag. */
void recording_learn(struct recording *r, struct item_reader *item);

#endif
