/* The memory that calls are counted in, which the program and sctrace share. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_REGION_H
#define SCTRACE_ENGINE_PATCH_IMAGE_REGION_H

#include "engine/patch/code/ring.h"
#include "engine/patch/state.h"

struct region {
	int refs;                             /* images that use it */
	unsigned char *slots;                 /* AGENT_STATS_SIZE bytes. The program can write here: never trust it */
	size_t size;                          /* bytes of the memory: AGENT_STATS_SIZE, and the rings behind it */
	int fd;                               /* the memory, while it is being set up, and as long as it is pooled */
	struct agent_slot *seen[AGENT_CALLS]; /* what was collected of each slot while it was in use, or NULL */
	uint16_t used;                        /* slots given out */
	int16_t call_of[AGENT_CALLS];         /* slot -> call number */
	int64_t group_id;                     /* the group of the summary that its counts are added to */
	char group_name[32];
	bool discard;          /* nobody asked for these counts */
	bool pooled;           /* memory that sctrace made, which images use one after the other */
	char path[SETUP_PATH]; /* of pooled memory, for programs */
	bool crowded;          /* the last one of the pool, which several images use at the same time */
	uint64_t words_taken[(AGENT_WORDS + 63) / 64]; /* words of images in use */
	uint64_t rings_taken[RINGS / 64];              /* rings in use (code/ring.h) */
};

/* Counters without memory, for the process of `task`; NULL if memory ran out. The caller owns one reference. */
struct region *region_new(struct patch *p, const struct task *task);
/* Counters in pooled memory, which the program may open under `path` (SETUP_PATH bytes). One reference, or NULL. */
struct region *region_from_pool(struct patch *p, const struct task *task, char *path);
/* Did the program map the memory of this region, and not another file under that name? `mark` is what it found there. */
bool region_is_there(const struct region *r, uint64_t mark);
/* Takes over descriptor `their_fd` of thread `tid`, a memfd: sizes, seals and maps it. 0 or -errno. */
int region_adopt(struct region *r, pid_t tid, int their_fd);
/* Gives one reference back. With the last one the counts are collected and the region is freed, or returned to the pool. */
void region_put(struct patch *p, struct region *r);

/* The map entry of call `nr` (agent.h), whose slot is made at first use; 0 if all slots are taken. */
uint32_t region_entry(const struct patch *p, struct region *r, int64_t nr);
/* Slot number `i`. */
struct agent_slot *region_slot(const struct region *r, unsigned i);
/* Takes words for an image and sets them to 0; NULL if all are taken. */
struct agent_words *region_take_words(struct region *r);
/* Gives them back. */
void region_give_words(struct region *r, const struct agent_words *words);
/* Their address in the program; 0 for NULL. */
uint64_t region_address(const struct region *r, const struct agent_words *words);

/*
 * Empties the histogram of call `nr`, one bucket of which is half full. Others may write to it at the same time with a lock; a
 * thread that writes without a lock is the one that has stopped here.
 */
void region_empty(struct patch *p, struct region *r, int64_t nr);
/* tracer_ops.gather: adds what all regions counted since the last time to t->counts. */
void region_collect_all(struct tracer *t);
/* tracer_ops.gave_up: turns dispatch off in all attached processes, as the watchdog does when sctrace has died. */
void region_switch_off(struct tracer *t);
void region_free_all(struct patch *p);

#endif
