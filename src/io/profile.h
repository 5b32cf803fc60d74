/* SPDX-License-Identifier: MIT */
/* The I/O profile of a trace (--io): how each file, pipe and socket was used, and what could be improved. */
#ifndef SCTRACE_IO_PROFILE_H
#define SCTRACE_IO_PROFILE_H

#include "base/buf.h"
#include "base/map.h"
#include "event.h"
#include "io/file.h"
#include "run/run.h"

#include <stdint.h>

struct names;
struct uring_completion;

/*
 * Number of bytes of written data that the memory of an event must contain, so that io_call_enter() can see whether a
 * write is one line. A write of more bytes is not taken for a line.
 */
#define IO_LINE_MAX 128

/* What is remembered of a thread between its events. A zeroed struct is a new thread. */
struct io_thread {
	uint64_t clone_flags;
	struct buf path;     /* the path argument of the current call, as passed; empty: none */
	struct buf new_path; /* its second path argument, which rename(2) has */
	bool writes_line;    /* the data that the current call writes ends in a newline */
	bool does_not_wait;  /* the current call, such as poll(2), has a timeout of 0 */
	/* The offsets to which arguments of the current call point. Bit I of `positioned`: argument I points to one. */
	uint64_t offsets[6];
	unsigned positioned;
	/* The last read: its file, and the address of its buffer. A write from the same buffer copies the data. */
	struct io_file *from;
	uint64_t buf, bytes;
	bool whole;  /* the read returned as many bytes as were requested, so there may have been more */
	bool direct; /* the file was opened with O_DIRECT */
	bool waited; /* it is known that the read waited */
	double ns;
};

/* A zeroed struct is an empty profile, but the caller sets the first three members. Free it with io_profile_free(). */
struct io_profile {
	const struct names *names; /* returns the names of descriptors that were open before the trace began */
	uint64_t start_ns;         /* CLOCK_MONOTONIC at the start of the trace */
	bool here; /* the program ran here and its files are still there, so probe.h can improve estimates */
	VEC(struct io_file *) files;
	struct map by_id;     /* map_key() of io_file.id -> struct io_file */
	struct buf start;     /* absolute name of the directory to which relative names refer; empty if unknown */
	struct map processes; /* process id -> struct io_fds */
	bool children;        /* child processes were traced as well */
	struct map calls;     /* struct syscall_desc -> struct io_call; only calls that need special handling */
	unsigned pipes, sockets, memfds, unnamed; /* how many were created, for their names */
	struct io_tally polls;                    /* calls such as poll(2) with a timeout of 0 that found nothing */
	double polls_in_all;
	double requests;    /* requests of io_uring that were counted for a file */
	double submitted;   /* requests that io_submit(2) has accepted */
	double quickest_ns; /* time of the quickest call that succeeded; 0 if there is none */
	double return_ns;   /* time that each call costs the program outside of the kernel; 0 if it was not measured */
};

/* Must be called when a system call begins. */
void io_profile_enter(struct io_profile *p, struct io_thread *k, const struct event *ev);
/* Must be called when a system call has returned. */
void io_profile_leave(struct io_profile *p, struct io_thread *k, const struct event *ev);
/* Must be called for each completion of io_uring, after io_profile_leave() of the call at whose end it was seen. */
void io_profile_completion(struct io_profile *p, const struct uring_completion *c);
/*
 * Appends lines that say how requests of io_uring are counted, and which accesses to files were not seen: those through
 * mapped memory, and requests of io_submit(2). Must be called before io_profile_finish().
 */
void io_profile_say(const struct io_profile *p, struct buf *out);
/* Must be called when the thread has exited. */
void io_thread_free(struct io_thread *k);
/* Must be called for the events EV_NEW_TASK, EV_EXEC and EV_DEATH. */
void io_profile_other(struct io_profile *p, struct io_thread *k, const struct event *ev);
/* Moves the profile with its findings to `out`, which must be zeroed. */
void io_profile_finish(struct io_profile *p, struct run_io *out);
void io_profile_free(struct io_profile *p);

/* The rest is for src/io. Returns the file with this name (relative to p->start), or creates its entry (io_open.c). */
struct io_file *io_profile_file(struct io_profile *p, const char *name);
/* Returns the file with this name, or NULL if it has no entry. */
struct io_file *io_profile_known_file(const struct io_profile *p, const char *name);
/* Like io_profile_file(), but for a pipe, a socket or another file that has no path. */
struct io_file *io_profile_pathless(struct io_profile *p, const char *name, enum io_kind kind);
/*
 * Returns the open file description to which `fd` refers (io_open.c). If the trace did not see how `fd` was opened, looks
 * up its name in p->names. Returns NULL if `fd` is negative.
 */
struct io_open *io_profile_open(struct io_profile *p, struct io_fds *t, pid_t tid, int fd);
/*
 * Must be called at the first event of a process (io_open.c). Looks up its standard descriptors, because it may close them
 * soon, and its current directory. Relative names are relative to the directory of the first process. The names of
 * processes that are in other directories become absolute.
 */
void io_profile_find_names(struct io_profile *p, struct io_fds *t, pid_t tid);

/* Appends the findings to `out`, those with the largest savings first (find.c). */
void io_find(const struct io_profile *p, struct run_io *out);

/* Fills p->calls (call.c). */
void io_calls_init(struct io_profile *p);
/*
 * Reads the memory to which the arguments of a call point, as far as the profile needs it. Must be called at the event
 * at which the call begins, because a recording contains that memory only for this event.
 */
void io_call_enter(const struct io_profile *p, struct io_thread *k, const struct event *ev);
/* Updates the profile when a call has returned (call.c). */
void io_call_leave(struct io_profile *p, struct io_fds *t, struct io_thread *k, const struct event *ev);

/*
 * Appends to `out`, which must be empty, the name of the file that a program in `folder` calls `path`. If the folder is
 * unknown (""), the name is relative to it. The name contains no "//", no "." and no "/" at its end, so that a file that
 * is reached in several ways has one name (io_open.c). A ".." at the beginning of `path` removes a component of `folder`. Any other
 * ".." remains, because the component before it may be a symbolic link. Symbolic links are not resolved.
 */
void io_path_join(struct buf *out, const char *folder, const char *path);

#endif
