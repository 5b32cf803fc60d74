/*
 * Records: the data about single calls that the recorder writes inside the traced program, and the ring that holds them
 * until sctrace reads them. Included by C on both sides and by agent.S.
 *
 * Each thread has a ring of its own. Only that thread writes to it, and only sctrace reads it. The thread finds its
 * ring by its fs base (the address of its thread-local storage) in a table that sctrace fills in. A ring is shared
 * memory, so sctrace must not trust it.
 *
 * A record is opened before the call and committed after it. (That of rt_sigreturn(2), which does not return to the
 * agent, is committed just before the call.) Captures are copies of the memory that the decoders will need. The
 * recorder makes them after the call, and only of memory that the call is known to have read or written, so that copying
 * cannot fault. Otherwise the recorder asks sctrace, which completes the record from the stopped thread's memory.
 *
 * Memory that the call both reads and changes is also captured before the call, and so are the arguments of execve(2).
 * If this capture faults, the call is made without the recorder.
 */
#ifndef SCTRACE_ENGINE_PATCH_CODE_RING_H
#define SCTRACE_ENGINE_PATCH_CODE_RING_H

/* The addresses in the program: read-only code and recipes, then the private table of threads. */
#define RECORDER_CODE (AGENT_CODE + 0x2000)
#define RECORDER_ROOM 0x2000
#define COMMANDS_AT   (AGENT_CODE + 0x3800) /* COMMANDS rows of struct agent_command, in the same mapping */
#define COMMANDS      256
#define RECIPES_AT    (AGENT_CODE + 0x4000)
#define RECIPES_ROOM  0x4000
#define THREADS_AT    (AGENT_CODE + 0x7f00000)
#define THREADS_ROOM  0x40000

/*
 * The table of threads consists of buckets, so that a thread needs no count to find its row: the bucket ends where the low
 * byte of the address becomes 0. The bucket of a thread is a hash of its fs base. Fibonacci hashing (Knuth, TAOCP 3, 6.4)
 * spreads addresses at regular distances evenly, and the C library places the fs bases of threads at such distances: the
 * size of a stack, or 64 MiB, to which it aligns the memory of malloc(3). With 4,096 threads, a bucket has about 4 rows in
 * use, and 9 at most.
 */
#define THREAD_BUCKETS 1024
#define THREAD_ROWS    16 /* rows of a bucket */
#define THREAD_MIX     0x61c88647

#define RING_SIZE   0x40000
#define RING_HEAD   0x1000                                /* the header has a page of its own */
#define RECORD_MOST 0x8200                                /* the greatest size of a record */
#define RING_DATA   (RING_SIZE - RING_HEAD - RECORD_MOST) /* a record that begins in this part may end after it */
#define RINGS       256                                   /* rings in one region */
/*
 * Rings that a program maps at first. It maps more only when it has more threads (record/admit.c), because mapped
 * memory counts towards RLIMIT_AS and RLIMIT_MEMLOCK, and mlockall(2) makes all of it resident.
 */
#define RINGS_AT_FIRST 4

/*
 * A thread's scratch memory: the recorder's stack, and above it a struct agent_scratch, in SCRATCH_TOP bytes. It is private
 * memory of the program, whereas rings are shared, so that a fork(2) child that writes to its scratch memory does not harm
 * its parent. The recorder needs only a part of the stack. The rest is for a handler: if sctrace is killed, a signal may
 * come while a thread of an attached process is in the recorder. The program maps as much scratch memory as rings.
 */
#define SCRATCHES_AT (AGENT_CODE + 0x8000000)
#define SCRATCH_SIZE 0x10000
#define SCRATCH_TOP  0x100

/* Offsets in the structures below for agent.S. Assertions compare them with the structures. */
#define SCRATCH_BUSY   0
#define SCRATCH_KIND   4
#define SCRATCH_NR     8
#define SCRATCH_ARGS   16
#define SCRATCH_RET    64
#define SCRATCH_SP     72
#define SCRATCH_RESULT 80
#define SCRATCH_RECORD 88
#define SCRATCH_SAVED  96
#define SCRATCH_RING   144
#define RECORD_T0      8
#define RECORD_T1      16
#define RECORD_RESULT  24

