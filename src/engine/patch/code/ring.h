/* SPDX-License-Identifier: MIT */
/*
 * Records: the data about single calls that the recorder writes inside the traced program, and the ring that holds them
 * until sctrace reads them. Included by C on both sides and by agent.S.
 *
 * Each thread has a ring of its own. Only that thread writes to it, and only sctrace reads it. The thread finds its
 * ring by its thread pointer (the address of its thread-local storage) in a table that sctrace fills in. A ring is shared
 * memory, so sctrace must not trust it.
 *
 * A record is opened before the call and committed after it. (That of rt_sigreturn(2), which does not return to the
 * agent, is committed just before the call.) Captures are copies of the memory that the decoders will need. The
 * recorder makes them after the call, and only of memory that the call is known to have read or written, so that copying
 * cannot fault. After a call that failed, the recorder lets the kernel copy other memory, by process_vm_readv(2). If it may not do so
 * (agent_ring.permits), it asks sctrace, which completes the record from the stopped thread's memory.
 *
 * Memory that the call both reads and changes is also captured before the call, and so are the arguments of execve(2).
 * If this capture faults, the call is made without the recorder.
 */
#ifndef SCTRACE_ENGINE_PATCH_CODE_RING_H
#define SCTRACE_ENGINE_PATCH_CODE_RING_H

/*
 * The addresses in the program: read-only code, memory rules and recipes, then five private tables: of threads, two of
 * descriptors, one of names, and one of sockets.
 */
#define RECORDER_CODE  (AGENT_DATA + AGENT_DATA_SIZE)
#define RECORDER_ROOM  0x9000
#define OWN_CALL_AT    (RECORDER_CODE + 16)     /* the address of agent_own_call */
#define MEMORY_AT      (RECORDER_CODE + 0x7000) /* struct memory_tables, in the same mapping */
#define RECIPES_AT     (RECORDER_CODE + RECORDER_ROOM)
#define RECIPES_ROOM   0x3000
#define THREADS_AT     (AGENT_CODE + 0x40000)
#define THREADS_ROOM   0x48000
#define ELSEWHERE_AT   (THREADS_AT + 0x40000) /* see elsewhere_row() */
#define ELSEWHERE_ROWS 1024
#define NAMED_AT       (ELSEWHERE_AT + 0x1000) /* see named_row() */
#define NAMED_ROWS     1008
#define NAMED_UNSURE   (NAMED_AT + 4 * NAMED_ROWS) /* see named_row() */
#define NAMED_LACKING  (NAMED_UNSURE + 4)  /* 1: a record lacks a name, because the recorder could not find it */
#define NAMED_SERIAL   (NAMED_LACKING + 4) /* changes before rows of this table are removed */
#define NAMED_TURN     (NAMED_SERIAL + 4)  /* see struct kept_name; changes when files get other names */
#define NAMED_WORDS    1024                /* with the rows */
#define KEPT_NAMES_AT  (NAMED_AT + 4 * NAMED_WORDS) /* struct kept_name */
#define KEPT_NAMES     64
#define PAIRS_AT       (KEPT_NAMES_AT + 0x4000) /* struct socket_pair */
#define PAIRS          256
#define URINGS_AT      (PAIRS_AT + 0x1000) /* struct uring_row */
#define URINGS         32

/*
 * The table of threads consists of buckets of 256 bytes, aligned to 256. So the search in a bucket ends when the low byte of
 * the address becomes 0, and needs no counter. The bucket of a thread is a hash of its thread pointer. Fibonacci hashing (Knuth, TAOCP 3, 6.4)
 * spreads addresses at regular distances evenly, and the C library places the fs bases of threads at such distances: the
 * size of a stack, or 64 MiB, to which it aligns the memory of malloc(3). With 4,096 threads, a bucket has about 4 rows in
 * use, and 9 at most.
 */
#define THREAD_BUCKETS 1024
#define THREAD_ROWS    16 /* rows of a bucket */
#define THREAD_MIX     0x61c88647

