/* Reads one thread's ring: converts records to items in order of time. The contents of a ring are never trusted. */
#ifndef SCTRACE_ENGINE_PATCH_RECORD_READER_H
#define SCTRACE_ENGINE_PATCH_RECORD_READER_H

#include "engine/patch/code/ring.h"
#include "tracee/mem.h"

#include <stdbool.h>
#include <sys/types.h>

enum record_item_kind {
	RECORD_NONE,
	RECORD_ENTER,  /* a call began */
	RECORD_EXIT,   /* it returned */
	RECORD_VANISH, /* it will not return: its thread has ended */
};

struct record_item {
	enum record_item_kind kind;
	uint64_t ticks;                    /* time of the item */
	uint64_t began;                    /* time at which the call began, or continued after an interruption */
	bool live;                         /* its memory must be read from the program: no captures were made */
	bool continued;                    /* a call that a signal interrupted continues */
	const struct agent_record *record; /* followed by its captures unless `live`; valid until reader_pop() */
};

/* Initialise with zeros, except `ring` and `limit`. Free with reader_free(). */
struct record_reader {
	struct agent_ring *ring; /* NULL: the ring is gone, and only copied records are left */
	uint32_t limit;          /* bytes of the ring that are used */
	uint32_t off;            /* offset of the next record */
	uint64_t consumed;
	/* Records that were copied and not yet reported. */
	unsigned char *bytes;
	size_t n, at, cap;
	bool entered;  /* the beginning of the next record, or of the open one, was reported */
	bool has_open; /* a call is in progress: its record, and captures of its input */
	union {
		struct agent_record open;
		unsigned char open_bytes[RECORD_MOST];
	};
	uint64_t open_at;  /* its value of agent_ring.open */
	uint64_t went_on;  /* time at which the open call continued after an interruption, or 0 */
	bool gone;         /* nothing more will come of the thread */
	uint64_t ended_at; /* when it ended, or 0: it runs on, and it is not known how the open call ends */
};

void reader_free(struct record_reader *r);
/*
 * Copies what was committed since the last time, and looks for a call in progress. Returns 0, -EPROTO if the ring was
 * overwritten (its contents are dropped), or -ENOMEM.
 */
int reader_fill(struct record_reader *r);
/*
 * The call in progress has come back with `result` at `t1`, and its thread will not commit the record: appends it, without captures
 * where it is `live`. The thread is stopped, reader_fill() was called, and the caller takes the record out of the ring. 0 or -ENOMEM.
 */
int reader_complete(struct record_reader *r, int64_t result, uint64_t t1, bool live);
/*
 * The same for a call that a signal interrupted (`result`: -ERESTART*) and that the kernel restarts at once: the record
 * stays in the ring and describes the continued call.
 */
int reader_interrupt(struct record_reader *r, int64_t result, uint64_t t1);
/* The open call is not made now, but anew. Where its beginning was reported already, an end is reported, too (ERESTARTNOINTR): true. */
bool reader_withdraw(struct record_reader *r, uint64_t ticks);
/* The next item, with kind RECORD_NONE if there is none. reader_pop() removes it. */
struct record_item reader_peek(const struct record_reader *r);
void reader_pop(struct record_reader *r);

/*
 * The open record gets a capture of `len` bytes at `addr`, which the caller reads to where this returns; NULL where there is no room.
 * Afterwards reader_still_open() tells whether the call was in progress all the time: if not, it is not open any more.
 */
void *reader_capture_open(struct record_reader *r, uint64_t addr, uint32_t len);
void reader_verify_open(struct record_reader *r);
/* Is the beginning of the open call still to be reported? */
bool reader_wants_open(const struct record_reader *r);

/* The captures after a record as memory: {captures_read, (void *)record}. */
ssize_t captures_read(void *record, uint64_t addr, void *buf, size_t n);

#endif
