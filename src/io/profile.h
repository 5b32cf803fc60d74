/* The I/O profile of a trace (--io): how each file, pipe and socket was used, and what could be better. */
#ifndef SCTRACE_IO_PROFILE_H
#define SCTRACE_IO_PROFILE_H

#include "base/buf.h"
#include "base/map.h"
#include "event.h"
#include "io/descriptors.h"
#include "run/run.h"

#include <stdint.h>

struct names;

/* Bytes at the start of what is written that the events' memory must have. Longer writes are not taken for lines. */
#define IO_LINE_MAX 128

/* What is kept of a thread between its events. Zero-initialised. */
struct io_thread {
	uint64_t clone_flags;
	struct buf path;  /* the path of the call in progress, as the program wrote it; empty: it has none */
	bool writes_line; /* what it writes ends in a newline */
	/* The last read, for copies: what it brought is at `buf`. */
	struct io_file *from;
	uint64_t buf, bytes;
	double ns;
};

/* Zero-initialise; free with io_profile_free(). */
struct io_profile {
	const struct names *names; /* to be set: asked about descriptors that were open before the trace began */
	uint64_t start_ns;         /* to be set: CLOCK_MONOTONIC, when the trace began */
	VEC(struct io_file *) files;
	struct map by_name;   /* map_key() of the name -> struct io_file */
	struct map processes; /* pid -> struct io_fds */
	struct map
		calls; /* struct syscall_desc -> struct io_call, of calls that are more than a call of a descriptor */
	unsigned pipes, sockets;
	struct io_tally polls; /* that did not wait and found nothing */
	double polls_in_all;
	double calls_in_all, spread_ns; /* the sum over all calls of how uncertain their times are */
};

/* A thread's call begins. */
void io_profile_enter(struct io_profile *p, struct io_thread *k, const struct event *ev);
/* It has returned. */
void io_profile_leave(struct io_profile *p, struct io_thread *k, const struct event *ev);
/* The thread is gone. */
void io_thread_free(struct io_thread *k);
/* EV_NEW_TASK, EV_EXEC, EV_DEATH. */
void io_profile_other(struct io_profile *p, struct io_thread *k, const struct event *ev);
/* Ends all processes, and moves the profile with its findings to `out`, which is zero-initialised. */
void io_profile_finish(struct io_profile *p, struct run_io *out);
void io_profile_free(struct io_profile *p);

/* For the files of io/, from io/open.c. The file of that name, made if it is new; NULL if memory ran out. */
struct io_file *io_profile_file(struct io_profile *p, const char *name, enum io_kind kind);
/* The description that `fd` leads to, NULL if `fd` is negative or memory ran out. One that is not known gets its name from p->names. */
struct io_open *io_profile_open(struct io_profile *p, struct io_fds *t, pid_t tid, int fd);
/* The kind of what a path leads to, as far as the path tells. */
enum io_kind io_kind_of(const char *path);

/* From io/find.c: appends the findings to `out`, worst first. */
void io_find(const struct io_profile *p, struct run_io *out);

/* From io/call.c: fills p->calls; 0 or -ENOMEM. */
int io_calls_init(struct io_profile *p);
/* Keeps what the call's arguments point at now: a recording has this memory only here. */
void io_call_enter(const struct io_profile *p, struct io_thread *k, const struct event *ev);
/* Handles the end of a call. */
void io_call_leave(struct io_profile *p, struct io_fds *t, struct io_thread *k, const struct event *ev);

#endif