/*
 * A ring has 1, 4, 16 or 64 pages, depending on how many calls its thread makes, and on how much memory there is. The rings
 * of an image follow its slots, in the same mapping. The program maps more of this memory only when it needs it
 * (record/room.c), because mapped memory counts towards RLIMIT_AS and RLIMIT_MEMLOCK, and mlockall(2) makes all of it
 * resident.
 */
#define RING_PAGES_MOST    64
#define RING_SIZE          (RING_PAGES_MOST * AGENT_PAGE)
#define RING_HEAD          128                      /* size of the header (struct agent_ring) */
#define RING_END           (RING_SIZE - RING_HEAD)  /* size of the largest ring's data */
#define RECORD_MOST        0x8200                   /* the greatest size of a record */
#define RING_DATA          (RING_END - RECORD_MOST) /* a record that begins in this part may end after it */
#define RING_ROOM          0x40000000               /* size of all rings in one region at most */
#define RING_ROOM_AT_FIRST 0x100000                 /* how much of it a program maps at first */

/*
 * A thread's scratch memory: the recorder's stack, and above it a struct agent_scratch, in SCRATCH_TOP bytes. It is private
 * memory of the program, whereas rings are shared, so that a fork(2) child that writes to its scratch memory does not harm
 * its parent. The recorder needs less than 1 KiB of its stack. If the process was attached to, the stack has more pages for a
 * handler: if sctrace is killed, a signal may come while the thread is in the recorder.
 */
#define SCRATCHES_AT          (AGENT_CODE + 0x200000)
#define SCRATCH_ROOM          0x8000000 /* size of all scratch memories of an image at most */
#define SCRATCH_ROOM_AT_FIRST 0x40000   /* how much of it a program maps at first */
#define SCRATCH_SIZE          AGENT_PAGE
#define SCRATCH_SIZE_ATTACHED (8 * AGENT_PAGE)
#define SCRATCH_TOP           0x140

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
#define SCRATCH_RING   (SCRATCH_SAVED + 8 * CPU_SAVED)
#define SCRATCH_ARMED  (SCRATCH_RING + 8)
#define SCRATCH_LANE   (SCRATCH_RING + 24)
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

/*
 * The kernel has no call with this number. The agent makes it only to stop the thread for sctrace, which then reports
 * that a recorded call begins (from agent_announce), or completes the record of a call that was made (from agent_ask).
 */
#define AGENT_ASK 0x5ca5

#ifndef __ASSEMBLER__
#include "engine/patch/code/agent.h"
#include "syscall/rules.h"

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
	uint8_t head; /* size of the head */
	/*
	 * While the record is open: 1 if the thread stops before the call, until sctrace answers. Later MARK_JUDGED and
	 * MARK_WAITED, to which the reader adds marks of its own. MARK_ABSENT at all times.
	 */
	uint8_t marks;
	/* Time stamps. t0 is 0 until just before the call, and t1 until the call has been made. */
	uint64_t t0, t1;
	int64_t result;
	uint64_t ret; /* the return address into the stub, which identifies the call site */
	uint64_t sp;  /* the stack pointer at the agent's frame */
	uint64_t args[6];
};
#define MARK_ABSENT                                                                                                    \
	0x20 /* the descriptor agent_recipe.closes or, without it, agent_recipe.fd was not open before the call */
#define MARK_JUDGED       0x40 /* it is known whether the thread lost its CPU during the call */
#define MARK_WAITED       0x80 /* the thread lost its CPU */
#define MARKS_OF_RECORDER (MARK_ABSENT | MARK_JUDGED | MARK_WAITED)
#define RECORD_HEAD_LEAST offsetof(struct agent_record, args)
#define RECORD_HEAD_MOST  sizeof(struct agent_record)

struct agent_ring {
	/* Written by the thread: */
	uint64_t produced;   /* bytes of RING_DATA used by all committed records so far */
	uint64_t open;       /* 1 + the offset of the open record, or 0 */
	uint32_t next;       /* where the next record begins */
	uint32_t limit;      /* records begin before this offset; at most RING_DATA; written by sctrace */
	uint64_t string_max; /* limit for the captured bytes of a buffer */
	uint32_t end;        /* records end at this offset at most; at most RING_END; written by sctrace */
	uint32_t lacks;      /* enum ring_lack */
	uint32_t permits;    /* RING_PERMITS_*; written by sctrace */
	uint32_t pad0[5];
	/* Written by sctrace: */
	uint64_t consumed; /* how much of `produced` sctrace has read */
	uint64_t pad1[7];
};

