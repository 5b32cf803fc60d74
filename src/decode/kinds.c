/* The table that says how each kind of argument and member is shown. Its rows come from syscall/kinds.def. */
#include "decode/kinds.h"

#include "decode/decode_memory.h"
#include "decode/layout.h"
#include "decode/netlink.h"
#include "decode/show.h"

/* Memory rules (syscall/rules.h). `from` is the number of an argument, FROM_NEXT or FROM_PREVIOUS. */
#define RULE(r, ...)                                                                                                   \
	{                                                                                                              \
		.rule = MEMORY_##r, __VA_ARGS__                                                                        \
	}
#define COUNTED(r, c, f, each, ...)  RULE(r, .count = COUNT_##c, .from = (f), .size = (each), __VA_ARGS__)
#define NOTHING                      RULE(NONE, .size = 0)
#define READS(n)                     RULE(IN, .size = (n))
#define READS_SIZED(from, n)         COUNTED(IN, INT, from, 1, .most = (n))
#define READS_LONG_SIZED(from, n)    COUNTED(IN, ARG, from, 1, .most = (n))
#define READS_BYTES(from)            COUNTED(IN, ARG, from, 1, .limit = LIMIT_STRING)
#define READS_AFTER(n, from)         COUNTED(IN, ARG, from, 1, .head = (n), .limit = LIMIT_STRING)
#define READS_ARRAY(size, from)      COUNTED(IN, INT, from, size, .most = 0)
#define READS_LIST(size, from)       COUNTED(IN, ARG, from, size, .limit = LIMIT_LIST)
#define READS_NODES(from)            COUNTED(IN, NODES, from, 8, .most = 64 * 8)
#define READS_OWN(n, offset, m)      COUNTED(IN, OWN, offset, 1, .head = (n), .most = (m))
#define READS_PARTS(n, list)         RULE(IN, .size = (n), .parts = (list))
#define WRITES(n)                    RULE(OUT, .size = (n))
#define WRITES_SIZED(from, n)        COUNTED(OUT, INT, from, 1, .most = (n))
#define WRITES_LONG_SIZED(from, n)   COUNTED(OUT, ARG, from, 1, .most = (n))
#define WRITES_AT(from, n)           COUNTED(OUT, AT, from, 1, .most = (n))
#define WRITES_BYTES                 COUNTED(OUT, RESULT, 0, 1, .limit = LIMIT_STRING)
#define WRITES_AFTER(n)              COUNTED(OUT, RESULT, 0, 1, .head = (n), .limit = LIMIT_STRING)
#define WRITES_RESULT(size)          COUNTED(OUT, RESULT, 0, size, .most = 0)
#define WRITES_ROOM(size, from, lim) COUNTED(OUT, ROOM, from, size, .limit = (lim))
#define WRITES_NODES(from)           COUNTED(OUT, NODES, from, 8, .most = 64 * 8)
#define WRITES_PAGES(from)           COUNTED(OUT, PAGES, from, 1, .limit = LIMIT_LIST)
#define WRITES_OWN(n)                COUNTED(OUT, OWN, 0, 1, .most = (n))
#define WRITES_PARTS(n, list)        RULE(OUT, .size = (n), .parts = (list))
#define WRITES_ON_ERROR(n)           RULE(ON_ERROR, .size = (n))
#define CHANGES(n)                   RULE(CHANGED, .size = (n))
#define CHANGES_OWN(n, offset, m)    COUNTED(CHANGED, OWN, offset, 1, .head = (n), .most = (m))
#define CHANGES_PARTS(n, list)       RULE(CHANGED, .size = (n), .parts = (list))
#define CHANGES_DEDUPE               COUNTED(CHANGED, OWN16, 0, 32, .head = 24, .limit = LIMIT_LIST)
#define CHANGES_FIEMAP               COUNTED(CHANGED, FIEMAP, 0, 56, .head = 32, .limit = LIMIT_LIST)
#define CHANGES_FD_SET               COUNTED(CHANGED, FD_SET, 0, 8, .most = 0)
#define STRING                       RULE(STRING, .most = 0)
#define PAGE_STRING                                                                                                    \
	{                                                                                                              \
		.rule = MEMORY_STRING, .most = 1                                                                       \
	}
