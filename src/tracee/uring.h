/* SPDX-License-Identifier: MIT */
/*
 * The rings of io_uring(7) in traced processes. A program writes requests into a ring that it shares with the kernel, and
 * the kernel writes completions into another one. io_uring_enter(2) only says how many there are, so sctrace reads the
 * rings in the program's memory when such a call begins and when it ends. If the call is recorded, it reads copies of the same
 * memory, which the recorder has made (engine/patch/code/recorder_uring.h).
 *
 * The addresses of a ring are those of its mappings in /proc (names.ring), and its layout is known from io_uring_setup(2).
 * If the trace does not contain that call, the layout is that of another ring, and its entries are taken to have the usual
 * size.
 */
#ifndef SCTRACE_TRACEE_URING_H
#define SCTRACE_TRACEE_URING_H

#include "base/buf.h"
#include "base/map.h"
#include "base/memory.h"
#include "event.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct names;

/* Bits of uring_request.flags (IOSQE_...) and of uring_completion.flags (IORING_CQE_F_...), from linux/io_uring.h. */
#define URING_FIXED_FILE (1u << 0)
#define URING_MORE       (1u << 1)
#define URING_NOTIF      (1u << 3)

/* struct io_uring_params: the flags of a ring, and the offsets of its parts. */
struct uring_params {
	uint32_t sq_entries, cq_entries, flags, unused[7];
	struct {
		uint32_t head, tail, mask, entries, flags, dropped, array, unused;
		uint64_t address;
	} sq;
	struct {
		uint32_t head, tail, mask, entries, overflow, cqes, flags, unused;
		uint64_t address;
	} cq;
};

/* A request (struct io_uring_sqe). */
struct uring_request {
	uint8_t opcode, flags;
	uint16_t priority, buffer, personality;
	int32_t fd;   /* a descriptor or, with URING_FIXED_FILE, the index of a registered file */
	int32_t file; /* the descriptor to which `fd` leads; -1: there is none, or it is not known */
	uint32_t length, op_flags;
	int32_t other_fd; /* the member splice_fd_in, or file_index */
	uint64_t offset, address, user_data;
	uint64_t bytes;    /* how many bytes it is to move, if its operation moves bytes */
	uint64_t began_ns; /* CLOCK_MONOTONIC time of the call that submitted it */
	pid_t tid, pid;
};

/* A completion (struct io_uring_cqe). */
struct uring_completion {
	uint64_t user_data;
	int32_t result;
	uint32_t flags;
	bool known;                   /* `request` is the request that it completes */
	struct uring_request request; /* the oldest one with the same user_data */
	uint64_t ns;                  /* from the call that submitted the request until sctrace saw the completion */
};

/* Memory that was read. Recordings keep it. */
struct uring_read {
	uint64_t addr;
	size_t at, n; /* its bytes in uring_batch.bytes */
};

/* What an event says about a ring. It is valid until the next event. */
struct uring_batch {
	enum uring_sight {
		URING_SEEN,
		URING_POLLED,  /* a kernel thread takes the requests without a call (IORING_SETUP_SQPOLL) */
		URING_UNKNOWN, /* the ring was not found, or its memory cannot be read */
	} sight;
	VEC(struct uring_request) requests;       /* EV_ENTER: the requests that the call is to submit */
	VEC(struct uring_completion) completions; /* EV_EXIT: the completions that have come since the previous call */
	uint64_t missed;                          /* EV_EXIT: completions that were overwritten before they were seen */
	VEC(struct uring_read) reads;
	struct buf bytes;
};

/* A zeroed struct knows of no rings. Free with uring_free(). */
struct uring {
	struct map rings;               /* process id and descriptor -> struct uring_ring */
	struct map registered;          /* thread id and index -> struct uring_ring (IORING_REGISTER_RING_FDS) */
	struct map calls;               /* thread id -> struct uring_call in progress */
	VEC(struct uring_request) left; /* requests of rings that are gone whose completions were not seen */
	struct uring_batch batch;
	/* For uring_say(): rings with a kernel thread; calls and completions that could not be seen. */
	uint64_t polled, unknown, missed;
};

/* Is the call of the event one of those that concern rings: io_uring_setup(2), io_uring_enter(2), io_uring_register(2)? */
bool uring_concerns(const struct event *ev);
/* Returns what the event says about a ring. Must be called for each event for which uring_concerns() is true. */
const struct uring_batch *uring_call(struct uring *u, const struct event *ev, const struct names *names);
/* Is the result of the completion a new descriptor, and not an index of registered files? */
bool uring_opens(const struct uring_completion *c);
/* Must be called for the events EV_NEW_TASK, EV_EXEC and EV_DEATH. */
void uring_other(struct uring *u, const struct event *ev);
/* Must be called after the last event. Calls `fn` for each request whose completion was not seen. */
void uring_each_left(struct uring *u, void (*fn)(void *ctx, const struct uring_request *r), void *ctx);
/* Appends lines that say what of io_uring could not be seen; nothing if all was seen. */
void uring_say(const struct uring *u, struct buf *out);
void uring_free(struct uring *u);

/* The addresses at which a process has mapped the two rings of an io_uring and the array of requests. */
struct uring_places {
	uint64_t sq, cq, sqes;
	bool several;               /* kernels before Linux 5.12 give all rings the same inode */
	struct uring_params layout; /* the numbers of entries and the offsets, if they were asked for */
};

/*
 * Finds the addresses for descriptor `fd` of a thread, and with `layout` the layout, whose entries are taken to have the usual size.
 * Returns false if they cannot be found, or not told from those of other rings. With `layout`, also if a kernel thread takes
 * the requests.
 */
bool uring_places(pid_t tid, int fd, bool layout, struct uring_places *p);
/*
 * For struct names: appends "SQ CQ SQES POLLED" for descriptor `fd` of a thread: the addresses, in hexadecimal, at which its
 * process has mapped the two rings and the array of requests, and whether a kernel thread takes the requests (1) or not (0).
 * Seven offsets follow, which are head, tail and mask of both rings, and the completions. Returns false if `fd` is not an
 * io_uring, or if its rings are not mapped, cannot be distinguished from others, or have an unknown layout.
 */
bool uring_find(pid_t tid, int fd, struct buf *out);

#endif
