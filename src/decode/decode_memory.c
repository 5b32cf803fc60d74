#include "decode/decode_memory.h"

#include "decode/kinds.h"
#include "decode/layout.h"
#include "decode/show.h"

#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static const char *const names[] = {
#define KIND(name, ...) [K_##name] = #name,
#include "syscall/kinds.def"
};

const char *decode_kind_name(enum syscall_kind kind)
{
	return names[kind];
}

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

/* Calls with commands that no decoder keeps in a table. */
static const struct {
	uint8_t table, arg;
	uint32_t command;
	struct memory_need need;
} rows[] = {
#define READ(bytes, ...)                                                                                               \
	{                                                                                                              \
		.rule = MEMORY_IN, .size = (bytes), __VA_ARGS__                                                        \
	}
#define READ_LIST(each, ...)                                                                                           \
	{                                                                                                              \
		.rule = MEMORY_IN, .size = (each), .count = COUNT_INT, .from = 3, __VA_ARGS__                          \
	}
#define TEXT                                                                                                           \
	{                                                                                                              \
		.rule = MEMORY_STRING                                                                                  \
	}
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_BUFFERS, READ_LIST(16, .limit = LIMIT_LIST)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_FILES, READ_LIST(4, .limit = LIMIT_LIST)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_EVENTFD, READ(4, .parts = 0)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_EVENTFD_ASYNC, READ(4, .parts = 0)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_FILES_UPDATE, READ(16, .parts = PARTS_URING_UPDATE)},
	{TABLE_URING_REGISTER,
	 2,
	 IORING_REGISTER_PROBE,
	 {.rule = MEMORY_OUT, .head = 16, .size = 8, .count = COUNT_INT, .from = 3, .limit = LIMIT_LIST}},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_RESTRICTIONS, READ_LIST(16, .limit = LIMIT_LIST)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_FILES2, READ_LIST(1, .most = 32)},
	{TABLE_URING_REGISTER, 2, IORING_REGISTER_BUFFERS2, READ_LIST(1, .most = 32)},
	{TABLE_URING_REGISTER,
	 2,
	 IORING_REGISTER_IOWQ_MAX_WORKERS,
	 {.rule = MEMORY_CHANGED, .size = 4, .count = COUNT_INT, .from = 3, .limit = LIMIT_LIST}},
	/* The kernel reads this argument only if it waits for events (IORING_ENTER_GETEVENTS). */
	{TABLE_URING_ENTER, 4, 0, {.rule = MEMORY_DOUBTFUL, .size = 8}},
	{TABLE_URING_ENTER, 4, IORING_ENTER_GETEVENTS, READ(8, .parts = 0)},
	{TABLE_URING_ENTER, 4, IORING_ENTER_EXT_ARG, {.rule = MEMORY_DOUBTFUL, .size = 24, .parts = PARTS_URING_ENTER}},
	{TABLE_URING_ENTER, 4, IORING_ENTER_EXT_ARG | IORING_ENTER_GETEVENTS, READ(24, .parts = PARTS_URING_ENTER)},
	/* FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 (futex(2)) */
	{TABLE_FUTEX, 3, 0, READ(16, .parts = 0)},
	{TABLE_FUTEX, 3, 6, READ(16, .parts = 0)},
	{TABLE_FUTEX, 3, 9, READ(16, .parts = 0)},
	{TABLE_FUTEX, 3, 11, READ(16, .parts = 0)},
	{TABLE_FUTEX, 3, 13, READ(16, .parts = 0)},
	{TABLE_KCMP, 4, 7 /* KCMP_EPOLL_TFD */, READ(12, .parts = 0)},
	{TABLE_REBOOT, 3, 0xa1b2c3d4 /* LINUX_REBOOT_CMD_RESTART2 */, TEXT},
	/* SYSLOG_ACTION_READ, READ_ALL, READ_CLEAR (syslog(2)) */
	{TABLE_SYSLOG, 1, 2, {.rule = MEMORY_OUT, .size = 1, .count = COUNT_RESULT, .limit = LIMIT_STRING}},
	{TABLE_SYSLOG, 1, 3, {.rule = MEMORY_OUT, .size = 1, .count = COUNT_RESULT, .limit = LIMIT_STRING}},
	{TABLE_SYSLOG, 1, 4, {.rule = MEMORY_OUT, .size = 1, .count = COUNT_RESULT, .limit = LIMIT_STRING}},
	/* FSCONFIG_SET_STRING, SET_BINARY, SET_PATH, SET_PATH_EMPTY (linux/mount.h) */
	{TABLE_FSCONFIG, 3, 1, TEXT},
	{TABLE_FSCONFIG, 3, 2, {.rule = MEMORY_IN, .size = 1, .count = COUNT_INT, .from = 4, .limit = LIMIT_STRING}},
	{TABLE_FSCONFIG, 3, 3, TEXT},
	{TABLE_FSCONFIG, 3, 4, TEXT},
	{TABLE_LANDLOCK, 2, 1 /* LANDLOCK_RULE_PATH_BENEATH */, READ(12, .parts = 0)},
	{TABLE_LANDLOCK, 2, 2 /* LANDLOCK_RULE_NET_PORT */, READ(16, .parts = 0)},
	{TABLE_MQ_OPEN, 3, 0100 /* O_CREAT */, READ(64, .parts = 0)},
	{TABLE_MOUNT_ID, 3, 0, {.rule = MEMORY_OUT, .size = 4}},
	{TABLE_MOUNT_ID, 3, 1 /* AT_HANDLE_MNT_ID_UNIQUE */, {.rule = MEMORY_OUT, .size = 8}},
	/* ARCH_GET_FS, GET_GS, GET_XCOMP_SUPP, GET_XCOMP_PERM, GET_XCOMP_GUEST_PERM (arch_prctl(2)) */
	{TABLE_ARCH_PRCTL, 1, 0x1003, {.rule = MEMORY_OUT, .size = 8}},
	{TABLE_ARCH_PRCTL, 1, 0x1004, {.rule = MEMORY_OUT, .size = 8}},
	{TABLE_ARCH_PRCTL, 1, 0x1021, {.rule = MEMORY_OUT, .size = 8}},
	{TABLE_ARCH_PRCTL, 1, 0x1022, {.rule = MEMORY_OUT, .size = 8}},
	{TABLE_ARCH_PRCTL, 1, 0x1024, {.rule = MEMORY_OUT, .size = 8}},
	/* SECCOMP_SET_MODE_FILTER, GET_ACTION_AVAIL, GET_NOTIF_SIZES (seccomp(2)) */
	{TABLE_SECCOMP, 2, 1, READ(16, .parts = 0)},
	{TABLE_SECCOMP, 2, 2, READ(4, .parts = 0)},
	{TABLE_SECCOMP, 2, 3, {.rule = MEMORY_OUT, .size = 6}},
};

