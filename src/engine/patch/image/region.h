/* SPDX-License-Identifier: MIT */
/* The memory in which calls are counted. The program and sctrace share it. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_REGION_H
#define SCTRACE_ENGINE_PATCH_IMAGE_REGION_H

#include "engine/patch/code/ring.h"
#include "engine/patch/state.h"

/* What was already collected from slots and the table of errors that follows them. */
struct region_seen {
	struct agent_slot *slots[AGENT_CALLS]; /* copies of the slots in use, or NULL */
	VEC(uint64_t) errnos;                  /* the counts of the rows of the table of errors */
};

/* The slots of a thread in the memory for rings, with the numbers of those of the region (agent.h). */
struct lane {
	unsigned char *slots; /* LANE_SIZE bytes, untrusted */
	unsigned page;        /* its place in the memory for rings */
	struct region_seen seen;
	int64_t tid; /* the group of the summary to which the counts are added: this thread, under this name */
	char name[PROC_NAME];
	uint64_t began_ns;    /* when the thread got the lane (CLOCK_MONOTONIC) */
	uint64_t in_progress; /* number of calls that have begun and not returned: 0 or 1 */
};

struct region {
	int refs; /* number of images that use the region */
	/* The slots and what follows them: AGENT_STATS_SIZE bytes. Untrusted, because the program can write to them. */
	unsigned char *slots;
	size_t size; /* size of the memory: AGENT_STATS_SIZE, and the rings after it */
	/* Descriptor of the memory, while the memory is being set up, and while it is in the pool. */
	int fd;
	struct region_seen seen;
	uint16_t used;                /* number of slots in use */
	int16_t call_of[AGENT_CALLS]; /* the row of the call of each slot (agent_row()) */
	/* The entry of each row for agent_data.map without SLOT_F_RECORD and SLOT_F_PLAIN, or 0: it has no slot. */
	uint32_t entry_of[AGENT_CALLS];
	int64_t group_id; /* the group of the summary to which the region's counts are added */
	char group_name[32];
	bool discard;          /* the counts are discarded, because they were not requested */
	bool pooled;           /* sctrace created the memory, and one image after another uses it */
	char path[SETUP_PATH]; /* name under which programs can open pooled memory */
	bool crowded;          /* the last region of the pool, which several images use at the same time */
	uint64_t words_taken[(AGENT_WORDS + 63) / 64]; /* bit set of the struct agent_words in use */
	VEC(uint64_t) pages_taken; /* bit set of the pages of rings in use; one word for the largest ring */
};

/* Returns a region without memory, for the process of `task`. The caller owns one reference. */
struct region *region_new(struct patch *p, const struct task *task);
/*
 * Returns a region with pooled memory, which the program may open under the name that is written to `path` (SETUP_PATH
 * bytes). The caller owns one reference. Returns NULL if the pool has no region for it.
 */
struct region *region_from_pool(struct patch *p, const struct task *task, char *path);
/* Returns the page after the slots, whose `mark` shows whether the program has mapped this pooled memory. */
struct agent_tail *region_tail(const struct region *r);
/* Opens, sizes, seals and maps the memfd `their_fd` of a thread. Returns 0 (then close r->fd) or -errno. */
int region_adopt(struct region *r, pid_t tid, int their_fd);
/* Releases a reference; `r` may be NULL. After the last one, collects the counts; a pooled region remains. */
void region_put(struct patch *p, struct region *r);

/* Returns the entry of a row for agent_data.map. Allocates a slot at the first request. */
uint32_t region_entry(const struct patch *p, struct region *r, int row);
/* Returns slot number `i`. */
struct agent_slot *region_slot(const struct region *r, unsigned i);
/* Counts an error of call `nr`, whose slot this is, in the table of errors, as the agent does. */
void region_add_errno(const struct region *r, const struct agent_slot *slot, int64_t nr, unsigned err);
/* Will the table of errors, of the region or of the thread's `lane` (may be NULL), soon be full? */
bool region_is_full(const struct region *r, const struct lane *lane);
/* Returns the slot at address `at` of the program, in the region's slots or in a lane, or NULL. */
struct agent_slot *region_slot_at(const struct region *r, uint64_t at);
/* Returns how many calls were counted in a lane. */
uint64_t region_lane_calls(const struct region *r, const struct lane *lane);
/* Adds the last counts of a lane to those of the engine, at the end of its thread, and frees the lane except its memory. */
void region_end_lane(struct patch *p, const struct region *r, struct lane *lane);
/* Reserves a ring of 1, 4, 16 or 64 pages, to be set up. Returns the number of its first page, or -1: no room. */
int region_take_ring(struct region *r, unsigned pages);
/* Releases a ring that region_take_ring() has reserved, and its memory unless `keep`. */
void region_give_ring(struct region *r, unsigned page, unsigned pages, bool keep);
/* Reserves a struct agent_words for an image and sets it to 0. Returns NULL if all of them are in use. */
struct agent_words *region_take_words(struct region *r);
/* Releases the struct agent_words of an image. `words` may be NULL. */
void region_give_words(struct region *r, const struct agent_words *words);
/* Returns the address of `words` in the program, or 0 if `words` is NULL. */
uint64_t region_address(const struct region *r, const struct agent_words *words);

/*
 * Empties the histogram of a row, one bucket of which is half full. Threads that update the histogram with a lock
 * may do so at the same time. If a thread updates it without a lock, it is the image's only thread, and it has stopped
 * at this call. That is so as well for the thread's `lane`, which may be NULL.
 */
void region_empty(struct patch *p, struct region *r, struct lane *lane, int row);
/* tracer_ops.gather: adds what all regions have counted since the previous call to t->counts. */
void region_collect_all(struct tracer *t);
/* tracer_ops.gave_up: turns dispatch and recording off in all processes, as the watchdog does if sctrace dies. */
void region_switch_off(struct tracer *t);
void region_free_all(struct patch *p);

#endif
