#include "decode/memory.h"

#include "decode/kinds.h"
#include "decode/layout.h"
#include "decode/show.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

/*
 * Kinds whose show functions read memory that decode_kinds does not describe. Sizes are those of the kernel's
 * structures.
 */
static const struct {
	uint16_t kind;
	struct memory_need need;
} rows[] = {
	{K_PATH, {MEMORY_STRING, 0}},
	{K_STR, {MEMORY_STRING, 0}},
	{K_IN_BYTES, {MEMORY_IN_BYTES, 0}},
	{K_OUT_BYTES, {MEMORY_OUT_BYTES, 0}},
	{K_OUT_RANDOM, {MEMORY_OUT_BYTES, 0}},
	{K_OUT_PATH, {MEMORY_OUT_ALL, 1}},
	{K_OUT_PATH_N, {MEMORY_OUT_ALL, 1}},
	{K_OUT_DENTS64, {MEMORY_OUT_ALL, 1}},
	{K_OUT_XATTR, {MEMORY_OUT_BYTES, 0}},
	{K_IN_XATTR, {MEMORY_IN_SIZED, UINT16_MAX}},
	{K_OUT_GIDS, {MEMORY_OUT_ALL, sizeof(uint32_t)}},
	{K_OUT_CPU_SET, {MEMORY_OUT_ALL, 1}},
	{K_OUT_EPOLL_EVENTS, {MEMORY_OUT_ALL, sizeof(struct epoll_event)}},
	{K_EPOLL_EVENT, {MEMORY_EPOLL_EVENT, sizeof(struct epoll_event)}},
	{K_POLLFDS, {MEMORY_IN_ARRAY, sizeof(struct pollfd)}},
	{K_FUTEX_WAITERS, {MEMORY_IN_ARRAY, 24}}, /* struct futex_waitv (linux/futex.h) */
	{K_SEMBUFS, {MEMORY_IN_ARRAY, 6}},        /* struct sembuf (semop(2)) */
	{K_OUT_STAT, {MEMORY_OUT, sizeof(struct stat)}},
	{K_OUT_STATX, {MEMORY_OUT, 256}}, /* struct statx, including its reserved space */
	{K_OUT_FD_PAIR, {MEMORY_OUT, 2 * sizeof(int)}},
	{K_OUT_UID_PAIR, {MEMORY_OUT, 2 * sizeof(uint32_t)}},
	{K_OUT_WSTATUS, {MEMORY_OUT, sizeof(int)}},
	{K_SIGSET, {MEMORY_IN, sizeof(uint64_t)}},
	{K_OUT_SIGSET, {MEMORY_OUT, sizeof(uint64_t)}},
	{K_SIGACTION, {MEMORY_IN, 4 * sizeof(uint64_t)}},
	{K_OUT_SIGACTION, {MEMORY_OUT, 4 * sizeof(uint64_t)}},
	{K_SIGINFO, {MEMORY_IN, sizeof(siginfo_t)}},
	{K_OUT_SIGINFO, {MEMORY_OUT, sizeof(siginfo_t)}},
	{K_OUT_CHILD_INFO, {MEMORY_OUT, sizeof(siginfo_t)}},
	{K_SIGEVENT, {MEMORY_IN, 64}}, /* struct sigevent (asm-generic/siginfo.h) */
	{K_TIMESPEC2, {MEMORY_IN, 4 * sizeof(uint64_t)}},
	{K_TIMEVAL2, {MEMORY_IN, 4 * sizeof(uint64_t)}},
	{K_TIME_STAMP, {MEMORY_IN, 2 * sizeof(uint64_t)}},
	{K_STATX_TIME, {MEMORY_IN, 2 * sizeof(uint64_t)}},
	{K_SOCKADDR, {MEMORY_IN_SIZED, sizeof(struct sockaddr_storage)}},
	{K_OPEN_HOW, {MEMORY_IN_SIZED, 4096}}, /* the kernel accepts one page */
	{K_REMAINING, {MEMORY_ON_ERROR, 0}},
	{K_CLOCK_REMAINING, {MEMORY_ON_ERROR, 0}},
	{K_FUTEX_TIMEOUT, {MEMORY_FUTEX_TIME, 2 * sizeof(uint64_t)}},
	{K_FCNTL_ARG, {MEMORY_COMMAND, 0}},
	{K_IOCTL_ARG, {MEMORY_COMMAND, 0}},
	{K_PRCTL_ARG2, {MEMORY_COMMAND, 0}},
	{K_COMM, {MEMORY_IN, 16}}, /* TASK_COMM_LEN of the kernel */
	{K_IN_IOVEC, {MEMORY_IN_IOVEC, 0}},
	{K_OUT_IOVEC, {MEMORY_OUT_IOVEC, 0}},
	{K_FSID, {MEMORY_IN, 2 * sizeof(int)}},
	{K_LOADS, {MEMORY_IN, 3 * sizeof(uint64_t)}},
	{K_TC_CC, {MEMORY_IN, 19}}, /* struct termios (asm-generic/termbits.h) */
	{K_UTS_STRING, {MEMORY_IN, 65}},
	{K_TEXT64, {MEMORY_IN, 64}},
	{K_TERMIO_CC, {MEMORY_IN, 8}}, /* struct termio (asm-generic/termios.h) */
	{K_SOCKLEN, {MEMORY_CHANGED, sizeof(socklen_t)}},
	{K_OFF_PTR, {MEMORY_CHANGED, sizeof(int64_t)}}, /* the kernel adds the number of bytes that it has copied */
	{K_MOVED_OFF_PTR, {MEMORY_CHANGED, sizeof(int64_t)}},
	{K_CHANGED_TIMESPEC, {MEMORY_CHANGED, 2 * sizeof(uint64_t)}},
	{K_OUT_SOCKADDR, {MEMORY_OUT_SIZED, sizeof(struct sockaddr_storage)}},
	{K_OUT_SOCKOPT_VALUE, {MEMORY_OUT_SIZED, 4096}},
	{K_SOCKOPT_VALUE, {MEMORY_IN_SIZED, 4096}},
	{K_SOCK_BYTES, {MEMORY_SOCK_BYTES, 0}},
	{K_OUT_SOCK_BYTES, {MEMORY_OUT_SOCK_BYTES, 0}},
	{K_IN_MSGHDR, {MEMORY_MSG, 0}},
	{K_OUT_MSGHDR, {MEMORY_OUT_MSG, 0}},
	{K_IN_MMSG, {MEMORY_MMSG, 0}},
	{K_OUT_MMSG, {MEMORY_OUT_MMSG, DECODE_LENGTHS}},
	{K_IO_URING_PARAMS, {MEMORY_UNKNOWN, 0}},
	{K_FD_SET, {MEMORY_FD_SET, 0}},
	{K_SIGSET_PAIR, {MEMORY_SIGSET_PAIR, 0}},
	{K_CAP_HEADER, {MEMORY_CHANGED, 2 * sizeof(uint32_t)}}, /* gets the supported version if it has another */
	/* In version 1, these are half as many bytes, and the others are ignored. */
	{K_CAP_DATA, {MEMORY_IN, 6 * sizeof(uint32_t)}},
	{K_OUT_CAP_DATA, {MEMORY_OUT, 6 * sizeof(uint32_t)}},
};

