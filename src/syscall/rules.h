/* SPDX-License-Identifier: MIT */
/*
 * Memory rules: which memory of the program is read to show an argument. Each kind of argument has one rule
 * (syscall/kinds.def). capture.h copies this memory during a call, and decoders read the copy. The code in the program
 * uses the same rules, so this header includes nothing of the C library.
 */
#ifndef SCTRACE_SYSCALL_RULES_H
#define SCTRACE_SYSCALL_RULES_H

#include <stddef.h>
#include <stdint.h>

enum memory_rule {
	MEMORY_MISSING, /* the kind has no rule: a call with such an argument stops, as under ptrace */
	MEMORY_NONE,    /* no memory is read */
	/*
	 * The memory depends on a command, which is argument `from`, shifted right by `head`, of which only the bits in
	 * `most` count (0: all 32). The rule for it is in table `size` of the commands. A command that is not in the
	 * table stands for no memory.
	 */
	MEMORY_COMMAND,
	/* Captured only before the call. If execve(2) succeeds, its memory is lost; rt_sigreturn(2) does not return. */
	MEMORY_EXEC_PATH,  /* a string up to its NUL */
	MEMORY_POINTERS,   /* pointers up to a NULL */
	MEMORY_STRINGS,    /* at most `most` pointers up to a NULL, and their strings, as far as -s shows them */
	MEMORY_FRAME_MASK, /* the signal mask in the signal frame at the program's stack pointer */
	/* Captured before the call, and again after it: */
	MEMORY_CHANGED, /* memory that the kernel reads and then changes */
	/*
	 * clone3(2): before the call, the structure, whose size is the next argument, but at most `most` bytes of it. After
	 * the call, the thread id and the descriptor to which its members parent_tid and pidfd point.
	 */
	MEMORY_CLONE_ARGS,
	/* Captured after the call: */
	MEMORY_CLONE_TID, /* clone(2): a thread id or a descriptor, if the flags, argument 0, say so */
	/*
	 * A string up to its NUL, which the kernel reads. If `size` is not 0, an error proves nothing about the string
	 * (may_read_string()). If `most` is not 0, the kernel reads at most a page, so the string may have no NUL.
	 */
	MEMORY_STRING,
	MEMORY_IN,      /* memory that the kernel reads */
	MEMORY_WRITTEN, /* like MEMORY_IN, but the result says how much the kernel has read (write(2)) */
	MEMORY_OUT,     /* memory that the kernel writes if the call succeeds */
	MEMORY_ON_ERROR, /* memory that the kernel writes only if the call fails; only sctrace can find out whether it did */
	/*
	 * Memory that the kernel reads only under conditions that the recorder does not know, so that only sctrace may read
	 * it.
	 */
	MEMORY_DOUBTFUL,
	MEMORY_DESCRIPTOR, /* no memory: if the call succeeds, its result is a descriptor whose name is looked up at once */
	MEMORY_EPOLL_EVENT, /* like MEMORY_IN, but the kernel has read the memory unless it says EFAULT */
	MEMORY_REQUEST,     /* io_cancel(2): a request, and the data to be written; only sctrace can read them */
	MEMORY_REQUESTS,    /* io_submit(2): pointers to `count` requests, the requests, and the data to be written */
	/* `count` struct iovec, and the beginnings of their buffers; the kernel reads both. */
	MEMORY_IN_IOVEC,
	/* Like MEMORY_IN_IOVEC, but only if the call succeeded; the kernel fills as many bytes as the result says. */
	MEMORY_OUT_IOVEC,
	/*
	 * Like MEMORY_WRITTEN and MEMORY_OUT, for a socket: what may be a netlink message is captured in full. The next
	 * argument is the size of the buffer.
	 */
	MEMORY_SOCK_BYTES,
	MEMORY_OUT_SOCK_BYTES,
	MEMORY_MSG, /* a struct msghdr and everything that it points at, which the kernel reads */
	/* A struct msghdr that the kernel writes if the call succeeds; msg_namelen is also captured before the call. */
	MEMORY_OUT_MSG,
	MEMORY_MMSG, /* as many struct mmsghdr as the next argument says, which the kernel reads */
	/*
	 * As many struct mmsghdr as the result says, which the kernel writes. Before the call, the length of the address in
	 * at most the first `most` of them.
	 */
	MEMORY_OUT_MMSG,
};

/* How many elements there are. */
enum memory_count {
	COUNT_ONE,
	COUNT_RESULT, /* as many as the result says */
	COUNT_ROOM,   /* the same, but no more than argument `from` says */
	COUNT_ARG,    /* as many as argument `from` says */
	COUNT_INT,    /* like COUNT_ARG, but of the argument, only the low 32 bits count */
	COUNT_AT,     /* the number, of 32 bits, that argument `from` points at, after the call and before it */
	COUNT_OWN,    /* the number of 32 bits at offset `from` of the memory itself, but at least 4 */
	COUNT_OWN16,  /* the number of 16 bits at offset 16 of the memory itself (struct file_dedupe_range) */
	COUNT_FIEMAP, /* struct fiemap: the numbers of extents that the kernel has written, and that there is room for */
	COUNT_NODES,  /* 64-bit words of a set of nodes; argument `from` is one more than the number of bits */
	COUNT_PAGES,  /* the pages in argument `from` bytes */
	COUNT_FD_SET, /* 64-bit words of a set of descriptors (select(2)); argument 0 is the number of descriptors */
	/* For the memory that a member of a structure points at: */
	COUNT_MEMBER,        /* the number of 32 bits at offset memory_part.length of the structure */
	COUNT_MEMBER_RESULT, /* the same, but no more than the result says */
};

