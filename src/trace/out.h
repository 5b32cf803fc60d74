/* Where a trace goes: standard error, a file, a command's standard input. Failures are kept until the end. */
#ifndef SCTRACE_TRACE_OUT_H
#define SCTRACE_TRACE_OUT_H

#include "base/buf.h"
#include "base/map.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct trace_failure;

/* An open output; `buf` is what waits to be written. */
struct trace_out {
	struct buf buf;
	int fd;                            /* -1: `path` is opened for each write (-ff: thousands of files) */
	char *path;                        /* or NULL: standard error */
	bool eager;                        /* write at each trace_out_event(), because somebody is watching */
	bool failed;                       /* `err` was met, and all later output is dropped */
	int err;                           /* positive errno */
	pid_t command;                     /* of "|COMMAND", or 0 */
	const volatile sig_atomic_t *stop; /* non-zero: give up on a reader that does not read */
};

/*
 * NULL: standard error; "|COMMAND" or "!COMMAND": a shell command; else a file, made 0600, and no link followed in a
 * sticky folder that all may write to. 0, or -errno and `why`.
 */
int trace_out_open(struct trace_out *out, const char *path, bool append, struct buf *why);
/* FILE.TID of -ff: truncated now, then opened for each block of output. 0 or -errno and `why`. */
int trace_out_open_task(struct trace_out *out, const char *path, pid_t tid, bool append, struct buf *why);
/* An event is complete: writes where somebody watches, or a block is full. */
void trace_out_event(struct trace_out *out);
/* Writes what waits; where a file has no room for all of it, none of it stays there. */
void trace_out_flush(struct trace_out *out);
/* Flushes and closes, and waits for the command. 0, or -errno of the first failure, and `why` says it. */
int trace_out_close(struct trace_out *out, struct buf *why);

/* All outputs of a trace: the common one, and under -ff one for each thread. Zero-initialise, set the first three. */
struct trace_outputs {
	const char *separate;          /* -ff: FILE, of which FILE.TID is made; or NULL: all threads share `common` */
	bool append;                   /* -A */
	struct trace_failure *failure; /* where the failures of threads' outputs are kept */
	struct trace_out common;       /* trace_out_open() */
	struct map threads;            /* tid -> struct trace_out */
};

/* Where lines of thread `tid` go. */
struct trace_out *trace_outputs_of(struct trace_outputs *o, pid_t tid);
/* The thread is gone: writes and closes what it had for itself. */
void trace_outputs_gone(struct trace_outputs *o, pid_t tid);

#endif