enum { WORDS = 1 };

static const struct memory_part parts[] = {
	{PARTS_SIGSET, 0, 0, WORDS, READ(8, .parts = 0)},
	{PARTS_URING_ENTER, 0, 0, 0, READ(8, .parts = 0)},
	{PARTS_URING_ENTER, 16, 0, 0, READ(16, .parts = 0)},
	{PARTS_URING_UPDATE, 8, 0, 0, READ_LIST(4, .limit = LIMIT_LIST)},
	{PARTS_XATTR, 0, 8, 0, {.rule = MEMORY_IN, .size = 1, .count = COUNT_MEMBER, .limit = LIMIT_STRING}},
	{PARTS_OUT_XATTR,
	 0,
	 8,
	 0,
	 {.rule = MEMORY_OUT, .size = 1, .count = COUNT_MEMBER_RESULT, .limit = LIMIT_STRING}},
	{PARTS_CLONE, 64, 72, 0, {.rule = MEMORY_IN, .size = 4, .count = COUNT_MEMBER, .most = 32 * 4}},
	{PARTS_REGSET, 0, 8, WORDS, {.rule = MEMORY_IN, .size = 1, .count = COUNT_MEMBER, .most = 512}},
	{PARTS_INTERFACES, 8, 0, WORDS, {.rule = MEMORY_OUT, .size = 1, .count = COUNT_MEMBER, .most = 16384}},
	{PARTS_PARTITION, 16, 0, 0, READ(152, .parts = 0)},
	{PARTS_BPF_STRING, 0, 0, 0, TEXT},
	{PARTS_BPF_PROGRAM, offsetof(union bpf_attr, license), 0, 0, TEXT},
};
_Static_assert(sizeof(parts) / sizeof(*parts) <= 16, "MEMORY_PARTS");

uint8_t decode_memory_index(struct memory_tables *t, const struct memory_need *n)
{
	size_t i = 0;
	while (i < t->nneeds && memcmp(&t->needs[i], n, sizeof(*n)) != 0)
		i++;
	if (i == MEMORY_NEEDS)
		return 0; /* the rule for what must stop */
	if (i == t->nneeds)
		t->needs[t->nneeds++] = *n;
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
	static command_list_fn *const lists[] = {fs_memory,        quota_memory,  ioctl_memory,
						 ioctl_net_memory, prctl_memory,  ipc_memory,
						 keyctl_memory,    ptrace_memory, bpf_memory};
	memset(t, 0, sizeof(*t));
	t->nneeds = 1; /* index 0: MEMORY_MISSING */
	memcpy(t->parts, parts, sizeof(parts));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		add_command(t, rows[i].table, rows[i].arg, rows[i].command, rows[i].need);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		lists[i](collect, t);
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
