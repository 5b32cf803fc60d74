/* SPDX-License-Identifier: MIT */
/* The destination of a trace: standard error, a file or a command. A failure to write is reported at the end. */
#ifndef SCTRACE_TRACE_OUT_H
#define SCTRACE_TRACE_OUT_H

#include "base/buf.h"
#include "base/map.h"
#include "event.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct names;
struct trace_failure;

/* An open output; `buf` holds the text to write. */
struct trace_out {
	struct buf buf;
	int fd;        /* -1: `path` is opened for each write (-ff may have thousands of files) */
	char *path;    /* path of the file; NULL: standard error or a command */
	bool eager;    /* write at each trace_out_idle(), because `fd` may be a terminal */
	bool empty;    /* the file is empty, and nothing has been added to `buf` yet */
	bool failed;   /* a write has failed with `err`; all later output is discarded */
	int err;       /* positive errno */
	size_t begun;  /* number of bytes of the unfinished line at the end of what was written */
	pid_t command; /* pid of "|COMMAND", or 0 */
	bool stale;    /* -ff: the thread has executed a program, so the next line may go to another file */
	const volatile sig_atomic_t *stop; /* if *stop is not 0, a write waits only a moment for a reader */
};

/*
 * Opens an output. A `path` of NULL means standard error. "|COMMAND" and "!COMMAND" mean a shell command. Any other
 * `path` is a file, which is created with mode 0600. Does not follow links in a sticky folder that all users may write
 * to. Returns 0, or -errno with the reason in `why`.
 */
int trace_out_open(struct trace_out *out, const char *path, bool append, struct buf *why);
/*
 * Creates the file `path` for -ff, and truncates it unless `append` is set. It is opened again for each block of output,
 * so that it takes no descriptor. Returns 0, or -errno with the reason in `why`.
 */
int trace_out_open_task(struct trace_out *out, const char *path, bool append, struct buf *why);
/*
 * Appends the name of a file of -ff, for thread `tid` of process `pid`, which runs `program`. In `pattern`, as in
 * core(5), %e is replaced by the name of the program, %p by the process id, %i by the thread id, and %% by %. Other
 * letters are kept. If two threads could otherwise get the same name, ".TID" is appended. Bytes of the program's name
 * that are not suitable for a file's name are replaced.
 */
void trace_out_name(const char *pattern, pid_t pid, pid_t tid, const char *program, struct buf *out);
/* Must be called at the end of an event. Writes the pending text if a block is full. */
void trace_out_event(struct trace_out *out);
/* Must be called before the program continues after an event. Writes the pending text if `eager` is set. */
void trace_out_idle(struct trace_out *out);
/*
 * Writes the pending text. If only a part of it fits into a file, removes that part again, and also the beginning of
 * its first line if that was written earlier.
 */
void trace_out_flush(struct trace_out *out);
/* Writes the rest, closes the output, waits for the command. Returns 0, or -errno of the first failure and `why`. */
int trace_out_close(struct trace_out *out, struct buf *why);

/* All outputs of a trace. Initialise with zeros, then set the members before `common`. */
struct trace_outputs {
	const char *separate; /* -ff: the names of the threads' files (trace_out_name()); NULL: all write to `common` */
	bool append;          /* -A */
	const struct names *names;     /* the names of programs for %e; NULL: they are unknown */
	const char *program;           /* path of the program that sctrace starts, or NULL */
	struct trace_failure *failure; /* receives the failures of the outputs in `threads` */
	struct trace_out common;       /* opened by the caller with trace_out_open() */
	struct map threads;            /* tid -> struct trace_out */
	struct map programs;           /* for %e: tid -> the name of its program, a string that the map owns */
	struct map earlier; /* map_key() of a file's path -> not NULL: this trace has already written to it */
};

/*
 * Returns the output for a new line about the event. If this trace has already written to a file of that name, appends to
 * it.
 */
struct trace_out *trace_outputs_begin(struct trace_outputs *o, const struct event *ev);
/* Returns the output of thread `tid`, where its last line is. */
struct trace_out *trace_outputs_of(struct trace_outputs *o, pid_t tid);
/*
 * Must be called when thread `tid` has created `child`. Notes the name of the parent's program, which is the child's as well.
 * Later, for example at the child's first line, the child may already have executed another program.
 */
void trace_outputs_created(struct trace_outputs *o, pid_t tid, pid_t child);
/* Must be called when thread `tid` has executed a program. If files have names of programs, its next lines go to another. */
void trace_outputs_exec(struct trace_outputs *o, pid_t tid);
/* Must be called when thread `tid` has ended. Writes and closes the thread's own output, if it has one. */
void trace_outputs_gone(struct trace_outputs *o, pid_t tid);
/* Frees the maps. All threads must have ended. */
void trace_outputs_free(struct trace_outputs *o);

/* The first failure of sctrace itself, kept until the end of the trace. */

/* Zeros mean that nothing has failed yet. The owner frees `why`. */
struct trace_failure {
	int err; /* -errno, or 0 */
	struct buf why;
};

/* Records the first failure; ignores later ones. `err` is -errno, or 0: none. The rest is a sentence for the user. */
void trace_fail(struct trace_failure *f, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