/* Values of agent_scratch.busy. */
#define SCRATCH_IDLE     0
#define SCRATCH_ENTERING 1 /* the call has not been made */
#define SCRATCH_MADE     2 /* the call has been made, but its record is not committed */

/* Values of agent_scratch.kind. */
#define KIND_USUAL     0
#define KIND_RETURN    1 /* rt_sigreturn(2), whose record is committed just before the call */
#define KIND_THREAD    2 /* clone(2) or clone3(2) of a thread */
#define KIND_ANNOUNCED 3 /* the thread stops before the call, when its record is open */
#define KIND_QUERY     4 /* rt_sigaction(2) that reads the action of SIGSYS (agent.S) */
/* vfork(2) and similar calls: the number of the kept frame, from KEPT_FIRST on (agent.h) */

/* Bytes below the program's stack pointer during a call of the agent: red zone, return address, three registers. */
#define BELOW_PROGRAM (128 + 8 + 24)
/* Offsets in the frame of a signal (struct ucontext, arch/x86/include/uapi/asm/ucontext.h). */
#define UC_RAX  144
#define UC_MASK 296

/*
 * The kernel has no call with this number. The agent makes it only to stop the thread for sctrace, which then reports
 * that a recorded call begins (from agent_announce), or completes the record of a call that was made (from agent_ask).
 */
#define AGENT_ASK 0x5ca5

#ifndef __ASSEMBLER__
#include "engine/patch/code/agent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The head of a record. It ends with the call's last argument; the captures follow. It is as short as possible, because
 * each cache line of the ring costs time: sctrace has read it on another CPU before.
 */
struct agent_record {
	uint16_t size;   /* of the head and the captures; 0 while the record is open */
	uint16_t before; /* size of the head and of the captures that were made before the call */
	uint16_t nr;
	uint8_t head;  /* size of the head */
	uint8_t marks; /* the reader's; 0 in the ring */
	/* Time stamps. t0 is 0 until just before the call, and t1 until the call has been made. */
	uint64_t t0, t1;
	int64_t result;
	uint64_t ret; /* the return address into the stub, which identifies the call site */
	uint64_t sp;  /* the stack pointer at the agent's frame */
	uint64_t args[6];
};
#define RECORD_HEAD_LEAST offsetof(struct agent_record, args)
#define RECORD_HEAD_MOST  sizeof(struct agent_record)

/* A capture; its bytes follow, padded to a multiple of 8. */
struct agent_capture {
	uint64_t addr;
	uint32_t len;
	uint32_t before; /* 1: the capture was made before the call, which may have changed the memory since */
};

struct agent_ring {
	/* Written by the thread: */
	uint64_t produced;   /* bytes of RING_DATA used by all committed records so far */
	uint64_t open;       /* 1 + the offset of the open record, or 0 */
	uint32_t next;       /* where the next record begins */
	uint32_t limit;      /* size of the ring's data, at most RING_DATA; written by sctrace */
	uint64_t string_max; /* limit for the captured bytes of a buffer */
	uint64_t pad0[4];
	/* Written by sctrace: */
	uint64_t consumed; /* how much of `produced` sctrace has read */
	uint64_t pad1[7];
};

struct agent_scratch {
	uint32_t busy, kind;
	uint64_t nr;
	uint64_t args[6]; /* rdi, rsi, rdx, r10, r8, r9 */
	uint64_t ret, sp;
	int64_t result;
	uint64_t record; /* the open record */
	/*
	 * rbx, rbp, r12 to r15. The recorder's C code restores these registers only when it returns. These copies are
	 * for a thread that the tracer moves out of that code.
	 */
	uint64_t saved[6];
	uint64_t ring; /* the address of struct agent_ring; set by sctrace */
};

/* A row of the table of threads. */
struct agent_thread {
	uint64_t fs_base; /* the thread's fs base; 0 is a valid value, so an unused row is one without scratch memory */
	uint64_t scratch; /* the address of the thread's scratch memory; if it is 0, the thread's calls go to sctrace */
};

/* Returns the number of the bucket that contains the row of a thread. */
static inline unsigned thread_bucket(uint64_t fs_base)
{
	return fs_base * THREAD_MIX >> 32 & (THREAD_BUCKETS - 1);
}