/* Values of agent_ring.permits: calls that the recorder may make, although the program has not made them. */
#define RING_PERMITS_READING 1 /* process_vm_readv(2), which reads memory without faulting (capture_load) */
/* fcntl(2), which tests whether a descriptor is open, and getsockopt(2), which says what kind of socket it is */
#define RING_PERMITS_TESTING 2
#define RING_PERMITS_NAMING  4 /* readlink(2) of /proc/self/fd, statx(2) and getsockopt(2): names (named_row()) */
#define RING_NAMES_IN_FULL                                                                                             \
	8 /* not a permission: the kinds of devices and the addresses of sockets will be shown, too */

/*
 * Other processes, or threads with other descriptors, may change the names: the recorder captures the name of each
 * descriptor at each call that uses it, and neither reads nor makes notes (named_row()).
 */
#define RING_NAMES_EACH_TIME 16
/*
 * rename(2), unlink(2) and so on do not stop: the recorder removes its notes after them, and all other processes have
 * RING_NAMES_EACH_TIME.
 */
#define RING_PERMITS_RENAMING 32
/* The names of Unix sockets include the inode of the other end: sctrace could find it, too. */
#define RING_PERMITS_PAIRS 64
/*
 * Records of other processes may lack names that change when this process closes descriptors or ends: those of Unix sockets
 * that are connected to its own, and of pidfds.
 */
#define RING_OTHERS_LACK 128
/* The numbers of processes are the same for the thread and for sctrace: the names of pidfds contain them. */
#define RING_PERMITS_PIDS 256

/* Why the recorder has passed a call to sctrace. sctrace resets it. */
enum ring_lack {
	RING_LACKS_NOTHING,
	RING_FULL,      /* sctrace had not read enough of the ring */
	RING_TOO_SMALL, /* the record did not fit into the ring, although it was empty */
};

#define RECIPE_OPS 6 /* the largest number of arguments whose memory is captured */

struct agent_scratch {
	uint32_t busy, kind;
	uint64_t nr;
	uint64_t args[6]; /* CPU_ARG0 to CPU_ARG5 */
	uint64_t ret, sp;
	int64_t result;
	uint64_t record; /* the open record */
	/*
	 * The registers of cpu_set_saved(). The recorder's C code restores these registers only when it returns. These copies are
	 * for a thread that the tracer moves out of that code.
	 */
	uint64_t saved[CPU_SAVED];
	uint64_t ring;   /* the address of struct agent_ring; set by sctrace */
	uint64_t armed;  /* the address of the thread's rseq_cs, if it shows whether the thread loses its CPU, or 0 */
	uint32_t serial; /* the value of NAMED_SERIAL before the names were captured */
	uint32_t usual;  /* the size of the record so far if the call is usual (recorder.c), otherwise 0 */
	uint64_t lane;   /* the distance of the thread's lane from the slots of its region, or 0; set by sctrace */
	/*
	 * The record must end before `room`. `ops` are the rules of the arguments, also if
	 * the call is not usual. They are in `op` if a command decides about them.
	 */
	uint64_t room;
	const struct memory_rule_of *ops;
	uint64_t nops;
	struct memory_rule_of op[RECIPE_OPS];
};

/* A row of the table of threads. */
struct agent_thread {
	uint64_t thread_pointer; /* 0 is a valid value, so an unused row is one without scratch memory */
	uint64_t scratch; /* the address of the thread's scratch memory; if it is 0, the thread's calls go to sctrace */
};

/* Returns the number of the bucket that contains the row of a thread. */
static inline unsigned thread_bucket(uint64_t thread_pointer)
{
	return thread_pointer * THREAD_MIX >> 32 & (THREAD_BUCKETS - 1);
}