#define EXEC_STRINGS            RULE(STRINGS, .most = DECODE_ARGV_MOST + 1)
#define EXEC_POINTERS           RULE(POINTERS, .most = 0)
#define SIGNAL_FRAME            RULE(FRAME_MASK, .most = 0)
#define CLONE_STRUCT            COUNTED(CLONE_ARGS, ARG, FROM_NEXT, 1, .most = 88, .parts = PARTS_CLONE)
#define CLONE_ID                RULE(CLONE_TID, .size = 4)
#define VECTOR(direction, from) COUNTED(direction##_IOVEC, ARG, from, 16, .most = 0)
#define SOCKET(rule)            RULE(rule, .most = 0)
#define SOCKET_LENGTHS          RULE(OUT_MMSG, .most = DECODE_LENGTHS)
#define EPOLL                   RULE(EPOLL_EVENT, .size = 12)
#define REQUEST                 RULE(REQUEST, .size = 64)
#define REQUESTS(from)          COUNTED(REQUESTS, ARG, from, 8, .most = 0)
/* The command of the call decides. It is argument `from`, or only its `bits`. */
#define BY_COMMAND(table, from)            COUNTED(COMMAND, ARG, from, TABLE_##table, .most = 0)
#define BY_COMMAND_BITS(table, from, bits) COUNTED(COMMAND, ARG, from, TABLE_##table, .most = (bits))

/* These expand to the members of a struct kind. kinds.def explains them. */
#define BITS(t)       NOTHING, show_flags32, &flags_##t
#define BITS64(t)     NOTHING, show_flags, &flags_##t
#define CHOICE(t)     NOTHING, show_choice32, &flags_##t
#define CHOICE64(t)   NOTHING, show_choice, &flags_##t
#define IN(l)         READS(SIZE_OF_LAYOUT), show_struct, &layout_##l
#define OUT(l)        WRITES(SIZE_OF_LAYOUT), show_struct, &layout_##l, WHEN_LEFT
#define CHANGED_IN(l) CHANGES(SIZE_OF_LAYOUT), show_struct, &layout_##l
#define POINTEE(k, size)                                                                                               \
	show_pointee, &(const struct pointee)                                                                          \
	{                                                                                                              \
		K_##k, size                                                                                            \
	}
#define AT(k, size)         READS((size) ? (size) : 8), POINTEE(k, size)
#define OUT_AT(k, size)     WRITES((size) ? (size) : 8), POINTEE(k, size), WHEN_LEFT
#define CHANGED_AT(k, size) CHANGES((size) ? (size) : 8), POINTEE(k, size)
#define LIST(k, size, n)                                                                                               \
	show_numbers, &(const struct numbers)                                                                          \
	{                                                                                                              \
		K_##k, size, n                                                                                         \
	}
/* A list whose length is fixed has one element for memory rules. */
#define LISTED(r, each, n)                                                                                             \
	COUNTED(r, ONE + ((n) == NUMBERS_ARG2) * COUNT_ARG + ((n) == NUMBERS_RESULT) * COUNT_RESULT,                   \
		(n) == NUMBERS_ARG2 ? 1 : 0, ((each) ? (each) : 8) * ((n) < NUMBERS_RESULT ? (n) : 1),                 \
		.limit = (n) < NUMBERS_RESULT ? LIMIT_NONE : LIMIT_LIST)
#define NUMBERS(k, size, n)     LISTED(IN, size, n), LIST(k, size, n)
#define OUT_NUMBERS(k, size, n) LISTED(OUT, size, n), LIST(k, size, n), WHEN_LEFT
#define EXCHANGE(in, out)                                                                                              \
	CHANGES(SIZE_OF_EXCHANGE), show_exchange, &(const struct exchange){&layout_##in, &layout_##out}, WHEN_BOTH,    \
		NULL, show_exchange_after
#define NUMBER(f)        NOTHING, show_##f
#define SHOW(need, f)    need, show_##f
#define FILLED(need, f)  need, show_##f, NULL, WHEN_LEFT
#define ASKS             .asks = true
#define WHEN(need, f, w) need, show_##f, NULL, WHEN_ENTERING, when_##w

const struct kind decode_kinds[K_COUNT] = {
#define KIND(name, ...) [K_##name] = {__VA_ARGS__},
#include "syscall/kinds.def"
};
