/* What the kernel half (sctrace.bpf.c) and the loader (bpf.c) of the bpf engine share. Compiled for both. */
#ifndef SCTRACE_ENGINE_BPF_SHARED_H
#define SCTRACE_ENGINE_BPF_SHARED_H

/*
 * Times fall into the buckets of stats/hist.h: 32 per power of two. A histogram is kept in chunks of 32 buckets that are
 * handed out when the first time falls into them, for a call's times spread over few powers of two. Chunk 0 and 1 hold
 * 0 to 63 ns, and the last one all from 2^46 ns (19 hours) on.
 */
#define CHUNK_BITS     5
#define CHUNK_SIZE     (1 << CHUNK_BITS)
#define CHUNKS_PER_ROW 42 /* of one call */
#define SHARDS_MAX     8  /* each chunk is held so often, CPUs spread over them; adds are atomic */

#define TASK_CACHE   16 /* calls that a thread finds without a hash lookup */
#define COMM_SIZE    16 /* TASK_COMM_LEN */
#define SQUARE_SHIFT 10 /* times of 2^20 ns and more are squared in units of 2^10 ns, so that sums fit */

/* Whose calls are counted. */
enum count_scope {
	SCOPE_TASKS,  /* those that the loader named, and their children */
	SCOPE_CGROUP, /* those in a control group */
	SCOPE_ALL,    /* all but the loader's own */
};

/* By what the counts are split. */
enum count_split { SPLIT_NONE, SPLIT_PROCESS, SPLIT_THREAD };

/* A row of counts; `id` is 0, a process or a thread by the split, or ROW_ID_SELF. */
struct row_key {
	unsigned int id;
	unsigned int compat; /* 1: a call of the 32-bit architecture */
	long long nr;
};
#define ROW_ID_SELF 0xffffffffu /* the loader's own calls, for calibration */

/* What a slot is in use for. */
struct row_tag {
	struct row_key key;
	unsigned int used; /* set last */
	unsigned int pad;
};

/* One row's counts on one CPU. */
struct row_counts {
	unsigned long long entered, returned, errors, restarted;
	unsigned long long ns, restarted_ns; /* of returned calls, and of those that were interrupted and restarted */
	unsigned long long min_ns, max_ns, epoch; /* since that epoch began; see `epoch` in sctrace.bpf.c */
	unsigned long long squares, big_squares;
	unsigned long long sum; /* of positive results */
};

/* Where the chunks of a row's histogram are; 0: none yet. Filled by all CPUs, so by compare-and-swap. */
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

/* What is kept of a thread, in its task storage. */
enum task_flags {
	TASK_IN_CALL = 1 << 0,
	TASK_FRESH =
		1 << 1, /* nothing was seen of it yet: an exit that comes first has no entry (clone's in the child) */
	TASK_WAITING = 1 << 2, /* not counted until it executes a program */
	TASK_HANDLER = 1 << 3, /* the interrupted call waits for a signal handler to return */
	TASK_SELF = 1 << 4,    /* the loader, calibrating */
	TASK_ROOT = 1 << 5,    /* the started program */
};

/* A call that ended with one of the ERESTART results, until it is known what became of it. */
struct interrupted {
	unsigned int slot; /* 0: none */
	unsigned int err;
	long long nr;
	unsigned long long ip, sp, ns;
};

struct task_state {
	unsigned long long enter_ns;
	long long nr;
	unsigned int slot;
	unsigned int flags;
	struct interrupted interrupted;
	struct {
		unsigned int key; /* call number, highest bit turned for 32-bit calls */
		unsigned int slot;
	} cache[TASK_CACHE];
};

/* What is told through the ring. */
enum ring_event_kind { RING_BIRTH = 1, RING_EXEC, RING_DEATH };

struct ring_event {
	unsigned int kind;
	unsigned int pid, tid, other; /* other: the child, or the tid that called exec */
	unsigned int is_thread;       /* RING_BIRTH */
	unsigned int is_process;      /* RING_DEATH: the last thread */
	int status;
	unsigned int pad;
	unsigned long long time_ns;
};

/*
 * floor(log2(x)) for x > 0, without a branch, for the kernel follows each branch of a program when it checks it: all bits
 * below the highest are set, and a multiplication by a de Bruijn sequence brings each of the 64 values to its own place
 * (Leiserson, Prokop, Randall: Using de Bruijn Sequences to Index a 1 in a Computer Word, 1998).
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

/* The chunk of a histogram that `ns` falls in, and the bucket in it; pure. */
static inline unsigned int chunk_of(unsigned long long ns, unsigned int *bucket)
{
	unsigned int shift = floor_log2(ns | CHUNK_SIZE) - CHUNK_BITS; /* 0 for the first 64 */
	unsigned int chunk = shift + (unsigned int)((ns >> shift) >> CHUNK_BITS);
	*bucket = (ns >> shift) & (CHUNK_SIZE - 1);
	if (chunk < CHUNKS_PER_ROW)
		return chunk;
	*bucket = CHUNK_SIZE - 1;
	return CHUNKS_PER_ROW - 1;
}

#endif
