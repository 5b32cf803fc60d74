/* SPDX-License-Identifier: MIT */
/*
 * The table that says how each kind of argument and member is shown, and which memory it needs. Its rows come from
 * syscall/kinds.def.
 */
#include "decode/kinds.h"

#include "decode/layout.h"
#include "decode/show.h"

#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

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
#define READS_INT_BYTES(from)        COUNTED(IN, INT, from, 1, .limit = LIMIT_STRING)
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
#define PAGE_STRING                  /* not by RULE(): STRING is a macro itself */                                     \
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
#define EPOLL_SIZE              sizeof(struct epoll_event) /* differs between architectures */
#define EPOLL                   RULE(EPOLL_EVENT, .size = EPOLL_SIZE)
#define REQUEST                 RULE(REQUEST, .size = 64)
#define REQUESTS(from)          COUNTED(REQUESTS, ARG, from, 8, .most = 0)
/* The command of the call decides. It is argument `from`, or only its `bits`. */
#define BY_COMMAND(table, from)            COUNTED(COMMAND, ARG, from, TABLE_##table, .most = 0)
#define BY_COMMAND_BITS(table, from, bits) COUNTED(COMMAND, ARG, from, TABLE_##table, .most = (bits))

/* Replaces a placeholder by the size of the layout to which `about` leads. */
static uint16_t resolve_size(uint16_t size, const void *about)
{
	const struct exchange *e = about;
	const struct layout *l = size == SIZE_OF_LAYOUT ? about : size == SIZE_OF_EXCHANGE ? e->in : NULL;
	return l ? (uint16_t)l->size : size;
}

struct memory_need decode_memory_need(enum syscall_kind kind, unsigned arg)
{
	const struct kind *k = &decode_kinds[kind];
	struct memory_need n = k->need;
	n.size = resolve_size(n.size, k->about);
	n.most = resolve_size(n.most, k->about);
	if (n.from == FROM_NEXT)
		n.from = (arg + 1) & 15;
	else if (n.from == FROM_PREVIOUS)
		n.from = (arg - 1) & 15;
	return n;
}

/* Returns the rule for memory that is known at this time. */
static struct memory_need need_when(struct memory_need n, enum when when)
{
	enum { LABEL_SIZE = 256 }; /* FSLABEL_MAX: the only command that writes a string writes this number of bytes */
	if (when == WHEN_NEVER)
		return (struct memory_need){.rule = MEMORY_NONE};
	if (n.rule == MEMORY_STRING && when == WHEN_LEFT)
		return (struct memory_need){.rule = MEMORY_OUT, .size = LABEL_SIZE};
	if (n.rule == MEMORY_IN && when != WHEN_ENTERING)
		n.rule = when == WHEN_LEFT ? MEMORY_OUT : MEMORY_CHANGED;
	return n;
}