/* How the recorder treats an argument. */
enum recipe_rule {
	/* Before the call: the call goes to sctrace unless the condition holds. */
	RECIPE_IF_APART = 1, /* the argument and argument `size` point at different memory */
	/*
	 * The argument before this one is a command, which is looked up in the table of commands from row `size` on.
	 * The row of the command says what is captured.
	 */
	RECIPE_COMMAND,
	/* Arguments of execve(2). Captured only before the call, because the memory is lost if it succeeds: */
	RECIPE_PATH,     /* a string up to its NUL */
	RECIPE_POINTERS, /* pointers up to a NULL */
	RECIPE_STRINGS, /* at most `size` pointers up to a NULL, and at most string_max + 1 bytes of each of their strings */
	/* rt_sigreturn(2). Captured only before the call, which does not return here: */
	RECIPE_FRAME_MASK, /* the signal mask in the signal frame at the program's stack pointer */
	/* Captured before the call, and again after it: */
	RECIPE_CHANGED, /* `size` bytes, which the kernel reads and then changes */
	RECIPE_FD_SET,  /* a set of descriptors (select(2)); argument 0 gives their number */
	/*
	 * clone3(2): before the call, the structure, whose size is the next argument, but at most `size` bytes of it. After
	 * the call, the thread id and the descriptor to which its members parent_tid and pidfd point.
	 */
	RECIPE_CLONE_ARGS,
	/* Captured after the call: */
	RECIPE_CLONE_TID, /* clone(2): a thread id or a descriptor, if the flags, argument 0, say so */
	/*
	 * A string up to its NUL, which the kernel reads. `size` is not a size here, but 0 or an error number: if the call
	 * fails with this error, the kernel has read the string nevertheless. ENODATA stands for calls such as getxattr(2),
	 * for which other errors prove less than usual (proves_string()).
	 */
	RECIPE_STRING,
	RECIPE_IN,          /* `size` bytes, which the kernel reads */
	RECIPE_IN_SIZED,    /* as many bytes as the next argument says, at most `size`; the kernel reads them */
	RECIPE_IN_BYTES,    /* as many bytes as the next argument says, at most string_max */
	RECIPE_IN_ARRAY,    /* as many elements of `size` bytes as the next argument says; the kernel reads them */
	RECIPE_OUT,         /* `size` bytes, which the kernel writes if the call succeeds */
	RECIPE_OUT_BYTES,   /* as many bytes as the result says, at most string_max */
	RECIPE_OUT_ALL,     /* as many elements of `size` bytes as the result says */
	RECIPE_ON_ERROR,    /* sctrace must complete the record if the call failed */
	RECIPE_FUTEX_TIME,  /* futex(2): a struct timespec, if the operation in argument 1 has a timeout */
	RECIPE_EPOLL_EVENT, /* epoll_ctl(2): a struct epoll_event, except for EPOLL_CTL_DEL */
	/*
	 * As many struct iovec as the next argument says, and at most string_max bytes of each buffer; the kernel reads
	 * both.
	 */
	RECIPE_IN_IOVEC,
	/* Like RECIPE_IN_IOVEC, but only if the call succeeded; the kernel fills as many bytes as the result says. */
	RECIPE_OUT_IOVEC,
	/*
	 * At most `size` bytes, which the kernel writes if the call succeeds. The number of bytes is the value to which
	 * the next argument (a RECIPE_CHANGED) points, before or after the call, whichever is smaller.
	 */
	RECIPE_OUT_SIZED,
	RECIPE_SIGSET_PAIR, /* pselect6(2): a pointer to a set of signals, and the size of the set */
	/* Like RECIPE_IN_BYTES, but sctrace must complete the record if the bytes may be a netlink message. */
	RECIPE_SOCK_BYTES,
	/*
	 * Like RECIPE_OUT_BYTES, but at most as many bytes as the next argument says. sctrace must complete the record
	 * if the bytes may be a netlink message.
	 */
	RECIPE_OUT_SOCK_BYTES,
	RECIPE_MSG, /* a struct msghdr and everything that it points at, which the kernel reads */
	/* A struct msghdr that the kernel writes if the call succeeds; msg_namelen is also captured before the call. */
	RECIPE_OUT_MSG,
	RECIPE_MMSG, /* as many struct mmsghdr as the next argument says, which the kernel reads */
	/*
	 * As many struct mmsghdr as the result says, which the kernel writes. Before the call, the length of the address in
	 * at most the first `size` of them.
	 */
	RECIPE_OUT_MMSG,
};