/*
 * A call that can write to the output of the trace stops before it writes, so that the lines of earlier calls are printed
 * first. It does not stop if sctrace has noted that its descriptor refers to something else: in the table at ELSEWHERE_AT,
 * row `fd % ELSEWHERE_ROWS` is then `fd + 1`. The recorder removes the note at a call that closes the descriptor.
 */
static inline uint64_t elsewhere_row(uint32_t fd)
{
	return ELSEWHERE_AT + fd % ELSEWHERE_ROWS * sizeof(uint32_t);
}

/*
 * sctrace can look names up only when it reads the records, and by then calls such as close(2) may have changed them. So the
 * recorder captures the name of a descriptor when a call creates it, or before the first call that uses it. Then row
 * `fd % NAMED_ROWS` of the table at NAMED_AT is `fd + 1`, and other calls need not capture it again. Row `~fd` means that it
 * cannot capture this name: then a call that changes the name stops before it is made, so that sctrace can look the name up.
 * So do all such calls, and no names are captured at their first use any more, after a call has used descriptors that are not
 * among its arguments: NAMED_UNSURE is then 1. Row `fd + 1 | NAMED_PAIRED` is like `fd + 1`, but the name holds only until the
 * other end of the socket is closed, which poll(2) shows. Only threads with RING_PERMITS_NAMING read and change this table.
 */
static inline uint64_t named_row(uint32_t fd)
{
	return NAMED_AT + fd % NAMED_ROWS * sizeof(uint32_t);
}

#define NAMED_PAIRED 0x40000000 /* descriptors are smaller */

/* Values of agent_recipe.names: how the call, if it succeeds, gives the program new descriptors. */
#define NAMES_NONE    0
#define NAMES_RESULT  1 /* its result is the descriptor */
#define NAMES_COMMAND 2 /* the same, for the commands F_DUPFD and F_DUPFD_CLOEXEC of fcntl(2) */
#define NAMES_PAIR    3 /* two descriptors, in memory */
#define NAMES_MESSAGE 4 /* with the control data of messages */
#define NAMES_SOCKET  5 /* none, but it changes the addresses of the socket that is its first argument */
#define NAMES_CWD     6 /* none, but it changes the current directory, for which AT_FDCWD stands */
#define NAMES_RENAME  7 /* none, but it removes files or gives them other names */

#define AWAITED_MOST                                                                                                   \
	14 /* the largest number of descriptors of poll(2) or select(2) whose names the recorder captures */

/* The name of a descriptor in a record. It follows a struct captured whose `addr` is the descriptor. */
struct captured_name {
	uint64_t ticks;   /* time stamp from before the name was looked up */
	uint64_t rdev;    /* st_rdev of the file, if RING_NAMES_IN_FULL is set */
	uint16_t mode;    /* st_mode of the file, or 0 */
	uint16_t deleted; /* 1: `text` ends in NAMES_DELETED (tracee/names.h), because the file has no name any more */
	char text[];      /* the target of the link in /proc/self/fd; not terminated; nothing: the name is not known */
};

/* Follows a struct captured whose `addr` is a new descriptor: it refers to the same as the descriptor `of`, whose name is known. */
struct captured_copy {
	uint64_t ticks, of;
};

/*
 * What the recorder keeps of a file that the program has got to by a way: by a directory and a path, or from another descriptor. If a
 * call gets to a file by the same way again, and if it is the same file, which has not changed and has only one name, then the
 * target of its link in /proc is also the same, and is not looked up again. (It could differ if another program has moved a
 * directory above the file, and a symbolic link now leads to it.)
 */
struct kept_name {
	uint16_t busy;    /* 1 while a thread uses the row */
	uint16_t len;     /* of `text`; 0: only the way has been noted */
	uint32_t turn;    /* the value of NAMED_TURN at that time */
	uint64_t way;     /* way_of() */
	uint64_t file[5]; /* the file system, the mount, the inode, and the time of its last change */
	char text[200];
};