/* Calls with commands that flags.def does not describe. */
static const struct {
	uint8_t table, arg;
	uint32_t command;
	struct memory_need need;
} rows[] = {
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_BUFFERS, COUNTED(IN, INT, 3, 16, .limit = LIMIT_LIST)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_FILES, COUNTED(IN, INT, 3, 4, .limit = LIMIT_LIST)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_EVENTFD, READS(4)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_EVENTFD_ASYNC, READS(4)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_FILES_UPDATE, READS_PARTS(16, PARTS_URING_UPDATE)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_PROBE, COUNTED(OUT, INT, 3, 8, .head = 16, .limit = LIMIT_LIST)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_RESTRICTIONS, COUNTED(IN, INT, 3, 16, .limit = LIMIT_LIST)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_FILES2, COUNTED(IN, INT, 3, 1, .most = 32)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_BUFFERS2, COUNTED(IN, INT, 3, 1, .most = 32)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_IOWQ_MAX_WORKERS, COUNTED(CHANGED, INT, 3, 4, .limit = LIMIT_LIST)},
	/* The kernel reads this argument only if it waits for events (IORING_ENTER_GETEVENTS). */
	{TABLE_URING_ENTER, 4, 0, RULE(DOUBTFUL, .size = 8)},
	{TABLE_URING_ENTER, 4, IORING_ENTER_GETEVENTS, READS(8)},
	{TABLE_URING_ENTER, 4, IORING_ENTER_EXT_ARG, RULE(DOUBTFUL, .size = 24, .parts = PARTS_URING_ENTER)},
	{TABLE_URING_ENTER, 4, IORING_ENTER_EXT_ARG | IORING_ENTER_GETEVENTS, READS_PARTS(24, PARTS_URING_ENTER)},
	/* FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 (futex(2)) */
	{TABLE_FUTEX, 3, 0, READS(16)},
	{TABLE_FUTEX, 3, 6, READS(16)},
	{TABLE_FUTEX, 3, 9, READS(16)},
	{TABLE_FUTEX, 3, 11, READS(16)},
	{TABLE_FUTEX, 3, 13, READS(16)},
	{TABLE_MQ_OPEN, 3, 0100 /* O_CREAT */, READS(64)},
	{TABLE_MOUNT_ID, 3, 0, WRITES(4)},
	{TABLE_MOUNT_ID, 3, 1 /* AT_HANDLE_MNT_ID_UNIQUE */, WRITES(8)},
};

enum { WORDS = 1 };

static const struct memory_part parts[] = {
	{PARTS_SIGSET, 0, 0, WORDS, READS(8)},
	{PARTS_URING_ENTER, 0, 0, 0, READS(8)},
	{PARTS_URING_ENTER, 16, 0, 0, READS(16)},
	{PARTS_URING_UPDATE, 8, 0, 0, COUNTED(IN, INT, 3, 4, .limit = LIMIT_LIST)},
	{PARTS_XATTR, 0, 8, 0, COUNTED(IN, MEMBER, 0, 1, .limit = LIMIT_STRING)},
	{PARTS_OUT_XATTR, 0, 8, 0, COUNTED(OUT, MEMBER_RESULT, 0, 1, .limit = LIMIT_STRING)},
	{PARTS_CLONE, 64, 72, 0, COUNTED(IN, MEMBER, 0, 4, .most = 32 * 4)},
	{PARTS_REGSET, 0, 8, WORDS, COUNTED(IN, MEMBER, 0, 1, .most = 512)},
	{PARTS_INTERFACES, 8, 0, WORDS, COUNTED(OUT, MEMBER, 0, 1, .most = 16384)},
	{PARTS_PARTITION, 16, 0, 0, READS(152)},
	{PARTS_BPF_STRING, 0, 0, 0, STRING},
	{PARTS_BPF_PROGRAM, offsetof(union bpf_attr, license), 0, 0, STRING},
};
_Static_assert(sizeof(parts) / sizeof(*parts) <= 16, "MEMORY_PARTS");

static enum memory_copy copy_of(const struct memory_need *n)
{
	const bool plain = !n->head && !n->most && !n->parts, bytes = plain && n->size == 1 && n->limit == LIMIT_STRING;
	if (n->rule == MEMORY_ON_ERROR)
		return COPY_FAILED;
	if (plain && n->rule == MEMORY_STRING)
		return n->size /* an error proves nothing */ ? COPY_LATER_TEXT : COPY_TEXT;
	if (plain && n->count == COUNT_ONE && (n->rule == MEMORY_OUT || n->rule == MEMORY_IN))
		return n->rule == MEMORY_OUT ? COPY_FILLED : COPY_READ;
	if (bytes && n->rule == MEMORY_OUT && n->count == COUNT_RESULT)
		return COPY_RESULT;
	return bytes && n->rule == MEMORY_WRITTEN && n->count == COUNT_ARG ? COPY_WRITTEN : COPY_SELDOM;
}

