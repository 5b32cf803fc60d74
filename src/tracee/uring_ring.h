/* SPDX-License-Identifier: MIT */
/* One io_uring in a traced process: where it is, and how its requests and completions are read. Only for uring.c. */
#ifndef SCTRACE_TRACEE_URING_RING_H
#define SCTRACE_TRACEE_URING_RING_H

#include "tracee/uring.h"

/* Flags of a ring (IORING_SETUP_..., linux/io_uring.h). */
enum uring_setup {
	URING_SQPOLL = 1 << 1,
	URING_SQE128 = 1 << 10,
	URING_CQE32 = 1 << 11,
	URING_NO_MMAP = 1 << 14,
	URING_REGISTERED_FD_ONLY = 1 << 15,
	URING_NO_SQARRAY = 1 << 16,
};

/* A request whose last completion has not been seen. The requests with the same user_data are a list. */
struct uring_pending {
	struct uring_pending *next;
	struct uring_pending *last; /* valid in the first element of the list */
	struct uring_request request;
	bool completed; /* it has had a completion, and will have more */
	uint64_t id;
};

struct uring_ring {
	unsigned refs;
	struct uring_params params; /* offsets of the parts, and flags */
	bool from_setup;            /* `params` comes from io_uring_setup(2) */
	bool polled, told;          /* `told`: it has been counted in struct uring */
	int fd;                     /* the descriptor by which /proc is asked for the addresses; -1: there is none */
	uint64_t sq, cq, sqes;
	bool located;
	unsigned failures;
	bool counts;   /* `seen` is valid */
	uint32_t seen; /* position in the completion ring up to which completions have been seen */
	struct map pending;
	size_t npending;
	uint64_t next_id;
	VEC(int32_t) files;                 /* the descriptors of registered files; -1: unknown */
	VEC(struct uring_completion) early; /* seen when a call began; they are reported when a call ends */
	uint64_t missed;
};

/* Reads memory of the program, and adds it to u->batch.reads. Returns false if it cannot be read. */
bool uring_read(struct uring *u, const struct event *ev, uint64_t addr, void *to, size_t n);
/* Returns a ring without references. `fd`: its descriptor, or -1. */
struct uring_ring *uring_ring_new(int fd);
/* Releases a reference. After the last one, moves the requests without completions to u->left, and frees the ring. */
void uring_ring_drop(struct uring *u, struct uring_ring *r);
/* Looks the addresses of the ring up, if they are not known. */
void uring_ring_locate(struct uring_ring *r, const struct event *ev, const struct names *names);
/* Adds the requests that the call will submit to u->batch. Returns false if the ring cannot be read. */
bool uring_ring_submit(struct uring *u, struct uring_ring *r, const struct event *ev);
/* Adds the completions that have come since the last look to r->early. Returns false if the ring cannot be read. */
bool uring_ring_reap(struct uring *u, struct uring_ring *r, const struct event *ev);
/* Adds a request that waits for its completion. Its id is r->next_id before the call. */
void uring_ring_expect(struct uring_ring *r, const struct uring_request *q);
/* Forgets the request with this id, which the kernel has not taken. */
void uring_ring_withdraw(struct uring_ring *r, uint64_t user_data, uint64_t id);

#endif
