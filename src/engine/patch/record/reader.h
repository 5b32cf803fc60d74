/* SPDX-License-Identifier: MIT */
/* Reads one thread's ring and converts its records to items in order of time. The contents of a ring are untrusted. */
#ifndef SCTRACE_ENGINE_PATCH_RECORD_READER_H
#define SCTRACE_ENGINE_PATCH_RECORD_READER_H

#include "engine/patch/code/ring.h"
#include "syscall/captured.h"
#include "tracee/mem.h"

#include <stdbool.h>
#include <sys/types.h>

struct capture_source;

enum record_item_kind {
	RECORD_NONE,
	RECORD_ENTER,  /* a call began */
	RECORD_EXIT,   /* the call returned */
	RECORD_VANISH, /* the call will not return, because its thread has ended */
};

/* What reader_complete() notes in the record. */
enum record_mark {
	RECORD_LIVE = 1,   /* the record has only the captures that were made before the call */
	RECORD_CAUGHT = 2, /* a signal interrupted the call, and a handler will certainly run */
};

struct record_item {
	enum record_item_kind kind;
	uint64_t ticks; /* time of the item */
	uint64_t began; /* time at which the call began, or continued after an interruption */
	bool live;      /* the memory must be read from the program, except for captures made before the call */
	bool caught;    /* RECORD_CAUGHT */
	bool continued; /* the item continues a call that a signal interrupted */
	bool withdrawn; /* the thread has not made the call (reader_withdraw()) */
	bool committed; /* the record is complete: the call has returned */
	/* The record, followed by its captures; valid until reader_pop(). */
	const struct agent_record *record;
};

#define REPEATS_MOST 4 /* handlers that interrupt each other just before they return */

/* Initialise with zeros, except `ring`, `limit` and `end`. Free with reader_free(). */
struct record_reader {
	struct agent_ring *ring; /* NULL: the ring no longer exists, and only copied records are left */
	uint32_t limit, end;     /* see struct agent_ring; the program cannot change these copies */
	uint32_t off;            /* offset of the next record */
	uint64_t consumed;       /* number of bytes that were copied from the ring so far (agent_ring.consumed) */
	/*
	 * Records that were copied: bytes [at, n) of a buffer of `cap` bytes have not been reported yet. The buffer
	 * belongs to the reader.
	 */
	unsigned char *bytes;
	size_t n, at, cap;
	bool entered;  /* the beginning of the next record, or of the open record, has been reported */
	bool has_open; /* a call is in progress; `open` is its record, with captures of its input */
	union {
		struct agent_record open;
		unsigned char open_bytes[RECORD_MOST];
	};
	uint64_t open_at; /* the value of agent_ring.open when the open record was copied */
	/* The end of the current call was reported, but the thread has not yet committed the record of this call. */
	bool ahead;
	/* The stack pointers (agent_record.sp) of calls for which reader_repeats() was called; 0: none. */
	uint64_t repeats[REPEATS_MOST];
	/* A signal has interrupted the call, and sctrace assumes that the kernel has not restarted it yet. */
	bool halted;
	uint64_t went_on; /* when the open call continued after an interruption; 0: it was not interrupted */
	bool ended;       /* the thread has no ring any more, so no new records will come */
	/* When the thread ended; 0: the thread was detached, and it is not known how the open call ends. */
	uint64_t ended_at;
};

void reader_free(struct record_reader *r);
/* Returns the number of bytes of records that were not copied yet. */
uint64_t reader_waiting(const struct record_reader *r);
/*
 * Copies the records that were committed since the previous call, and looks for a call in progress. Returns 0, or
 * -EPROTO if the program overwrote the ring (its contents are skipped).
 */
int reader_fill(struct record_reader *r);
/*
 * Appends the record of the call in progress, which has returned `result` at `t1` and whose thread will not commit the
 * record. `t1` is a value of the time stamp counter, and `marks` consists of values of enum record_mark. The thread must
 * be stopped, reader_fill() must have been called, and the caller must remove the record from the ring.
 */
void reader_complete(struct record_reader *r, int64_t result, uint64_t t1, unsigned marks);
/*
 * Like reader_complete(), but the thread will commit the record later. The committed record is then ignored. The
 * thread must stay stopped until the end of the call was reported.
 */
void reader_end(struct record_reader *r, int64_t result, uint64_t t1);
/*
 * A signal came after the thread had committed the record of an rt_sigreturn(2), and before it made the call. The thread
 * will make the call later, at the same stack pointer, and commit a second record, which is then ignored.
 */
void reader_repeats(struct record_reader *r, uint64_t sp);
/*
 * Like reader_complete(), but for a call that a signal interrupted (`result` is -ERESTART*) and that the kernel
 * will restart: the record stays in the ring and describes the restarted call. This call is not reported while `halted`
 * is set, because the thread may stop, or end, before the call is restarted. reader_fill() clears `halted` if the
 * restarted call has returned.
 */
void reader_interrupt(struct record_reader *r, int64_t result, uint64_t t1);
/*
 * Reads the memory that was captured before the call in progress again, because the restarted call will read it again:
 * select(2) and similar calls have changed their timeouts. The thread must be stopped.
 */
void reader_renew(struct record_reader *r, const struct mem *live);
/*
 * Discards the open call, because the thread has left it and will make it again later. If the beginning of the call was
 * already reported, an end (ERESTARTNOINTR) is reported as well, and the function returns true.
 */
bool reader_withdraw(struct record_reader *r, uint64_t ticks);
/* Returns the next item. Its kind is RECORD_NONE if there is none. reader_pop() removes it. */
struct record_item reader_peek(const struct record_reader *r);
void reader_pop(struct record_reader *r);

/* Adds the memory that the recipe names to the open record. Its contents and the memory are untrusted. */
void record_capture_open(struct record_reader *r, const struct agent_recipe *recipe, const struct capture_source *from);
/*
 * Called after captures were added to the open record: discards the open record if the call was not in progress all the
 * time.
 */
void reader_verify_open(struct record_reader *r);
/*
 * The thread has stopped before the call of its open record, so that sctrace can report the beginning of the call. The next
 * reader_fill() finds the record, with this time stamp. Before, it ignores the record, because the call has not begun.
 */
void reader_announce(struct record_reader *r, uint64_t ticks);
/* Must the beginning of the open call still be reported? */
bool reader_wants_open(const struct record_reader *r);

/* Returns the captures of a record, which contain its names as well. */
static inline struct captured_list record_captures(const struct agent_record *r)
{
	return (struct captured_list){(const unsigned char *)r, r->head, r->size};
}

#endif
