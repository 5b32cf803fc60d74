/* SPDX-License-Identifier: MIT */
/* Names while a recording is made: looked up on the live system, cached for a short time, and recorded. */
#ifndef SCTRACE_RECORDING_LIVE_NAMES_H
#define SCTRACE_RECORDING_LIVE_NAMES_H

#include "base/map.h"
#include "recording/write.h"
#include "tracee/names.h"

/* The names of a thread that were looked up in an epoch. A zeroed struct is a new thread. */
struct recording_asked_thread {
	uint64_t epoch;
	uint64_t fds;        /* bit N + 1: all names of descriptor N, for N below 63; bit 0: those of AT_FDCWD */
	uint64_t comm_epoch; /* that in which the names of the thread and its process were looked up */
};

/* Initialise with recording_asked_init(); free with recording_asked_free(). */
struct recording_asked {
	struct recording_answers names; /* pass this to the code that needs names */
	const struct names *live;
	struct recording_writer *writer;
	struct map answers;   /* recording_name_key() -> struct answer; only names that the current block contains */
	struct answer *spare; /* for the next answer, or NULL */
	uint64_t block;
	/*
	 * Number of the current epoch. Within an epoch each name is looked up at most once. A new epoch begins with
	 * each block, when names may have changed, and after a short time.
	 */
	uint64_t epoch;
	uint64_t comm_epoch; /* the same for the names of threads and processes, which few calls change */
	uint64_t epoch_end_ns;
	struct recording_asked_thread *decoding; /* see recording_asked_decode() */
};

void recording_asked_init(struct recording_asked *a, const struct names *live, struct recording_writer *writer);
void recording_asked_free(struct recording_asked *a);
/* Must be called before each event of thread `th`: the event belongs to `block` and has the time `now_ns`. */
void recording_asked_event(struct recording_asked *a, struct recording_asked_thread *th, uint64_t block,
			   uint64_t now_ns);
/*
 * Must be called before recording_asked_event() if names of descriptors may have changed; `comm`: and those of threads or
 * processes.
 */
void recording_asked_changed(struct recording_asked *a, bool comm);
/* Must the names of the thread and its process be looked up? Then notes that they have been. */
bool recording_asked_comm(const struct recording_asked *a, struct recording_asked_thread *th);
/*
 * Must be called before a decoder runs for thread `th` whose output is discarded, and with NULL afterwards. That
 * decoder runs only so that names are looked up, so it gets no name of a descriptor that it has already asked for in
 * this epoch.
 */
void recording_asked_decode(struct recording_asked *a, struct recording_asked_thread *th);
/* Returns true if a decoder has asked for all names of descriptor `fd` in this epoch. */
bool recording_asked_has(const struct recording_asked_thread *th, int fd);

#endif