/* Two Unix sockets that socketpair(2) has connected. Each has a row, `inode % PAIRS`, until another one needs it. */
struct socket_pair {
	uint64_t inode, peer;
};

/*
 * An io_uring of the program. The table at URINGS_AT has it in row `descriptor % URINGS`, until another one needs the row. The recorder
 * fills in the row after io_uring_setup(2). At the first io_uring_enter(2) of the ring, which stops the thread, sctrace adds
 * the members that are missing, such as the addresses. Later, the recorder captures the parts of the ring that sctrace would read, so
 * that these calls need not stop the thread.
 */
struct uring_row {
	uint32_t fd;    /* the descriptor + 1; 0: none */
	uint32_t other; /* 1: each call stops the thread, because of the kind of ring, or because it is not found */
	uint32_t seen;  /* the position up to which completions were captured */
	uint32_t sq_entries, cq_entries;                                      /* powers of two */
	uint32_t sq_head, sq_tail, sq_mask, sq_array, cq_tail, cq_mask, cqes; /* offsets from `sq` and `cq` */
	uint64_t sq, cq, sqes;                                                /* addresses; 0: not known */
};

static inline struct uring_row *uring_row(uint32_t fd)
{
	return (struct uring_row *)URINGS_AT + fd % URINGS;
}

/* Values of captured_socket.protocol, besides IPPROTO_TCP, IPPROTO_UDP, and 0. */
#define FULL_RAW     0xff    /* an internet socket for any protocol */
#define FULL_NETLINK 0x10000 /* with the number of the netlink protocol */
#define FULL_PIDFD   0x20000 /* not a socket; `peer` is the number of a process, a uint64_t */
#define FULL_SIGNALS 0x30000 /* a signalfd; `peer` is a set of signals, a uint64_t */

/*
 * The ends of an internet or netlink socket, in a record after the name of its descriptor. `addr` of its struct captured is the
 * descriptor. If `protocol` is 0, it is a Unix socket without an address, or a socket of another family, and `local` is the name of
 * its protocol, terminated. If a Unix socket is connected, `peer` is the inode of the other end, a uint64_t.
 */
struct captured_socket {
	uint32_t protocol;
	uint32_t nlocal, npeer; /* sizes of these addresses; npeer is 0 if the socket is not connected */
	uint32_t changing; /* 1: any call may change the addresses, so they are those of now only; 2: NAMED_PAIRED */
	unsigned char local[28], peer[28]; /* struct sockaddr_in, sockaddr_in6 or sockaddr_nl */
};

/* Values of agent_recipe.fence. */
#define FENCE_NONE   0
#define FENCE_LOADS  1
#define FENCE_STORES 2

#define CLOSES_MANY 15 /* agent_recipe.closes: close_range(2) */
#define FD_CWD      14 /* agent_recipe.fd: the call has a path, and no descriptor, so the current directory matters */

/* How the recorder treats a call. The members from `asks` on are 0 if the call is usual (recorder_enter()). */
struct agent_recipe {
	uint32_t n : 4, nargs : 3; /* number of operations, and of the call's arguments */
	uint32_t waits : 1;        /* 1: finds out whether the call waits. Without effect if CPU_MARKS_WAITS */
	uint32_t fence : 2;        /* FENCE_*: what must be finished before t0 is taken */
	uint32_t apart : 1;        /* 1: the call goes to sctrace if two arguments point at the same memory */
	uint32_t asks : 1;         /* 1: if the call succeeds, sctrace must complete the record */
	uint32_t names : 3;        /* NAMES_* */
	uint32_t announces : 1;    /* 1: the thread stops before the call, when its record is open */
	uint32_t before : 1;       /* 1: the recorder must look at the arguments before the call */
	uint32_t others : 1;       /* 1: the call may use descriptors that are not arguments (has_others()) */
	uint32_t second : 2; /* number of arguments from the one in `fd` to the next descriptor; 0: there is none */
	/* 1 + the number of the argument that it closes, or to which the call can write; 0: there is none. */
	uint32_t closes : 4, writes : 4;
	/*
	 * If names are reported: 1 + the number of the first argument that is a descriptor, or FD_CWD, or 0. A call that
	 * fails with EBADF may have had a descriptor that was not open, and may be open when sctrace looks its name up.
	 */
	uint32_t fd : 4;
	struct memory_rule_of op[RECIPE_OPS];
};

