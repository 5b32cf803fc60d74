/*
 * The destination of a trace: standard error, a file, the standard input of a command. Failures are kept until the end.
 */
#ifndef SCTRACE_TRACE_OUT_H
#define SCTRACE_TRACE_OUT_H

#include "base/buf.h"
#include "base/map.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct trace_failure;

/* An open output; `buf` holds the text to write. */
struct trace_out {
	struct buf buf;
	int fd;                            /* -1: `path` is opened for each write (-ff may have thousands of files) */
	char *path;                        /* or NULL: standard error */
	bool eager;                        /* write at each trace_out_event(), because somebody is watching */
	bool failed;                       /* `err` happened, and all later output is dropped */
	int err;                           /* positive errno */
	pid_t command;                     /* pid of "|COMMAND", or 0 */
	const volatile sig_atomic_t *stop; /* non-zero: stop waiting for a reader that does not read */
};

/*
 * Opens NULL: standard error; "|COMMAND" or "!COMMAND": a shell command; otherwise a file, created with mode 0600. Does
 * not follow links in a sticky folder that all may write to. Returns 0, or -errno with the reason in `why`.
 */
int trace_out_open(struct trace_out *out, const char *path, bool append, struct buf *why);
/*
 * FILE.TID of -ff: truncates the file now, and opens it for each block of output. Returns 0, or -errno with the reason
 * in `why`.
 */
int trace_out_open_task(struct trace_out *out, const char *path, pid_t tid, bool append, struct buf *why);
/* Ends an event: writes if somebody is watching, or if a block is full. */
void trace_out_event(struct trace_out *out);
/* Writes the pending text. If it does not fit into a file, none of it stays there. */
void trace_out_flush(struct trace_out *out);
/* Writes, closes, and waits for the command. Returns 0, or -errno of the first failure with the reason in `why`. */
int trace_out_close(struct trace_out *out, struct buf *why);

/*
 * All outputs of a trace: the common one and, with -ff, one for each thread. Initialise with zeros, then set the first
 * three members.
 */
struct trace_outputs {
	const char *separate;          /* -ff: FILE, the prefix of FILE.TID; or NULL: all threads use `common` */
	bool append;                   /* -A */
	struct trace_failure *failure; /* receives failures of the threads' outputs */
	struct trace_out common;       /* trace_out_open() */
	struct map threads;            /* tid -> struct trace_out */
};

/* The output for lines of thread `tid`. */
struct trace_out *trace_outputs_of(struct trace_outputs *o, pid_t tid);
/* The thread has ended: writes and closes its own output. */
void trace_outputs_gone(struct trace_outputs *o, pid_t tid);

#endif
