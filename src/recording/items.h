/* Writes and reads numbers, texts, calls and captures. Readers check all lengths: a recording may be damaged. */
#ifndef SCTRACE_RECORDING_ITEMS_H
#define SCTRACE_RECORDING_ITEMS_H

#include "base/buf.h"
#include "event.h"
#include "recording/captures.h"
#include "recording/format.h"

#define ORDER_IS_SAME(kind)                                                                                            \
	_Static_assert(ITEM_##kind - ITEM_ENTER == EV_##kind - EV_ENTER, "items are in the order of events")
ORDER_IS_SAME(EXIT);
ORDER_IS_SAME(VANISH);
ORDER_IS_SAME(SIGNAL);
ORDER_IS_SAME(STOP);
ORDER_IS_SAME(CONT);
ORDER_IS_SAME(NEW_TASK);
ORDER_IS_SAME(EXEC);
ORDER_IS_SAME(DEATH);
ORDER_IS_SAME(CALL);
#undef ORDER_IS_SAME

/* Appends a number, 7 bits in each byte, the lowest first. The highest bit says that another byte follows. */
void item_put(struct buf *out, uint64_t v);
/* Appends a signed number: 0, -1, 1, -2, 2, ... are written as the unsigned numbers 0, 1, 2, 3, 4, ... */
void item_put_signed(struct buf *out, int64_t v);
#define ITEM_NUMBER_MOST 10 /* largest number of bytes of a number */
/* Like item_put() and item_put_signed(), but store the number at `p`, and return the address after it. */
char *item_number_at(char *p, uint64_t v);
char *item_signed_at(char *p, int64_t v);
/* Appends the length of a text and its bytes. */
void item_put_text(struct buf *out, const char *s, size_t n);

/* A position in a block. If the block is too short or invalid, `bad` is set, and all further reads return 0. */
struct item_reader {
	const unsigned char *at, *end;
	bool bad;
};

uint64_t item_get(struct item_reader *r);
int64_t item_get_signed(struct item_reader *r);
/* Returns the address of a text within the block, and its length in *n. Returns "" if the text is invalid. */
const char *item_get_text(struct item_reader *r, size_t *n);

/*
 * The last calls of a thread in the block. The slot of a call is its number modulo RECORDING_SLOTS. A call is compared
 * with the call in its slot, if both have the same number.
 */
struct item_calls {
	struct call slots[RECORDING_SLOTS];
};

#define ITEM_CALL_MOST 256 /* largest number of bytes of a call */
/*
 * Stores the call of `ev` at `p`: its number, and its differences from the last call with this number. Returns the
 * address after it.
 */
char *item_call_at(char *p, struct item_calls *calls, const struct event *ev);
/* Reads into ev->call and ev->launch what item_call_at() has written. */
void item_get_call(struct item_reader *r, struct item_calls *calls, struct event *ev);
/*
 * Appends the captures of a call. `entry` contains the captures of the start of the call, or is NULL if they are not in
 * this block. A capture that is also in `entry` is written as its index there.
 */
void item_put_captures(struct buf *out, const struct call *c, const struct captures *captures,
		       const struct captures *entry);
void item_get_captures(struct item_reader *r, const struct call *c, struct captures *captures,
		       const struct captures *entry);

#endif