uint8_t decode_memory_index(struct memory_tables *t, const struct memory_need *need)
{
	struct memory_need n = *need;
	size_t i = 0;
	n.copy = copy_of(need) & 7;
	while (i < t->nneeds && memcmp(&t->needs[i], &n, sizeof(n)) != 0)
		i++;
	if (i == MEMORY_NEEDS)
		return 0; /* the rule for what must stop */
	if (i == t->nneeds)
		t->needs[t->nneeds++] = n;
	return (uint8_t)i;
}

static void add_command(struct memory_tables *t, unsigned table, unsigned arg, uint32_t command, struct memory_need n)
{
	if (n.rule != MEMORY_NONE && t->ncommands < MEMORY_COMMANDS)
		t->commands[t->ncommands++] = (struct memory_command){.table = (uint8_t)table,
								      .arg = (uint8_t)arg,
								      .need = decode_memory_index(t, &n),
								      .command = command};
}

static void collect(void *tables, const struct command_memory *c)
{
	struct memory_need n = c->need;
	if (!n.rule)
		n = need_when(decode_memory_need(c->kind, c->arg), c->when);
	add_command(tables, c->table, c->arg, c->command, n);
}

static int compare_commands(const void *a, const void *b)
{
	uint64_t x = memory_command_key(a), y = memory_command_key(b);
	return x < y ? -1 : x > y;
}

void decode_memory_tables(struct memory_tables *t)
{
	memset(t, 0, sizeof(*t));
	t->nneeds = 1; /* index 0: MEMORY_MISSING */
	memcpy(t->parts, parts, sizeof(parts));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		add_command(t, rows[i].table, rows[i].arg, rows[i].command, rows[i].need);
	commands_memory(collect, t);
	ioctl_memory(collect, t);
	bpf_memory(collect, t);
	qsort(t->commands, t->ncommands, sizeof(*t->commands), compare_commands);
}

/* May the call read its strings after it has failed in ways that usually prove that it has read them? */
static bool reads_late(const struct syscall_desc *d)
{
	for (unsigned i = 0; i < d->nargs; i++)
		if (d->args[i].kind == K_OUT_XATTR || d->args[i].kind == K_STR)
			return true;
	return false;
}

struct memory_need decode_memory_of(const struct syscall_desc *d, unsigned arg, bool verbose)
{
	struct memory_need n = decode_memory_need(d->args[arg].kind, arg);
	if (n.rule == MEMORY_STRING)
		n.size = reads_late(d);
	else if (n.rule == MEMORY_POINTERS && verbose)
		n.rule = MEMORY_STRINGS;
	if (n.rule == MEMORY_STRINGS && verbose)
		n.most = 0;
	if (n.rule == MEMORY_IN && n.limit == LIMIT_STRING && d->result == R_BYTES)
		n.rule = MEMORY_WRITTEN;
	if (n.rule == MEMORY_COMMAND && n.size == TABLE_QUOTA) {
		n.from = d->args[0].kind == K_FD; /* quotactl_fd(2) has a descriptor before the command */
		n.head = 8;
	}
	return n;
}

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
#define IFREQ(m, k, n)                                                                                                 \
	READS(40), show_ifreq, &(const struct member)                                                                  \
	{                                                                                                              \
		.name = #m, .size = (n), .kind = K_##k                                                                 \
	}
#define NUMBER(f)        NOTHING, show_##f
#define SHOW(need, f)    need, show_##f
#define FILLED(need, f)  need, show_##f, NULL, WHEN_LEFT
#define ASKS             .asks = true
#define WHEN(need, f, w) need, show_##f, NULL, WHEN_ENTERING, when_##w
#define DECIDED(need, k) need, show_command_arg, &(const enum syscall_kind){K_##k}, WHEN_ENTERING, when_command_arg

const struct kind decode_kinds[K_COUNT] = {
#define KIND(id, ...) [K_##id] = {__VA_ARGS__, .name = #id},
#include "syscall/kinds.def"
};