/* Show functions that use only the value and read no memory. */
static show_fn *const plain[] = {
	show_int,      show_uint,
	show_long,     show_ulong,
	show_hex,      show_octal,
	show_pointer,  show_flags,
	show_choice,   show_flags32,
	show_choice32, show_fd,
	show_dirfd,    show_pid,
	show_uid,      show_dev,
	show_hex16,    show_low_bit,
	show_short,    show_choice16,
	show_errno,    show_negative_errno,
	show_ticks,    show_seconds,
	show_ifindex,
};

/* Kinds of numbers that have a show function of their own and read no memory. */
static const uint16_t numbers[] =
	{
		K_OPEN_FLAGS,     K_OPEN_MODE,    K_FILE_MODE,     K_MAP_FLAGS,   K_CLOCK,        K_SIGNAL,
		K_FUTEX_OP,       K_FUTEX_VAL,    K_FUTEX_UADDR2,  K_FUTEX_VAL3,  K_WHENCE,       K_MKNOD_DEV,
		K_SOCK_PROTO,     K_WAITID_ID,    K_WAITID_TYPE,   K_MREMAP_ADDR, K_OUT_PTR,      K_OFF_HIGH,
		K_OFF_UPPER,      K_SHMGET_FLAGS, K_IPC_GET_FLAGS, K_IPC_KEY,     K_IOPRIO,       K_PERSONALITY,
		K_MEMBARRIER_CPU, K_RLIM,         K_IOCTL_CMD,     K_SOCKOPT,     K_SOCKOPT_READ, K_SOL_LEVEL,
		K_PRCTL_ARG3,     K_PRCTL_ARG4,   K_PRCTL_ARG5, /* prctl_option() leaves out the options for which these are memory */
};

