/* A call's arguments and result in words, through an emitter. Pure but for reading `mem`. */
#ifndef SCTRACE_DECODE_DECODE_H
#define SCTRACE_DECODE_DECODE_H

#include "event.h"
#include "tracee/mem.h"
#include "tracee/names.h"

#include <stdbool.h>

struct buf;
struct emit;

/* How much is shown, and who knows what descriptors are. */
struct decode_opts {
	unsigned string_max; /* -s: bytes of a string; 32 by default */
	bool verbose;        /* -v: structures in full */
	bool shallow;        /* structures as the pointers that they are (-e verbose) */
	bool raw;            /* arguments as numbers (-e raw) */
	enum decode_fd_names { FD_NUMBERS, FD_PATHS, FD_IN_FULL } fd_names; /* -y, -yy */
	bool pid_names;                                                     /* -Y */
	const struct names *names;                                          /* NULL: nobody knows any */
};

/* What was known at a call's entry and the kernel changes; zero-initialised before each entry. */
struct decode_memo {
	bool known;
	uint32_t length; /* of the buffer for a socket address or option */
};

/* Everything a decoder kind may look at. `call->result` counts only where `leaving`. */
struct decode {
	struct emit *out;
	const struct call *call;
	const struct mem *mem; /* may be NULL: nothing is readable */
	const struct decode_opts *opts;
	pid_t pid;
	bool leaving;
	struct decode_memo *memo; /* kept by the caller from decode_enter() to decode_exit(); NULL: nothing is kept */
};

/*
 * A trace prints what is known at entry at once, the rest when the call came back, as strace does. decode_enter() gives
 * the arguments that are known at entry and returns how many it gave; decode_exit() gives the ones from `from` on.
 * Together they give all of them. Unknown calls: six numbers in hex.
 */
int decode_enter(const struct decode *d);
/* How many arguments this call has: where decode_enter() gave fewer, the rest come from decode_exit(). */
int decode_count(const struct decode *d);
void decode_exit(const struct decode *d, int from);
/* The call will not come back: ends the argument that decode_enter() left open, if it did; `from` is what that returned. */
void decode_vanish(const struct decode *d, int from);
/*
 * The result: number, hex, descriptor, flags; on error "-1 ENOENT (No such file or directory)"; "?" where it vanished
 * (!d->leaving). Text leaves the " = " to the caller; JSON gets members of the caller's object, see emit_json_init().
 */
void decode_result(const struct decode *d);
/* A signal's name ("SIGTERM", "SIGRT_3"), or NULL for no signal's number. */
const char *decode_signal_name(int sig);
/* The number of "SIGTERM" or "TERM", or -1. */
int decode_signal_number(const char *name);
/* For EV_SIGNAL: strace's siginfo structure, {si_signo=SIGINT, ...}, through `out`. */
void decode_siginfo(struct emit *out, const siginfo_t *si);
/* An errno's name ("ENOENT", "ERESTARTSYS") or NULL. */
const char *decode_errno_name(int err);
/* What it means ("No such file or directory"); for the kernel's own restart codes too. Never NULL. */
const char *decode_errno_text(int err);
/* The number of "ENOENT", or -1. */
int decode_errno_number(const char *name);

#endif
