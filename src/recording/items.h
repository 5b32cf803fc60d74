/* SPDX-License-Identifier: MIT */
/* Writes and reads numbers, texts, calls and captures. Readers check all lengths: a recording may be damaged. */
#ifndef SCTRACE_RECORDING_ITEMS_H
#define SCTRACE_RECORDING_ITEMS_H

#include "base/buf.h"
#include "base/memory.h"
#include "event.h"
#include "syscall/captured.h"
#include "tracee/mem.h"
#include "tracee/names.h"

#include <stdint.h>

/*
 * The format of recordings; see sctrace-recording(5). A recording is a header followed by zstd frames. A frame contains
 * a block, which is a sequence of items. A block can be read without the previous blocks.
 */

#define RECORDING_MAGIC "SCTRACE\n"
/* Version 1 has no ITEM_CALL, 1 and 2 have no NAME_RING, and 1 to 3 no ITEM_MEMORY: all captures are complete. */
#define RECORDING_VERSION 4
/* Bytes of the header: the magic, the version (4 bytes, little-endian), and 4 bytes that are 0. */
#define RECORDING_HEADER 16

#define RECORDING_BLOCK        (1u << 20)  /* a block is compressed and written when it has this size */
#define RECORDING_BLOCK_LAST   (1u << 16)  /* the same limit for --last, which drops whole blocks */
#define RECORDING_BLOCK_MOST   (64u << 20) /* a reader refuses a block that is larger than this */
#define RECORDING_CAPTURES     (32u << 20) /* maximum number of bytes in the captures of one event */
#define RECORDING_THREADS_MOST 4096        /* maximum number of threads in one block */
#define RECORDING_SLOTS        4           /* number of calls of a thread with which the next call can be compared */

enum recording_item {
	ITEM_HEAD = 1, /* facts about the recording as a whole; always the first item of the first block */
	ITEM_END,      /* always the last item; if it is missing, the recording is incomplete */
	ITEM_THREAD,   /* introduces a thread; the threads of a block are numbered from 0 */
	ITEM_NAME,     /* the name of a descriptor, process or network interface; valid from this item on */
	ITEM_FRAME,    /* one frame of the stack of the next event; the innermost frame comes first */
	ITEM_ENTER,    /* the remaining items are events, in the order of enum event_kind (event.h) */
	ITEM_EXIT,
	ITEM_VANISH,
	ITEM_SIGNAL,
	ITEM_STOP,
	ITEM_CONT,
	ITEM_NEW_TASK,
	ITEM_EXEC,
	ITEM_DEATH,
	ITEM_CALL,
	/* Not an event: the captures of the start of a thread's call, which is in another block. */
	ITEM_MEMORY,
};

/* Bits 0 to 10 (0 to 5: the arguments): this part differs from that of the call with which the call is compared. */
enum recording_mask {
	MASK_IP = 1 << 6,
	MASK_SP = 1 << 7,
	MASK_ARCH = 1 << 8,
	MASK_COST = 1 << 9,
	MASK_SPREAD = 1 << 10,
	MASK_DIFFERENCES = (1 << 11) - 1,
	/* These bits are flags of the call itself. Nothing follows for them: */
	MASK_FOREIGN = 1 << 11,
	MASK_RESTART = 1 << 12,
	MASK_LAUNCH = 1 << 13,
	MASK_ERROR = 1 << 14,
	/* A number or a text follows for these bits: */
	MASK_ERRNO = 1 << 15,  /* the error number is not the negated result */
	MASK_INSIDE = 1 << 16, /* an operation of a multiplexing call of i386 (socketcall, ipc); its name follows */
	/* Flags of the call, for which nothing follows: */
	MASK_INJECTED = 1 << 17,
	MASK_DELAYED = 1 << 18,
	MASK_JUDGED = 1 << 19, /* it is known whether the thread lost its CPU during the call (enum call_wait) */
	MASK_WAITED = 1 << 20, /* the thread lost its CPU */
};

/* The second number of ITEM_DEATH. */
enum {
	DEATH_PROCESS = 1 << 0, /* the process has ended, and not only a thread */
	DEATH_USAGE = 1 << 1,   /* two numbers follow: the CPU time of the process in ns, and its peak RSS in bytes */
};

/* Which question about a name an item answers. The questions are the functions of struct names (tracee/names.h). */
enum recording_name {
	NAME_FD,        /* fd() */
	NAME_FULL,      /* fd_in_full() */
	NAME_DELETED,   /* deleted(); the answer is a number */
	NAME_DEVICE,    /* device() */
	NAME_NETLINK,   /* netlink(); the answer is a number */
	NAME_INTERFACE, /* interface() */
	NAME_COMM,      /* comm() */
	NAME_RING,      /* ring() */
	NAME_KINDS,
};

/*
 * Returns the key of a name in maps. `key` is the descriptor or the interface. The result has 29 bits for the thread
 * id, which are enough, because thread ids are below pid_max (proc_sys_kernel(5)).
 */
static inline uint64_t recording_name_key(enum recording_name kind, int tid, uint32_t key)
{
	return (uint64_t)kind << 61 | (uint64_t)((uint32_t)tid & 0x1fffffff) << 32 | key;
}

/*
 * Answers a question about a name. If the answer is a text, appends it to `out` and returns true. If it is a number,
 * stores it in *number and returns false. Otherwise returns false. `out` is NULL if the answer must be a number.
 */
typedef bool recording_answer_fn(void *ctx, enum recording_name kind, pid_t tid, uint32_t key, struct buf *out,
				 int64_t *number);

/* A source of names that passes all questions to `answer`. Must not be moved: names.ctx points to it. */
struct recording_answers {
	struct names names;
	recording_answer_fn *answer;
	void *ctx;
};
void recording_answers_init(struct recording_answers *a, recording_answer_fn *answer, void *ctx);

/*
 * How the address of a capture is written. Values 0 to 5: as the distance from the argument with this index;
 * BASE_ABSOLUTE: as it is; BASE_SAME: as the index of an equal capture, which was written when the call began.
 */
enum { BASE_ABSOLUTE = 6, BASE_SAME = 7 };

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

/* The last calls of a thread in the block, by number modulo RECORDING_SLOTS, with which equal calls are compared. */
struct item_calls {
	struct call slots[RECORDING_SLOTS];
};

#define ITEM_CALL_MOST 256 /* largest number of bytes of a call */
/* Stores the differences of the call from the last one with this number at `p`. Returns the address after them. */
char *item_call_at(char *p, struct item_calls *calls, const struct event *ev);
/* Reads into ev->call and ev->launch what item_call_at() has written. */
void item_get_call(struct item_reader *r, struct item_calls *calls, struct event *ev);
/*
 * Appends those captures of a call that were made before it or after it. `entry` contains the captures of the start of the
 * call, or is NULL if they are not in this block. A capture that is also there is written as its index.
 */
void item_put_captures(struct buf *out, const struct call *c, const struct captured_list *captures, bool before,
		       const struct captured_list *entry);
/*
 * Appends captures to `list`, which contains those of the start of the call if these come after it. When the recording is
 * read, they take the place of the program's memory. Ignores what exceeds RECORDING_CAPTURES.
 */
void item_get_captures(struct item_reader *r, const struct call *c, struct buf *list, bool before);

#endif