static bool is_plain(const struct kind *k)
{
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (k->show == plain[i])
			return true;
	return false;
}

/*
 * Returns true if showing the structure reads no other memory. A structure with pointers to strings or arrays is not
 * flat.
 */
static bool is_flat(const struct layout *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct member *m = &l->members[i];
		struct memory_need need = decode_memory_need(m->kind);
		if (m->size ? need.rule != MEMORY_NONE : need.rule != MEMORY_IN || m->offset + need.size > l->size)
			return false;
	}
	return true;
}

static struct memory_need find_need(enum syscall_kind kind)
{
	const struct kind *k = &decode_kinds[kind];
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].kind == kind)
			return rows[i].need;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i] == kind)
			return (struct memory_need){MEMORY_NONE, 0};
	if (is_plain(k))
		return (struct memory_need){MEMORY_NONE, 0};
	enum memory_rule rule = k->when == WHEN_LEFT ? MEMORY_OUT : MEMORY_IN;
	if (k->choose)
		return (struct memory_need){MEMORY_UNKNOWN, 0};
	if (k->show == show_struct && is_flat(k->about))
		return (struct memory_need){rule, (uint16_t)((const struct layout *)k->about)->size};
	if (k->show == show_pointee) {
		const struct pointee *p = k->about;
		return (struct memory_need){rule, (uint16_t)(p->size ? p->size : sizeof(uint64_t))};
	}
	return (struct memory_need){MEMORY_UNKNOWN, 0};
}

struct memory_need decode_memory_need(enum syscall_kind kind)
{
	/* Each start of a recording asks for the needs of all arguments of all calls. */
	static struct {
		bool found;
		struct memory_need need;
	} known[K_COUNT];
	if (!known[kind].found) {
		known[kind].need = find_need(kind);
		known[kind].found = true;
	}
	return known[kind].need;
}

static bool find_command(enum syscall_kind kind, size_t i, struct command_arg *a)
{
	size_t n;
	if (kind == K_PRCTL_ARG2)
		return prctl_option(i, a);
	const struct command_arg *commands = kind == K_FCNTL_ARG ? fcntl_commands(&n) : ioctl_commands(&n);
	if (i < n)
		*a = commands[i];
	return i < n;
}

bool decode_memory_command(enum syscall_kind kind, size_t i, struct memory_command *c)
{
	struct command_arg a;
	if (!find_command(kind, i, &a))
		return false;
	enum when when = a.when;
	c->command = (uint32_t)a.command;
	c->need = when == WHEN_NEVER ? (struct memory_need){MEMORY_NONE, 0} : decode_memory_need(a.kind);
	if (when == WHEN_BOTH)
		c->need.rule = MEMORY_UNKNOWN;
	if (c->need.rule == MEMORY_IN && when == WHEN_LEFT)
		c->need.rule = MEMORY_OUT;
	if (c->need.rule != MEMORY_NONE && c->need.rule != (when == WHEN_LEFT ? MEMORY_OUT : MEMORY_IN))
		c->need.rule = MEMORY_UNKNOWN;
	return true;
}