_Static_assert(AGENT_DATA % CPU_PAGE_MOST == 0 && RECORDER_CODE % CPU_PAGE_MOST == 0 &&
		       THREADS_AT % CPU_PAGE_MOST == 0 && SCRATCHES_AT % CPU_PAGE_MOST == 0 &&
		       AGENT_STATS % CPU_PAGE_MOST == 0 && RING_ROOM_AT_FIRST % CPU_PAGE_MOST == 0 &&
		       SCRATCH_ROOM_AT_FIRST % CPU_PAGE_MOST == 0 && STATS_SIZE % CPU_PAGE_MOST == 0 &&
		       STUB_AREA % CPU_PAGE_MOST == 0,
	       "mappings begin at pages");
_Static_assert(RECORDER_CODE + RECORDER_ROOM + RECIPES_ROOM <= THREADS_AT, "room");
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
		       offsetof(struct agent_scratch, ring) == SCRATCH_RING &&
		       offsetof(struct agent_scratch, armed) == SCRATCH_ARMED &&
		       offsetof(struct agent_scratch, lane) == SCRATCH_LANE && RING_SIZE == LANE_SIZE,
	       "agent.S");
_Static_assert(MEMORY_AT + sizeof(struct memory_tables) <= RECIPES_AT, "the tables have room");
_Static_assert(AGENT_CALLS * sizeof(struct agent_recipe) <= RECIPES_ROOM,
	       "a recipe for each call that the agent makes");
_Static_assert(sizeof(struct agent_ring) == RING_HEAD && THREAD_ROWS * sizeof(struct agent_thread) == 256, "agent.S");
_Static_assert(THREADS_AT + THREAD_BUCKETS * THREAD_ROWS * sizeof(struct agent_thread) == ELSEWHERE_AT &&
		       ELSEWHERE_AT + ELSEWHERE_ROWS * sizeof(uint32_t) == NAMED_AT &&
		       NAMED_AT + NAMED_WORDS * sizeof(uint32_t) == KEPT_NAMES_AT &&
		       KEPT_NAMES_AT + KEPT_NAMES * sizeof(struct kept_name) == PAIRS_AT &&
		       PAIRS_AT + PAIRS * sizeof(struct socket_pair) == URINGS_AT &&
		       URINGS_AT + URINGS * sizeof(struct uring_row) <= THREADS_AT + THREADS_ROOM,
	       "the tables have room");
_Static_assert(SCRATCHES_AT + SCRATCH_ROOM <= AGENT_STATS && AGENT_STATS + AGENT_STATS_SIZE + RING_ROOM <= AGENT_LIMIT,
	       "room");
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

/* Returns the value of agent_ring.end for a ring of this size. */
static inline uint32_t ring_end(unsigned pages)
{
	return pages * AGENT_PAGE - RING_HEAD;
}

/* Returns the value of agent_ring.limit for a ring of this size. */
static inline uint32_t ring_limit(unsigned pages)
{
	uint32_t end = ring_end(pages), last = end / 4 < RECORD_MOST ? end / 4 : RECORD_MOST;
	return (end - last) & ~(uint32_t)63;
}

/* Returns the address in the program of the ring that begins at page `page` of the memory for rings. */
static inline uint64_t ring_address(unsigned page)
{
	return AGENT_STATS + AGENT_STATS_SIZE + (uint64_t)page * AGENT_PAGE;
}

/* Returns the address of scratch memory number `index` in the program, if each has `size` bytes. */
static inline uint64_t scratch_address(unsigned index, unsigned size)
{
	return SCRATCHES_AT + ((uint64_t)index + 1) * size - SCRATCH_TOP;
}

static inline struct agent_record *ring_record(struct agent_ring *r, uint32_t off)
{
	return (struct agent_record *)(void *)((unsigned char *)r + RING_HEAD + off);
}
#endif

#endif
