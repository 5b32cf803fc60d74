/* SPDX-License-Identifier: MIT */
/* What is known about a file, pipe or socket, and how requests are classified. Used only within src/io. */
#ifndef SCTRACE_IO_FILE_H
#define SCTRACE_IO_FILE_H

#include "base/buf.h"
#include "base/map.h"
#include "base/memory.h"
#include "io/probe.h"
#include "run/run.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A set of byte offsets, stored as disjoint ranges in ascending order. */

/* The maximum number of ranges in a set, which limits the memory for a file with accesses at random offsets. */
#define RANGES_MAX 8192

struct range {
	uint64_t from, to; /* `to` is the first offset after the range */
};

/* A zeroed struct is an empty set. Free it with vec_free(). */
struct ranges {
	struct range *v;
	size_t n, cap;
};

/* Returns how many of the offsets from `from` to `to` - 1 the set contains. */
uint64_t ranges_common(const struct ranges *r, uint64_t from, uint64_t to);
/* Adds the offsets from `from` to `to` - 1. Does nothing if there would be more than RANGES_MAX ranges. */
void ranges_add(struct ranges *r, uint64_t from, uint64_t to);
/* Removes the offsets from `from` to `to` - 1. */
void ranges_remove(struct ranges *r, uint64_t from, uint64_t to);

enum io_kind { IO_FILE, IO_PIPE, IO_SOCKET, IO_TERMINAL, IO_DEVICE, IO_OTHER };
enum io_direction { IO_READ, IO_WRITE };

/* The result of the last call that looked up a path. It is unknown after a file was removed from this path. */
enum io_answer { IO_UNKNOWN, IO_PRESENT, IO_ABSENT };

#define IO_MARKS_MAX 400 /* maximum number of requests that are kept for a picture, in each direction */

/* Selects requests at random: one of each `every` successive requests. */
struct io_marks {
	uint64_t every, seen, chosen; /* `chosen`: which of the current `every` requests is selected, from 0 */
	uint64_t random;              /* state of the random number generator */
};

/*
 * A series of repeated calls of one process. A call of another process ends the series, because calls that several
 * processes make once each cannot be avoided. Only the longest series is reported.
 */
struct io_repeats {
	pid_t pid;                 /* the process that made the last of these calls */
	struct io_tally now, most; /* the series that has not ended, and the longest that has ended */
};

/* What is known about the requests in one direction. */
struct io_flow {
	struct io_cost cost; /* without requests that waited */
	struct ranges seen;  /* writes: offsets that were written; reads: that were read and not written since */
	struct io_marks marks;
	double requests;
	struct io_tally small; /* requests that a larger buffer would join to the request before; see is_small() */
	double small_bytes;
	double small_starts;     /* how many of `small` were the first of their open file description */
	struct io_repeats again; /* reads of bytes that the same process had read before */
	struct ranges own;       /* what the process of `again` has read */
	uint64_t page;           /* the last page of the last request, plus 1; 0: there was no request */
};

#define IO_BUFFER 65536 /* size in bytes of the buffer that the findings recommend */

struct io_file {
	char *id;               /* the absolute name, if it is known, and otherwise row.name */
	struct run_io_file row; /* what is displayed; io_file_finish() computes the times in seconds */
	enum io_kind kind;
	bool several;            /* this is the row of all files that have no row of their own */
	bool messages;           /* each write is a message of its own, as for a datagram socket */
	bool created;            /* a pipe that a traced call created */
	bool mapped, executable; /* it was mapped (mmap(2)); also as code, as libraries are */
	double maybe_turns;      /* a pipe: how many requests may belong to a conversation; see maybe_converse() */
	pid_t users[2]; /* a pipe: the process that made the last request in each direction; 0: none is known */
	bool directory; /* the program has opened it as a directory (O_DIRECTORY), which opendir(3) does */
	uint64_t size;  /* size of the file, as far as the trace shows it */
	double ns;
	double reads_judged;             /* number of reads of which it is known whether they waited */
	double reads_ns, read_waited_ns; /* time of all reads, and of those that waited */
	struct io_flow flow[2];          /* index: enum io_direction */
	struct map sizes;                /* requested size -> number of requests, stored in place of a pointer */
	enum io_answer answer;
	struct io_repeats opened_again, stated_again, failed_again;
	struct io_tally close, seek, sync;
	struct io_tally synced; /* synchronous writes (O_SYNC, O_DSYNC) */
	double synced_bytes;
	bool read_direct;    /* it was read with O_DIRECT */
	bool synced_direct;  /* some of these writes used O_DIRECT as well */
	bool synced_by_call; /* some of them were synchronous because of a flag of the call (pwritev2(2)) */
	double least_sync_ns;
	struct io_tally lines;          /* writes of at most IO_LINE_MAX bytes that end in a newline */
	double line_bytes, line_starts; /* total size; how many were the first write of an open file description */
	struct io_tally unaligned;      /* O_DIRECT: refused, or the size or offset is not a multiple of a block */
	struct io_tally again_later;    /* EAGAIN */
	struct io_tally copied;         /* writes of exactly the bytes that a read had just read; times of both */
	double sought_reads;            /* reads just after lseek(2) */
	double unclosed_of_many;        /* those of row.unclosed whose process left many descriptors open */
	struct io_tally back; /* reads after lseek(2) had moved the offset back to a place within the previous read */
	double back_bytes, back_again_bytes; /* their bytes, and those of them that the previous read had returned */
	const struct io_file *copied_from;   /* not freed with this struct */
};

