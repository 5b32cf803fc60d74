/* Shows a call's arguments and result through an emitter. Pure, except for reading `mem`. */
#ifndef SCTRACE_DECODE_DECODE_H
#define SCTRACE_DECODE_DECODE_H

#include "event.h"
#include "tracee/mem.h"
#include "tracee/names.h"

#include <stdbool.h>

struct buf;
struct emit;

/* How much is shown, and the source of descriptors' names. */
struct decode_opts {
	unsigned string_max; /* -s: bytes of a string, by default 32 */
	bool verbose;        /* -v: structures in full */
	bool shallow;        /* structures as plain pointers (-e verbose) */
	bool raw;            /* arguments as numbers (-e raw) */
	enum decode_fd_names { FD_NUMBERS, FD_PATHS, FD_IN_FULL } fd_names; /* -y, -yy */
	bool pid_names;                                                     /* -Y */
	const struct names *names;                                          /* NULL: no names are known */
};

/* Values at a call's entry that the kernel will change. Must be zeroed before each entry. */
struct decode_memo {
	bool known;
	uint32_t length; /* of the buffer for a socket address or option */
};

/* All that a decoder may use. `call->result` is valid only if `leaving`. */
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
 * Like strace, a trace prints what is known at the entry of a call immediately, and the rest after the call.
 * decode_enter() shows the arguments that are known at entry and returns their number. decode_exit() shows those from
 * `from` on. Together they show all arguments. For an unknown call these are six hexadecimal numbers.
 */
int decode_enter(const struct decode *d);
/* The number of arguments of this call. If decode_enter() shows fewer, decode_exit() shows the rest. */
int decode_count(const struct decode *d);
void decode_exit(const struct decode *d, int from);
/*
 * For a call that will not return: ends the argument that decode_enter() left open, if any; `from` is the result of
 * decode_enter().
 */
void decode_vanish(const struct decode *d, int from);
/*
 * Shows the result: number, hexadecimal, descriptor, flags; "-1 ENOENT (No such file or directory)" for an error; "?"
 * if the call did not return (!d->leaving). In text, the caller writes " = ". In JSON, it adds members to the caller's
 * object; see emit_json_init().
 */
void decode_result(const struct decode *d);
/* The name of a signal ("SIGTERM", "SIGRT_3"), or NULL if the number is not a signal's. */
const char *decode_signal_name(int sig);
/* The number of "SIGTERM" or "TERM", or -1. */
int decode_signal_number(const char *name);
/* For EV_SIGNAL: emits strace's form of siginfo, {si_signo=SIGINT, ...}. */
void decode_siginfo(struct emit *out, const siginfo_t *si);
/* The name of an errno ("ENOENT", "ERESTARTSYS"), or NULL. */
const char *decode_errno_name(int err);
/* The meaning of an errno ("No such file or directory"), also for the kernel's restart codes. Never NULL. */
const char *decode_errno_text(int err);
/* The number of "ENOENT", or -1. */
int decode_errno_number(const char *name);

#endif
