/* SPDX-License-Identifier: MIT */
/* The user-space half of the bpf engine: declarations that bpf.c, bpf_load.c, counts.c and watch.c share. */
#ifndef SCTRACE_ENGINE_BPF_LOADER_H
#define SCTRACE_ENGINE_BPF_LOADER_H

#include "base/buf.h"
#include "base/map.h"
#include "base/memory.h"
#include "engine/bpf/shared.h"
#include "engine/engine.h"
#include "stats/summary.h"
#include "tracee/mem.h"

#include <bpf/libbpf.h>

struct sctrace_bpf;

/* The contents of a row when it was last read. */
struct row_seen {
	struct row_key key;
	bool used;
	struct row_counts counts; /* sum over all CPUs */
};

struct errno_seen {
	struct row_errno key;
	uint64_t count;
};

struct bpf_engine {
	struct engine base; /* the first member, so that a struct engine * can be cast to this type */
	struct engine_config config;
	struct sctrace_bpf *skel;
	struct ring_buffer *ring;
	VEC(struct ring_event) events; /* read from the ring and not yet reported */
	size_t next_event;
	VEC(struct ring_exec) calls;    /* those of `events`, whose member `other` is the index */
	bool vanishes;                  /* the beginning of the next event, a call that will not return, was reported */
	char comm[COMM_SIZE + 1];       /* event.comm */
	struct mem memory;              /* event.mem */
	uint64_t lost_said, said_at_ns; /* how many lost calls the latest note has told of, and when */
	struct buf note;
	VEC(pid_t) held; /* the started program and its living descendants, for kill() */
	/* indexed by slot; `tags`, `hists` and `chunks` are mapped from the kernel half's memory */
	struct row_tag *tags;
	struct row_hist *hists; /* indexed by slot */
	struct hist_chunk *chunks;
	size_t tags_size, hists_size, chunks_size;
	unsigned int cpus, shards, max_slots;
	VEC(struct row_seen) rows; /* indexed by slot */
	VEC(struct errno_seen) errnos;
	VEC(struct hist_chunk) chunks_seen; /* indexed by chunk, summed over shards */
	struct row_counts *per_cpu;         /* buffer for one row of each CPU */
	struct map ended;                   /* set of processes (or threads) that ended; their rows can be reused */
	struct summary retired;             /* contents of reused rows that have not been collected yet */
	/* the part of a call's measured time that counting adds, and the spread of single calls during calibration */
	struct {
		double ns, spread_ns;
	} cost;
	pid_t root;  /* the started program, or 0 */
	int root_fd; /* pidfd of the started program, or -1 */
	bool root_is_child, root_ended, detached;
	unsigned refusals; /* number of successive waits that failed */
	struct engine_result result;
};

/* Checks whether BPF programs can be loaded here. Returns 0, or -errno with the reason in `why`. */
int bpf_probe(unsigned want, struct buf *why);
/* Loads the programs, which bpf_attach() starts, and maps their memory. Returns 0, or -errno with the reason. */
int bpf_load(struct bpf_engine *b, struct buf *why);
/*
 * Attaches the programs to the kernel's hooks. If the configuration requests the whole system or a cgroup, counting
 * starts now. Otherwise tasks are counted once they are marked (bpf_mark(), or mark_targets in sctrace.bpf.c). Returns
 * 0, or -errno with the reason in `why`.
 */
int bpf_attach(struct bpf_engine *b, struct buf *why);
/* Stops counting. The counts can still be read. */
void bpf_stop_counting(struct bpf_engine *b);
/* Frees everything, also *b, even if bpf_load() has failed or was not called. */
void bpf_free(struct bpf_engine *b);
/* Marks the single-threaded process `pid` as counted, with TASK_* flags; 0 removes the mark. Returns 0 or -errno. */
int bpf_mark(struct bpf_engine *b, pid_t pid, unsigned int flags);
/* Returns the number of calls that could not be counted, plus how often the kernel did not run a hook. */
uint64_t bpf_lost(const struct bpf_engine *b);

/* Sets b->cost to the time of getppid(2) while it is counted, less `native_ns`. Returns 0 or -errno. */
int bpf_calibrate(struct bpf_engine *b, double native_ns);
enum { BPF_BATCHES = 15, BPF_BATCH = 500 };

/* Before the programs are loaded: makes the kernel half report the calls of config.only, and count none (CAP_WATCH). */
void bpf_watch_configure(struct bpf_engine *b);
/* Tells the kernel half which processes are in scope: config.comms and config.uids. Returns 0 or -errno. */
int bpf_watch_filter(const struct bpf_engine *b);
/* Keeps a call from the ring (RING_CALL, RING_VANISH), of `size` bytes, in b->calls. */
void bpf_watch_store(struct bpf_engine *b, const void *data, size_t size);
/* Fills in an event of b->calls.v[index]: EV_CALL, or EV_ENTER and EV_VANISH for a call that does not return. */
void bpf_watch_event(struct bpf_engine *b, size_t index, enum event_kind kind, struct event *ev);

/* engine_ops.collect: adds to `s` what was counted since the previous call of this function. */
int bpf_collect(struct engine *e, struct summary *s);
/* If slots become scarce, moves the rows of ended processes to b->retired and frees them. Returns 0 or -errno. */
int bpf_retire(struct bpf_engine *b);

#endif