/* Values of memory_need.from that depend on the position of the argument. */
enum { FROM_NEXT = 6, FROM_PREVIOUS };

/* The number of elements that are shown. */
enum memory_limit {
	LIMIT_NONE,
	LIMIT_STRING, /* bytes of a string: -s */
	LIMIT_LIST,   /* elements of a list: -s, but at least LIST_MOST, because -v shows more */
};
#define LIST_MOST 4096
/* The size of struct stat (asm/stat.h; other architectures have the generic one). */
#ifdef __x86_64__
#define STAT_SIZE 144
#else
#define STAT_SIZE 128
#endif

/* Placeholders in kinds.def: the size of the kind's layout. */
#define SIZE_OF_LAYOUT   UINT16_MAX
#define SIZE_OF_EXCHANGE (UINT16_MAX - 1)

/* What the most usual rules amount to after the call, so that the code in the program need not look closer at them. */
enum memory_copy {
	COPY_SELDOM, /* what the rule says */
	COPY_FILLED, /* `size` bytes; nothing if the call fails */
	COPY_RESULT, /* as many bytes as the result says, but at most string_max; nothing if the call fails */
	COPY_READ,   /* `size` bytes; if the call fails, the rule decides */
	COPY_WRITTEN, /* as many as the next argument says, but at most string_max; if the result is smaller, the rule decides */
	COPY_FAILED, /* nothing; if the call fails, the rule decides */
	COPY_TEXT,   /* a string; ENOENT proves that the kernel has read it, and for other errors, the rule decides */
	/* A string; if the call fails, the rule decides, also with ENOENT: the kernel may not have read a second path then. */
	COPY_LATER_TEXT,
};

/*
 * `head` bytes and then `count` elements of `size` bytes. The elements are at most `most` bytes in all, unless `most` is 0.
 */
struct memory_need {
	uint8_t rule, head;
	uint16_t count : 4, limit : 2, from : 3;
	uint16_t copy : 3;  /* enum memory_copy; only in memory_tables.needs */
	uint16_t parts : 4; /* memory_part.list of what the structure points at, or 0 */
	uint16_t size, most;
};

/* The tables of commands. */
enum memory_table {
	TABLE_FCNTL,
	TABLE_IOCTL,
	TABLE_IOCTL_SIZED, /* ioctl(2): commands that contain the size of their buffer, without this size */
	TABLE_IOCTL_AXIS,  /* ioctl(2): commands that contain the number of an axis, without this number */
	TABLE_PRCTL,
	TABLE_SHMCTL,
	TABLE_MSGCTL,
	TABLE_SEMCTL,
	TABLE_KEYCTL,
	TABLE_PTRACE,
	TABLE_QUOTA,
	TABLE_URING_REGISTER,
	TABLE_URING_ENTER,
	TABLE_BPF,
	TABLE_FUTEX,
	TABLE_KCMP,
	TABLE_REBOOT,
	TABLE_SYSLOG,
	TABLE_FSCONFIG,
	TABLE_LANDLOCK,
	TABLE_MQ_OPEN,
	TABLE_MOUNT_ID,
	TABLE_ARCH_PRCTL,
	TABLE_SECCOMP,
};

/* A row of the tables of commands: the rule for an argument if the call's command is this one. */
struct memory_command {
	uint8_t table;
	uint8_t arg;  /* the argument to which the row applies */
	uint8_t need; /* the index of the rule in a table of struct memory_need */
	uint8_t pad;
	uint32_t command;
};

/* Values of memory_need.parts: what the pointers in a structure point at. */
enum memory_parts {
	PARTS_NONE,
	PARTS_SIGSET,       /* pselect6(2): a set of signals */
	PARTS_URING_ENTER,  /* struct io_uring_getevents_arg: a set of signals and a time */
	PARTS_URING_UPDATE, /* struct io_uring_files_update: descriptors */
	PARTS_XATTR,        /* struct xattr_args: the value */
	PARTS_OUT_XATTR,    /* the same, if the kernel writes the value */
	PARTS_CLONE,        /* struct clone_args: thread ids that the program chooses */
	PARTS_REGSET,       /* struct iovec: registers */
	PARTS_INTERFACES,   /* struct ifconf: the addresses of interfaces */
	PARTS_PARTITION,    /* struct blkpg_ioctl_arg: a partition */
	PARTS_BPF_STRING,   /* union bpf_attr, whose first member is a string */
	PARTS_BPF_PROGRAM,  /* union bpf_attr of BPF_PROG_LOAD: the licence */
};