/* An open file description (open(2)). Descriptors created by dup(2) and fork(2) share it. */
struct io_open {
	unsigned refs;
	struct io_file *file;
	uint64_t pos;
	uint64_t begin[2], end[2]; /* offsets at which the last request in each direction began and ended */
	bool used[2];
	enum io_direction last; /* direction of the last request */
	bool append, direct;
	bool synced; /* the file was opened with O_SYNC or O_DSYNC */
	bool back; /* since the last request, a read, lseek(2) has moved the offset back to a place within this read */
	bool sought; /* the last call that changed the offset was lseek(2) */
};

/* A call that moved at least one byte. */
struct io_request {
	enum io_direction direction;
	bool positioned; /* the call had an offset (pread(2)), and did not change that of the description */
	uint64_t offset; /* valid if `positioned` */
	uint64_t asked, bytes;
	bool joins;  /* moved all that was requested, and is not a message: the program could have requested more */
	bool turns;  /* the program had received data and sends now, or the other way round (io_file_turns()) */
	bool synced; /* a write that returns only when the data are on the disk */
	bool waited; /* it is known that the call waited */
	bool asynchronous; /* a request of io_uring, whose time is not that of a call: no cost is computed from it */
	double ns, spread_ns, time_s;
	pid_t pid;
};

/* Returns a new file of this kind. The names are copied. */
struct io_file *io_file_new(const char *id, const char *name, enum io_kind kind);
void io_file_free(struct io_file *f);
/*
 * Adds a call of process `pid`. `same` says that it had the same result as the previous call that was added. The call
 * is a repetition if `same` is true and the same process made the previous call. Otherwise it ends the series.
 */
void io_repeats_add(struct io_repeats *r, bool same, pid_t pid, double ns, double spread_ns);
/* Returns the longest series. The tally belongs to *r. */
const struct io_tally *io_repeats_most(const struct io_repeats *r);
/* Classifies and adds the request, and updates the offset of `o`. */
void io_file_request(struct io_open *o, const struct io_request *r);
/*
 * Returns true if a program has read from a stream and now writes to it, or the other way round. It may be sending an
 * answer, which must not wait in a buffer.
 */
bool io_file_turns(const struct io_open *o, enum io_direction d);
/* Changes the offset, as lseek(2) does. */
void io_file_seek(struct io_open *o, uint64_t to);
/*
 * Adds a write that wrote one line, unless it is a message. Must be called before io_file_request() of the same write.
 */
void io_file_line(const struct io_open *o, double bytes, double ns, double spread_ns);
/* Must be called when the file has been truncated or extended to `size` bytes (truncate(2), O_TRUNC). */
void io_file_truncate(struct io_file *f, uint64_t size);
/* Computes the members of `row` that are known only at the end: the time in seconds, and the most frequent sizes. */
void io_file_finish(struct io_file *f);
/* Returns the name of a kind in tables and files: "file", "pipe", ... */
const char *io_kind_name(enum io_kind kind);

/* The descriptors of processes and their open file descriptions (open(2)). Used only within src/io. */

struct io_fd {
	struct io_open *open;
	bool cloexec;
	/* A call of this process opened the descriptor: it was not open before the trace, and not inherited by fork(2). */
	bool own;
};

/* A table of descriptors. The threads of a process share it, and so do processes created with CLONE_FILES. */
struct io_fds {
	unsigned refs;
	struct map map;    /* descriptor number -> struct io_fd */
	struct buf folder; /* name of the current directory; empty if it is that of the first process */
	/* The last request to a pipe. */
	const struct io_file *pipe;
	enum io_direction pipe_direction;
};

/* Returns a new description of the file with one reference, which belongs to the caller. */
struct io_open *io_open_new(struct io_file *f);

/* Returns an empty table with one reference, which belongs to the caller. */
struct io_fds *io_fds_new(void);
/* Returns a copy of the table, which fork(2) gives to the child. */
struct io_fds *io_fds_copy(const struct io_fds *t);
/* A process that leaves at least this number of its own descriptors open is reported. */
#define IO_UNCLOSED_MANY 64
/*
 * Must be called when a process has ended. Releases its reference. If it is the last one, increments `unclosed` of the
 * file of each descriptor with `own` set, and frees the table. If there are at least IO_UNCLOSED_MANY of these
 * descriptors, also increments `unclosed_of_many` of their files.
 */
void io_fds_end(struct io_fds *t);
/* Releases a reference, and frees the table after the last one. */
void io_fds_drop(struct io_fds *t);
/* Returns the entry of `fd`, or NULL if the trace does not show what it refers to. */
struct io_fd *io_fds_get(const struct io_fds *t, int fd);
/* Makes `fd` refer to `o`, after closing it if it was open. The table takes over the caller's reference to `o`. */
void io_fds_set(struct io_fds *t, int fd, struct io_open *o, bool cloexec, bool own);
void io_fds_close(struct io_fds *t, int fd);
/* Closes the descriptors from `first` to `last`; if `cloexec_only`, only those that execve(2) closes. */
void io_fds_close_range(struct io_fds *t, uint64_t first, uint64_t last, bool cloexec_only);
/* Makes execve(2) close the descriptors from `first` to `last`. */
void io_fds_close_on_exec(struct io_fds *t, uint64_t first, uint64_t last);

#endif
