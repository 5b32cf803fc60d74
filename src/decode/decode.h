/* SPDX-License-Identifier: MIT */
/* Shows the arguments and the result of a call through an emitter. Has no side effects except for reading `mem`. */
#ifndef SCTRACE_DECODE_DECODE_H
#define SCTRACE_DECODE_DECODE_H

#include "event.h"
#include "tracee/mem.h"
#include "tracee/names.h"

#include <stdbool.h>

struct buf;
struct emit;

/* Which descriptors are shown with what they refer to (--decode-fds); a combination of these. */
enum decode_fd_names {
	FD_NUMBERS = 0,
	FD_PATHS = 1 << 0, /* -y: the path, or what /proc says in its place */
	FD_SOCKETS = 1 << 1,
	FD_DEVICES = 1 << 2,
	FD_PIDFDS = 1 << 3,
	FD_EVENTFDS = 1 << 4,
	FD_SIGNALFDS = 1 << 5,
	FD_IN_FULL = (1 << 6) - 1, /* -yy */
};

/* How much is shown, and where the names of descriptors come from. */
struct decode_opts {
	unsigned string_max;       /* -s: bytes of a string that are shown; 32 by default */
	bool verbose;              /* -v: structures are shown in full */
	bool shallow;              /* -e verbose: structures are shown as pointers */
	bool raw;                  /* -e raw: arguments are shown as numbers */
	unsigned fd_names;         /* a combination of enum decode_fd_names */
	bool outer_ids;            /* --decode-pids=pidns */
	bool pid_names;            /* -Y */
	bool namespaces;           /* -e namespace=new */
	const struct names *names; /* NULL: no names are known */
};

/* For this number of messages, the trace shows how recvmmsg(2) has changed the length of the address. */
#define DECODE_LENGTHS 8

/* Values that were read at a call's entry, because the kernel will change them. Must be zeroed before each entry. */
struct decode_memo {
	bool known;
	uint32_t length;                  /* length of the buffer for a socket address or a socket option */
	size_t bytes;                     /* how many bytes of `structure` are known */
	char structure[16];               /* a structure that is shown after the call, as it was at entry */
	unsigned messages;                /* how many of `lengths` are known */
	uint32_t lengths[DECODE_LENGTHS]; /* those of the buffers for addresses in the messages of recvmmsg(2) */
};

/* Everything that a decoder may use. `call->result` is valid only if `leaving` is set. */
struct decode {
	struct emit *out;
	const struct call *call;
	const struct mem *mem; /* the program's memory; NULL: no memory can be read */
	const struct decode_opts *opts;
	const struct uring_batch
		*uring; /* the requests and completions of io_uring_enter(2) (tracee/uring.h), or NULL */
	pid_t pid;
	bool leaving;
	struct decode_memo *memo; /* owned by the caller, who keeps it from decode_enter() to decode_exit(); NULL:
				   * nothing is kept */
};

/*
 * Like strace, a trace prints what is known at the entry of a call immediately, and the rest after the call.
 * decode_enter() shows the arguments that are known at entry and returns their number. decode_exit() shows the
 * arguments from index `from` on. Together they show all arguments. The arguments of an unknown call are shown as six
 * hexadecimal numbers.
 */
int decode_enter(const struct decode *d);
/* Returns the number of arguments of this call. If decode_enter() shows fewer, decode_exit() shows the rest. */
int decode_count(const struct decode *d);
void decode_exit(const struct decode *d, int from);
/*
 * For a call that will not return. If decode_enter() left an argument open, ends it. `from` is the result of
 * decode_enter().
 */
void decode_vanish(const struct decode *d, int from);
/*
 * Shows the result in the form that suits the call: a number, hexadecimal, a descriptor, or flags. An error is shown as
 * "-1 ENOENT (No such file or directory)". If the call did not return (!d->leaving), shows "?". In text, the caller
 * writes " = " first. In JSON, this function adds members to the caller's object; see emit_json_init().
 */
void decode_result(const struct decode *d);
/*
 * Like decode_enter(), and like decode_exit() followed by decode_result(), for a caller that discards the text: these ask
 * for the same names, but take less time.
 */
int decode_ask_enter(const struct decode *d);
void decode_ask_exit(const struct decode *d, int from);
/* Returns the name of a signal ("SIGTERM", "SIGRT_3"), or NULL if there is no signal with this number. */
const char *decode_signal_name(int sig);
/*
 * Appends a set of signals in the form of strace: [INT TERM], ~[KILL], []. If it contains more than two thirds of the
 * signals, the missing signals are shown instead. Signals are shown by their names, their numbers, or both; the name is
 * then a comment.
 */
void decode_signal_set(struct buf *out, uint64_t set, bool names, bool numbers);
/* Returns the number of a signal from its name ("SIGTERM", "TERM" or "term"), or -1. */
int decode_signal_number(const char *name);
/*
 * Emits a siginfo in the form of strace: {si_signo=SIGINT, ...}. Of `d`, only `out`, `opts` and `pid` are used, so for
 * EV_SIGNAL the others may be unset.
 */
void decode_siginfo(const struct decode *d, const siginfo_t *si);
/* Returns the name of an errno ("ENOENT", "ERESTARTSYS"), or NULL if it has none. */
const char *decode_errno_name(int err);
/*
 * Returns the meaning of an errno ("No such file or directory"), also of the codes in syscall/restart.h. Never returns
 * NULL.
 */
const char *decode_errno_text(int err);
/* Returns the number of an errno from its name ("ENOENT"), or -1. */
int decode_errno_number(const char *name);

/*
 * i386 multiplexes several calls through one number: socketcall(2), ipc(2), and old calls that take a pointer to their
 * arguments (compat.c). Finds out which call `c` really makes, as the kernel does. If `c` makes an inner call, fills in the number (from
 * syscall_inside()), the description and the arguments of *real, and returns true. Returns false if `c` is an ordinary
 * call, or if the arguments of the inner call cannot be read.
 */
bool decode_inside(const struct call *c, const struct mem *mem, struct call *real);

/*
 * Returns the result of the inner call after `outer`, the outer call, has ended. For shmat(2), ipc(2) stores the
 * resulting address in memory.
 */
int64_t decode_inside_result(const struct call *outer, const struct mem *mem);

#endif