/* A pointer in a captured structure, and its memory. */
struct memory_part {
	uint8_t list;           /* memory_need.parts */
	uint8_t offset, length; /* offsets of the pointer, and of the number for COUNT_MEMBER, in the structure */
	uint8_t words;          /* 1: the structure consists of pointers or longs, which may have 4 bytes */
	struct memory_need need;
};

/* A capture; its bytes follow, padded to a multiple of 8. */
struct captured {
	uint64_t addr;
	uint32_t len;
	uint32_t before; /* 1: the capture was made before the call, which may have changed the memory since */
};
/* Values of `before` for what is not memory: struct captured_name, captured_socket and captured_copy of the descriptor `addr`. */
#define CAPTURED_NAME   2
#define CAPTURED_SOCKET 3
#define CAPTURED_COPY   4
/*
 * An address at which no program has memory. Under it, the recorder captures the protocol of a message's socket, as if that were
 * memory: the number of a protocol of netlink(7), or CAPTURED_NO_NETLINK.
 */
#define CAPTURED_PROTOCOL_AT ((uint64_t)-8)
#define CAPTURED_NO_NETLINK  (-1)

/* The rule of an argument: its index in memory_tables.needs, and the rule's member `copy`. */
struct memory_rule_of {
	uint8_t need;
	uint8_t arg : 4, copy : 4;
};

/* What decoders read of the memory to which the member `addr` of a request of io_uring(7) points. */
enum uring_memory {
	URING_NOTHING,
	URING_BYTES,   /* the data that are written */
	URING_VECTOR,  /* an array of struct iovec, and the data that are written */
	URING_BUFFERS, /* an array of struct iovec, whose buffers will be filled */
	URING_PATH,    /* a string */
	URING_TIME,    /* a struct __kernel_timespec */
	URING_ADDRESS, /* an address of a socket, of as many bytes as the member `off` says */
	URING_MEMORIES,
};

/* The rules, for both sides. */
#define MEMORY_NEEDS    256
#define MEMORY_PARTS    16
#define MEMORY_COMMANDS 720
struct memory_tables {
	struct memory_need needs[MEMORY_NEEDS];
	struct memory_part parts[MEMORY_PARTS];
	struct memory_command commands[MEMORY_COMMANDS];
	uint32_t nneeds, ncommands;
	/* The operations of io_uring with this enum uring_memory that can be recorded: bit N for operation N below 64. */
	uint64_t rings[URING_MEMORIES];
};

/* The commands are sorted by this number. */
static inline __attribute__((always_inline)) uint64_t memory_command_key(const struct memory_command *row)
{
	return (uint64_t)row->table << 40 | (uint64_t)row->arg << 32 | row->command;
}

/* Returns the row with this key, or NULL. */
static inline __attribute__((always_inline)) const struct memory_command *
memory_find_command(const struct memory_tables *t, uint64_t key)
{
	uint32_t low = 0, high = t->ncommands;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		const struct memory_command *row = &t->commands[middle];
		uint64_t here = memory_command_key(row);
		if (here == key)
			return row;
		if (here < key)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* The first members of struct clone_args (linux/sched.h). */
struct clone_begin {
	uint64_t flags, pidfd, child_tid, parent_tid;
};
#define CLONE_WRITES_TID 0x100000 /* CLONE_PARENT_SETTID (clone(2)) */
#define CLONE_WRITES_FD  0x1000   /* CLONE_PIDFD */

/* struct iovec (readv(2)). Declared here, because code that runs in the program must not include sys/uio.h. */
struct capture_iovec {
	uint64_t base, len;
};
#define IOVECS_MOST 1024 /* UIO_MAXIOV */

/* struct iovec, struct msghdr (recvmsg(2)) and struct mmsghdr (recvmmsg(2)): their sizes and members, in words */
enum {
	IOVEC_WORDS = 2,
	MSG_NAME = 0,
	MSG_NAMELEN, /* 32 bits */
	MSG_IOV,
	MSG_IOVLEN,
	MSG_CONTROL,
	MSG_CONTROLLEN,
	MSG_WORDS = 7,
	MMSG_BYTES = MSG_WORDS, /* 32 bits: how many bytes were transferred */
	MMSG_WORDS,
};

/* struct mmsghdr of 64-bit programs */
struct capture_message {
	uint64_t name;
	uint32_t namelen, pad1;
	uint64_t iov, iovlen, control, controllen;
	int32_t flags, pad2;
	uint32_t bytes, pad3;
};
#define ADDRESS_MOST  128  /* the largest part of an address that is shown, in bytes */
#define CONTROL_MOST  4096 /* the largest part of control data that is shown, in bytes */
#define CONTROL_LEAST 16   /* size of the header of control data, which is always shown */

/* struct iocb (linux/aio_abi.h) */
struct capture_request {
	uint64_t data;
	uint32_t key, rw_flags;
	uint16_t command, priority;
	uint32_t fd;
	uint64_t buf, nbytes;
	int64_t offset;
	uint64_t reserved;
	uint32_t flags, resfd;
};

#endif
