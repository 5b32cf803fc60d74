/* Numbers, texts, calls and captures as items of a recording: written to a buffer, and read with bounds. */
#ifndef SCTRACE_RECORDING_ITEMS_H
#define SCTRACE_RECORDING_ITEMS_H

#include "base/buf.h"
#include "event.h"
#include "recording/captures.h"
#include "recording/format.h"

/* Appends 7 bits a byte, the lowest first; the highest bit of a byte says that another one follows. */
void item_put(struct buf *out, uint64_t v);
/* The same of a signed number: 0, -1, 1, -2, 2, ... are 0, 1, 2, 3, 4, ... */
void item_put_signed(struct buf *out, int64_t v);
/* The length, and the bytes. */
void item_put_text(struct buf *out, const char *s, size_t n);

/* A place in a block. Where the block ends too early, or holds what no writer writes, `bad` is set and all reads give 0. */
struct item_reader {
	const unsigned char *at, *end;
	bool bad;
};

uint64_t item_get(struct item_reader *r);
int64_t item_get_signed(struct item_reader *r);
/* The text's `*n` bytes, within the block; "" where it is bad. */
const char *item_get_text(struct item_reader *r, size_t *n);

/* The calls of a thread that later calls of it, in the same block, are compared with. */
struct item_calls {
	struct call slots[RECORDING_SLOTS];
};

/* Appends the call: its number, and what differs from the last one of that number. */
void item_put_call(struct buf *out, struct item_calls *calls, const struct event *ev);
/* Reads what item_put_call() wrote into ev->call and ev->launch. */
void item_get_call(struct item_reader *r, struct item_calls *calls, struct event *ev);
/*
 * Appends the captures of a call. Those that `entry` has, too, are written as their index in it; NULL: it is not in this block.
 */
void item_put_captures(struct buf *out, const struct call *c, const struct captures *captures,
		       const struct captures *entry);
void item_get_captures(struct item_reader *r, const struct call *c, struct captures *captures,
		       const struct captures *entry);

#endif
