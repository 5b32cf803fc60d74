/* SPDX-License-Identifier: MIT */
/* Definitions that the kernel half (sctrace.bpf.c) and the loader (loader.h) of the bpf engine share. */
#ifndef SCTRACE_ENGINE_BPF_SHARED_H
#define SCTRACE_ENGINE_BPF_SHARED_H

/*
 * Times fall into the buckets of stats/hist.h: 32 for each power of two. A histogram consists of chunks of 32 buckets,
 * each of which is allocated when a measured time first falls into it, because a call's times spread over few powers of
 * two. Chunks 0 and 1 hold 0 to 63 ns, and the last one all times from 2^45 ns (9.8 hours) on. Times from 2^46 ns
 * on fall into its last bucket.
 */
#define CHUNK_BITS     5
#define CHUNK_SIZE     (1 << CHUNK_BITS)
#define CHUNKS_PER_ROW 42 /* maximum number of chunks of a histogram */
#define SHARDS_MAX     8  /* copies of each chunk; each CPU adds to one of them, by atomic additions */

#define TASK_CACHE   16 /* rows that a thread finds without a look-up in the hash table */
#define COMM_SIZE    16 /* TASK_COMM_LEN */
#define SQUARE_SHIFT 10 /* times of 2^20 ns and more are squared in units of 2^10 ns to avoid an overflow */

/* Which tasks are counted. */
enum count_scope {
	SCOPE_TASKS,  /* tasks that the loader has marked, and their children */
	SCOPE_CGROUP, /* tasks in a control group */
	SCOPE_ALL,    /* all tasks except those of the loader */
};

/* How the counts are split. */
enum count_split { SPLIT_NONE, SPLIT_PROCESS, SPLIT_THREAD };

/* The key of a row. `id` is 0, a process id or a thread id, depending on the split. It can also be ROW_ID_SELF. */
struct row_key {
	unsigned int id;
	unsigned int compat; /* 1: the call belongs to the 32-bit architecture */
	long long nr;
};
#define ROW_ID_SELF 0xffffffffu /* calls that the loader makes for calibration */

/* The process or thread with the id of a row. The times are those of bpf_ktime_get_ns(). */
struct row_owner {
	char comm[COMM_SIZE];
	unsigned long long first_ns;      /* when it first had a row */
	unsigned long long end_ns;        /* when it ended; 0: it has not */
	unsigned long long unfinished_ns; /* how long it was in a call that did not return, if it has ended */
};

/* What a slot is used for. */
struct row_tag {
	struct row_key key;
	unsigned int used; /* set last: the other members are valid if this is not 0 */
	unsigned int pad;
};

/* One row's counts on one CPU. */
struct row_counts {
	unsigned long long entered, returned, errors, restarted;
	/* time of returned calls, and time of calls that were interrupted and restarted */
	unsigned long long ns, restarted_ns;
	/* smallest and greatest time of one epoch, and the number of this epoch (see `epoch` in maps.bpf.h) */
	unsigned long long min_ns, max_ns, epoch;
	/* Sums of squares: of times below 2^(2 * SQUARE_SHIFT) ns, and of others in (2^SQUARE_SHIFT ns)^2. */
	unsigned long long squares, big_squares;
	unsigned long long sum;              /* sum of the positive results */
	unsigned long long last_ns;          /* when the latest call returned */
	unsigned long long waits, waited_ns; /* returned calls during which the thread lost its CPU, and their time */
};

/* The chunks of a row's histogram; 0 if a chunk is not allocated. All CPUs allocate them, by compare-and-swap. */
struct row_hist {
	unsigned int chunk[CHUNKS_PER_ROW];
};

struct hist_chunk {
	unsigned long long count[CHUNK_SIZE];
};

struct row_errno {
	unsigned int slot;
	unsigned int err;
};

/* Flags in struct task_state, the state that a thread has in its task storage. */
enum task_flags {
	TASK_IN_CALL = 1 << 0,
	/* Not seen yet. If its first event is an exit, that of clone(2), it has no entry. */
	TASK_UNSEEN = 1 << 1,
	TASK_WAITING = 1 << 2, /* the thread is not counted until it executes a program */
	TASK_HANDLER = 1 << 3, /* a signal handler is running; when it returns, the interrupted call may be restarted */
	TASK_SELF = 1 << 4,    /* the thread is the loader, during calibration */
};

/* A call that ended with an ERESTART result, until it is known whether the kernel restarts it. */
struct interrupted {
	unsigned int slot; /* 0: no call is stored */
	unsigned int err;
	long long nr;
	unsigned long long ip, sp, ns;
	unsigned long long waited; /* 1: the thread lost its CPU during the call */
};

