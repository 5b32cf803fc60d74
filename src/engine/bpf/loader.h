/* The loader's half of the bpf engine: what bpf.c, load.c, counts.c and calibrate.c share. */
#ifndef SCTRACE_ENGINE_BPF_LOADER_H
#define SCTRACE_ENGINE_BPF_LOADER_H

#include "base/map.h"
#include "base/vec.h"
#include "engine/bpf/shared.h"
#include "engine/engine.h"
#include "stats/summary.h"

#include <bpf/libbpf.h>

struct buf;
struct sctrace_bpf;

/* What was read of a row when it was last asked for. */
struct row_seen {
	struct row_key key;
	bool used;
	struct row_counts counts; /* of all CPUs */
};

struct errno_seen {
	struct row_errno key;
	uint64_t count;
};

/* What a call's time contains that is not the program's, and how far single calls of the calibration lay apart. */
struct bpf_cost {
	double ns, spread_ns;
};

struct bpf_engine {
	struct engine base; /* first, so that a struct engine * is one of these */
	struct engine_config config;
	struct sctrace_bpf *skel;
	struct ring_buffer *ring;
	VEC(struct ring_event) events; /* taken from the ring, not yet told */
	size_t next_event;
	VEC(pid_t) held;        /* the started program and its descendants that live, for kill() */
	struct row_tag *tags;   /* by slot; these three are the kernel half's own memory */
	struct row_hist *hists; /* by slot */
	struct hist_chunk *chunks;
	size_t tags_size, hists_size, chunks_size;
	unsigned int cpus, shards, max_slots;
	VEC(struct row_seen) rows; /* by slot */
	VEC(struct errno_seen) errnos;
	VEC(struct hist_chunk) chunks_seen; /* by chunk, all shards together */
	struct row_counts *per_cpu;         /* room for one row of every CPU */
	struct map ended;                   /* processes (or threads) that ended and whose rows can be taken back */
	struct summary retired;             /* what rows held that were taken back, until it is collected */
	struct bpf_cost cost;
	pid_t root;  /* the started program, or 0 */
	int root_fd; /* its pidfd, or -1 */
	bool root_is_child, root_ended, detached;
	unsigned refusals; /* waits in a row that failed */
	struct engine_result result;
};

/* Can programs be loaded here? 0, or -errno and `why`. */
int bpf_probe(unsigned want, struct buf *why);
/* Loads and attaches the programs, all idle until tasks are named. 0, or -errno and `why`; undo with bpf_unload(). */
int bpf_load(struct bpf_engine *b, struct buf *why);
/* Counts from now on, for the scope that config asks for. */
int bpf_attach(struct bpf_engine *b, struct buf *why);
/* Stops counting; what was counted can still be read. */
void bpf_let_go(struct bpf_engine *b);
void bpf_unload(struct bpf_engine *b);
/* Marks the single-threaded process `pid` as counted, with TASK_* flags; 0 or -errno. */
int bpf_mark(struct bpf_engine *b, pid_t pid, unsigned int flags);
int bpf_unmark(struct bpf_engine *b, pid_t pid);
/* Calls that could not be counted, and hook runs that the kernel skipped. */
uint64_t bpf_lost(const struct bpf_engine *b);

/* Finds b->cost: native loops before bpf_attach(), counted ones after. The least batch means, like for like. */
double bpf_native_cost(void);
int bpf_calibrate(struct bpf_engine *b, double native_ns);

/* Adds what came since the last time to `s`; 0 or -errno. */
int bpf_collect(struct bpf_engine *b, struct summary *s);
/* What one row has grown by goes to `s`. */
int bpf_collect_row(struct bpf_engine *b, unsigned int slot, struct summary *s);
int bpf_collect_errnos(struct bpf_engine *b, struct summary *s);
/* Takes up the rows that are new. */
int bpf_find_rows(struct bpf_engine *b);
/*
 * Notes that process or thread `id`, by which rows are split, has ended or begun; where slots run low, takes back the
 * rows of all that have ended, after keeping what they held. 0 or -ENOMEM.
 */
void bpf_note_begun(struct bpf_engine *b, unsigned int id);
int bpf_note_ended(struct bpf_engine *b, unsigned int id);
int bpf_retire(struct bpf_engine *b);
/* The sum over all CPUs of one row, and its least and greatest time of the current epoch (max_ns 0: none). */
int bpf_read_row(struct bpf_engine *b, unsigned int slot, struct row_counts *sum);
/* The slot of a row, or 0. */
unsigned int bpf_find_row(const struct bpf_engine *b, const struct row_key *key);

#endif
