/* SPDX-License-Identifier: MIT */
/*
 * Declarations for the functions that handle a system call. call.c contains the functions for calls with a descriptor, and
 * call_kinds.c those for other calls and for buffers and messages. Only these two files include this header.
 */
#ifndef SCTRACE_IO_CALL_H
#define SCTRACE_IO_CALL_H

#include "io/profile.h"
#include "syscall/call_table.h"

#include <string.h>
#include <sys/socket.h>

struct io_context;

/* How to handle calls. The members after `leave` are indices of arguments, or -1 if the calls have no such argument. */
struct io_call {
	const char *names; /* separated by spaces */
	void (*leave)(const struct io_context *x);
	signed char fd, buf, size, offset;
	enum io_direction direction;
};

/* A call that has returned, and the state that it changes. */
struct io_context {
	struct io_profile *p;
	struct io_fds *t;
	struct io_thread *k;
	const struct event *ev;
	const struct call *c;
	const struct io_call *row;
	double ns, spread_ns;
};

static inline bool io_is_call(const struct io_context *x, const char *name)
{
	return strcmp(x->c->desc->name, name) == 0;
}

static inline int io_fd_of(const struct io_context *x, int arg)
{
	return (int)x->c->args[arg];
}

static inline struct io_open *io_open_of(const struct io_context *x, int arg)
{
	return arg < 0 ? NULL : io_profile_open(x->p, x->t, x->ev->tid, io_fd_of(x, arg));
}

static inline bool io_waited(const struct io_context *x)
{
	return x->c->wait == WAIT_YES;
}

/* Counts a read or a write of the file that has succeeded. */
static inline void io_count_transfer(const struct io_context *x, struct io_file *f, enum io_direction d)
{
	if (d == IO_WRITE) {
		f->row.writes++;
		return;
	}
	f->row.reads++;
	f->reads_ns += x->ns;
	f->reads_judged += x->c->wait != WAIT_UNKNOWN;
	f->row.read_waits += io_waited(x);
	f->read_waited_ns += io_waited(x) ? x->ns : 0;
}

/* Returns the index of the second path, which rename(2) has, or -1. */
static inline int io_find_second_path(const struct call *c)
{
	int first = syscall_find_kind(c, K_PATH);
	for (int i = first + 1; first >= 0 && i < c->desc->nargs; i++)
		if (c->desc->args[i].kind == K_PATH)
			return i;
	return -1;
}

static inline void io_set_fd(const struct io_context *x, struct io_file *f, int fd, bool cloexec)
{
	io_fds_set(x->t, fd, io_open_new(f), cloexec, true);
}

/* Returns true if the call only looks at data, which stays in the socket until another call reads it (recv(2)). */
static inline bool io_peeks(const struct io_context *x)
{
	int flags = x->row->direction == IO_READ ? syscall_find_kind(x->c, K_MSG_FLAGS) : -1;
	return flags >= 0 && x->c->args[flags] & MSG_PEEK;
}

static inline void io_count_call(const struct io_context *x, struct io_file *f)
{
	f->row.calls++;
	f->ns += x->ns;
}

#define IO_BYTES_MAX UINT64_C(0x7ffff000) /* Linux transfers at most this many bytes in one call (read(2)) */

static inline uint64_t io_at_most(uint64_t n, uint64_t limit)
{
	return n < limit ? n : limit;
}

/* Returns when the call began, in seconds since the start of the trace. */
static inline double io_time_of(const struct io_context *x)
{
	return ((double)x->c->enter_ns - (double)x->p->start_ns) / 1e9;
}

/* Returns true if the program is a 32-bit one, whose structures have other sizes. x32 is not. */
bool io_is_32bit(const struct call *c);
/* Returns the sum of the lengths of `n` struct iovec at `addr`, or -1 if they cannot be read. */
int64_t io_buffers_length(const struct call *c, const struct mem *m, uint64_t addr, uint64_t n);

/* Returns a 64-bit offset. i386 passes it in two arguments. */
static inline uint64_t io_offset_of(const struct io_context *x, int arg)
{
	const struct call *c = x->c;
	return c->desc->args[arg].kind == K_OFF_LOW ? (uint32_t)c->args[arg] | c->args[arg + 1] << 32 : c->args[arg];
}

/* sendmmsg(2), recvmmsg(2): the result is the number of messages. All of them count as one request. */
void io_leave_messages(const struct io_context *x);
/* pipe(2), pipe2(2), socketpair(2): the kernel stores two descriptors in memory. */
void io_leave_pair(const struct io_context *x);
/* socket(2), accept(2) */
void io_leave_socket(const struct io_context *x);
/* memfd_create(2): each file in memory has offsets and a row of its own. */
void io_leave_memfd(const struct io_context *x);
/* Descriptors that are not files (epoll, timers, ...) get the name of the call that created them. */
void io_leave_other_fd(const struct io_context *x);
/* creat(2), open(2) */
void io_leave_open(const struct io_context *x);
/* stat(2), access(2), readlink(2) */
void io_leave_stat(const struct io_context *x);
/* unlink(2), rmdir(2), rename(2) */
void io_leave_remove(const struct io_context *x);
/* chdir(2), fchdir(2) */
void io_leave_chdir(const struct io_context *x);
/* truncate(2), ftruncate(2) */
void io_leave_truncate(const struct io_context *x);

#endif