struct task_state {
	unsigned long long enter_ns;
	unsigned long long switches; /* the thread's context switches when the call began */
	long long nr;
	unsigned int slot;
	unsigned int flags;
	unsigned int ended; /* of the leader: 1 after the last thread of the process has ended */
	struct interrupted interrupted;
	struct {
		unsigned int key; /* call number, with the highest bit set for 32-bit calls */
		unsigned int slot;
	} cache[TASK_CACHE];
};

/* Events in the ring. RING_CALL and RING_VANISH are a struct ring_call or a struct ring_exec. */
enum ring_event_kind { RING_NEW_TASK = 1, RING_EXEC, RING_DEATH, RING_CALL, RING_VANISH };

struct ring_event {
	unsigned int kind;
	unsigned int pid, tid, other; /* `other` is the child, or the thread that called execve(2) */
	unsigned int is_thread;       /* RING_NEW_TASK */
	unsigned int is_process;      /* RING_DEATH: the thread was the last one of its process */
	int status;
	unsigned int pad;
	unsigned long long time_ns;
};

/* How a call is printed instead of counted (CAP_WATCH): the numbers of its arguments, from 1 on; 0: none. */
#define WATCH_CALLS 1024
#define WATCH_PATHS 2
#define WATCH_PATH  256 /* a longer path is cut off */
#define WATCH_ARGS  20
#define WATCH_ARG   64
struct watch_rule {
	unsigned char wanted, path[WATCH_PATHS], argv;
};

struct watch_path {
	unsigned long long addr; /* 0: it could not be read */
	unsigned int size;       /* without the NUL */
	unsigned int ended;      /* the NUL was found */
	char bytes[WATCH_PATH];
};

struct watch_argv {
	unsigned long long addr;
	unsigned int n, pad; /* number of pointers, with the NULL at the end */
	unsigned long long at[WATCH_ARGS];
	struct {
		unsigned int size, ended;
		char bytes[WATCH_ARG];
	} text[WATCH_ARGS];
};

/* A call that has ended. The first members are those of struct ring_event. */
struct ring_call {
	unsigned int kind, pid, tid, waited;
	unsigned long long
		args[8]; /* the arguments are args[1] to args[6], so that the verifier accepts a masked index */
	unsigned long long ip, sp, enter_ns, exit_ns;
	long long nr, result;
	char comm[COMM_SIZE];
	struct watch_path path[WATCH_PATHS];
};

/* A call that executes a program. */
struct ring_exec {
	struct ring_call call;
	struct watch_argv argv;
};

/*
 * Returns floor(log2(x)) for x > 0. The function has no branch, because the kernel's verifier follows each branch. It
 * sets all bits below the highest one. A multiplication by a de Bruijn sequence then gives each of the 64 possible
 * values an index of its own (Leiserson, Prokop, Randall: Using de Bruijn Sequences to Index a 1 in a Computer Word,
 * 1998).
 */
static inline unsigned int floor_log2(unsigned long long x)
{
	static const unsigned char place[64] = {0,  47, 1,  56, 48, 27, 2,  60, 57, 49, 41, 37, 28, 16, 3,  61,
						54, 58, 35, 52, 50, 42, 21, 44, 38, 32, 29, 23, 17, 11, 4,  62,
						46, 55, 26, 59, 40, 36, 15, 53, 34, 51, 20, 43, 31, 22, 10, 45,
						25, 39, 14, 33, 19, 30, 9,  24, 13, 18, 8,  12, 7,  6,  5,  63};
	x |= x >> 1;
	x |= x >> 2;
	x |= x >> 4;
	x |= x >> 8;
	x |= x >> 16;
	x |= x >> 32;
	return place[(x * 0x03f79d71b4cb0a89ull) >> 58];
}

/* Returns the chunk of a histogram for `ns`, and sets *bucket to the bucket in that chunk. */
static inline unsigned int chunk_of(unsigned long long ns, unsigned int *bucket)
{
	unsigned int shift = floor_log2(ns | CHUNK_SIZE) - CHUNK_BITS; /* 0 for the first 64 values */
	unsigned int chunk = shift + (unsigned int)((ns >> shift) >> CHUNK_BITS);
	*bucket = (ns >> shift) & (CHUNK_SIZE - 1);
	if (chunk < CHUNKS_PER_ROW)
		return chunk;
	*bucket = CHUNK_SIZE - 1;
	return CHUNKS_PER_ROW - 1;
}

#endif