/* Values of agent_recipe.fence. */
#define FENCE_NONE   0
#define FENCE_LOADS  1
#define FENCE_STORES 2

#define RECIPE_OPS 7
struct agent_recipe {
	uint8_t n : 4, nargs : 4; /* number of operations, and of the call's arguments */
	uint8_t fence;            /* FENCE_*: what must be finished before t0 is taken */
	uint8_t announces;        /* 1: the thread stops before the call, when its record is open */
	uint8_t asks;             /* 1: if the call succeeds, sctrace must complete the record */
	struct {
		uint8_t rule, arg;
		uint16_t size;
	} op[RECIPE_OPS];
};

/* A command of fcntl(2), ioctl(2) or prctl(2). Each table ends with a row whose rule is RECIPE_END. */
struct agent_command {
	uint32_t command;
	uint16_t size;
	uint8_t rule, pad; /* RECIPE_IN or RECIPE_OUT; 0: nothing is captured */
};
#define RECIPE_END 255

/* The first members of struct clone_args (linux/sched.h). */
struct agent_clone_args {
	uint64_t flags, pidfd, child_tid, parent_tid;
};
#define AGENT_PARENT_SETTID 0x100000 /* CLONE_PARENT_SETTID (clone(2)) */
#define AGENT_PIDFD         0x1000   /* CLONE_PIDFD */

/* Does clone(2) with these flags write to the memory to which its third argument points? */
static inline bool clone_writes(uint64_t flags)
{
	return flags & (AGENT_PARENT_SETTID | AGENT_PIDFD);
}

/* struct iovec (readv(2)). Declared here, because code that runs in the program must not include sys/uio.h. */
struct agent_iovec {
	uint64_t base, len;
};
#define IOVECS_MOST 1024 /* UIO_MAXIOV */

/* struct mmsghdr (recvmmsg(2)): a struct msghdr (recvmsg(2)), and how many bytes were transferred */
struct agent_message {
	uint64_t name;
	uint32_t namelen, pad1;
	uint64_t iov, iovlen, control, controllen;
	int32_t flags, pad2;
	uint32_t bytes, pad3;
};
#define MESSAGE_SIZE  offsetof(struct agent_message, bytes) /* size of struct msghdr */
#define ADDRESS_MOST  128                                   /* the largest part of an address that is shown, in bytes */
#define CONTROL_MOST  4096 /* the largest part of control data that is shown, in bytes */
#define CONTROL_LEAST 16   /* size of the header of control data, which is always shown */

/* Returns the size of the set of descriptors for select(2), whose first argument is `n`. */
#define FD_SET_MOST 65536 /* the largest number of descriptors that are shown */
static inline uint32_t fd_set_size(uint64_t n)
{
	uint32_t set = (int32_t)n > 0 ? (uint32_t)n : 0;
	return ((set < FD_SET_MOST ? set : FD_SET_MOST) + 63) / 64 * 8;
}

/*
 * Returns how many bytes of the call's memory an operation of the recipe captures, except for strings, vectors and
 * messages. If `result` is -1, the call has not been made, and only its input is captured.
 */
static inline __attribute__((always_inline)) uint64_t
recipe_bytes(unsigned rule, unsigned arg, uint64_t size, const uint64_t args[6], int64_t result, uint64_t string_max)
{
	uint64_t next = arg < 5 ? args[arg + 1] : 0, done = result > 0 ? (uint64_t)result : 0;
	if (rule == RECIPE_OUT_BYTES)
		return done < string_max ? done : string_max;
	if (rule == RECIPE_OUT_ALL)
		return done * size;
	if (rule == RECIPE_FD_SET)
		return done ? fd_set_size(args[0]) : 0;
	if (rule == RECIPE_OUT || rule == RECIPE_OUT_SIZED || rule == RECIPE_CHANGED)
		return result < 0 ? 0 : size;
	if (rule == RECIPE_IN_BYTES)
		return next < string_max ? next : string_max;
	if (rule == RECIPE_IN_SIZED)
		return (uint32_t)next < size ? (uint32_t)next : size;
	if (rule == RECIPE_IN_ARRAY)
		return (uint32_t)next * size;
	return rule == RECIPE_IN || rule == RECIPE_FUTEX_TIME || rule == RECIPE_EPOLL_EVENT ? size : 0;
}

/*
 * May a buffer of `n` bytes contain a netlink message (struct nlmsghdr), whose contents the decoders show? That depends
 * on the descriptor, which only sctrace can examine while the thread is stopped. `first` holds the first 4 bytes of the
 * buffer. In a netlink message they are nlmsg_len, a small little-endian number. Text, and the data of the usual
 * protocols, do not begin with such a number.
 */
static inline bool may_be_netlink(uint32_t first, uint64_t n)
{
	return n >= 16 && first < 0x10000;
}

_Static_assert(RECORD_MOST <= UINT16_MAX && offsetof(struct agent_record, t0) == RECORD_T0 &&
		       offsetof(struct agent_record, t1) == RECORD_T1 &&
		       offsetof(struct agent_record, result) == RECORD_RESULT,
	       "agent.S");
_Static_assert(sizeof(struct agent_scratch) <= SCRATCH_TOP && SCRATCH_TOP % 16 == 0, "the stack is aligned");
_Static_assert(offsetof(struct agent_scratch, busy) == SCRATCH_BUSY &&
		       offsetof(struct agent_scratch, kind) == SCRATCH_KIND &&
		       offsetof(struct agent_scratch, nr) == SCRATCH_NR &&
		       offsetof(struct agent_scratch, args) == SCRATCH_ARGS &&
		       offsetof(struct agent_scratch, ret) == SCRATCH_RET &&
		       offsetof(struct agent_scratch, sp) == SCRATCH_SP &&
		       offsetof(struct agent_scratch, result) == SCRATCH_RESULT &&
		       offsetof(struct agent_scratch, record) == SCRATCH_RECORD &&
		       offsetof(struct agent_scratch, saved) == SCRATCH_SAVED &&
		       offsetof(struct agent_scratch, ring) == SCRATCH_RING,
	       "agent.S");
_Static_assert(sizeof(struct agent_ring) <= RING_HEAD && THREAD_ROWS * sizeof(struct agent_thread) == 256, "agent.S");
_Static_assert(COMMANDS_AT + COMMANDS * sizeof(struct agent_command) <= RECORDER_CODE + RECORDER_ROOM, "room");
_Static_assert(512 * sizeof(struct agent_recipe) == RECIPES_ROOM, "a recipe for each call that the agent makes");
_Static_assert(THREAD_BUCKETS *THREAD_ROWS * sizeof(struct agent_thread) == THREADS_ROOM, "the table has room");
_Static_assert(SCRATCHES_AT + RINGS * SCRATCH_SIZE <= AGENT_LIMIT, "room");
_Static_assert(RING_DATA % 64 == 0, "the data are whole cache lines");

/*
 * These two functions of recorder.c run in the program, on the stack in the scratch memory. agent.S calls them. They
 * use nothing outside their own section.
 *
 * recorder_enter() opens a record for the call in s->nr and s->args and returns it. It returns NULL if the call must go
 * to sctrace, because of its arguments or because the ring is full. recorder_leave() commits the record; it returns 1
 * if sctrace must complete the record.
 */
struct agent_record *recorder_enter(struct agent_scratch *s);
uint64_t recorder_leave(struct agent_scratch *s);

/*
 * Returns the offset of the record that follows a record of `size` bytes at `off`. Sets *taken to how many bytes of
 * RING_DATA the record at `off` uses.
 */
static inline uint32_t ring_step(uint32_t off, uint32_t size, uint32_t limit, uint32_t *taken)
{
	uint32_t left = off < limit ? limit - off : 0;
	*taken = size < left ? size : left;
	return size < left ? off + size : 0;
}

/* The addresses of ring number `index` and of the scratch memory that belongs to it, in the program. */
static inline uint64_t ring_address(unsigned index)
{
	return AGENT_STATS + AGENT_STATS_SIZE + (uint64_t)index * RING_SIZE;
}

static inline uint64_t scratch_address(unsigned index)
{
	return SCRATCHES_AT + ((uint64_t)index + 1) * SCRATCH_SIZE - SCRATCH_TOP;
}

static inline struct agent_record *ring_record(struct agent_ring *r, uint32_t off)
{
	return (struct agent_record *)(void *)((unsigned char *)r + RING_HEAD + off);
}
#endif

#endif
