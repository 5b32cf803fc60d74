/* A file, pipe or socket of a profile: what is kept of it, and how a request is classified. Private to io/. */
#ifndef SCTRACE_IO_FILE_H
#define SCTRACE_IO_FILE_H

#include "base/map.h"
#include "io/cost.h"
#include "io/ranges.h"
#include "run/run.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum io_kind { IO_FILE, IO_PIPE, IO_SOCKET, IO_TERMINAL, IO_DEVICE, IO_OTHER };
enum io_direction { IO_READ, IO_WRITE };

#define IO_MARKS_MAX 400 /* in each direction, for the picture */

/* A random choice of requests: one of each block of `every` that follow each other. */
struct io_marks {
	uint64_t every, seen, chosen; /* `chosen` is the number within the present block */
	uint64_t random;              /* state of the generator */
};

/* What is kept for each direction. */
struct io_flow {
	struct io_cost cost;
	struct ranges seen; /* offsets that were read (and not written since), or written */
	struct io_marks marks;
	double requests;
	struct io_tally again; /* repeated ones */
	struct io_tally small; /* those that a larger buffer would join: see is_small() */
	double small_bytes, again_bytes;
	uint64_t page; /* where the last request ended, plus 1 */
};

#define IO_BUFFER 65536 /* the buffer that findings recommend */

struct io_file {
	struct run_io_file row; /* what is displayed; seconds are filled in at the end */
	enum io_kind kind;
	bool messages; /* a socket that keeps the bounds of what is sent */
	uint64_t size; /* the largest offset that is known to exist */
	double ns;
	struct io_flow flow[2]; /* by enum io_direction */
	struct map sizes;       /* size that was asked for -> number of requests, as a pointer's value */
	struct io_tally opened_again, stated_again, failed_again; /* by the process that did the same last */
	pid_t opener, stater, failer;
	struct io_tally close, seek, sync;
	double least_sync_ns;
	struct io_tally lines; /* writes that end in the only newline */
	double line_bytes;
	struct io_tally
		unaligned; /* requests with O_DIRECT that the kernel had to refuse or could not pass on directly */
	struct io_tally again_later; /* EAGAIN */
	struct io_tally copied;      /* writes of exactly what a read had brought, with that read */
	double copied_bytes, sought_reads;
	const struct io_file *copied_from; /* not owned */
};

/* An open file description (open(2)), which dup(2) and fork(2) share. */
struct io_open {
	unsigned refs;
	struct io_file *file;
	uint64_t pos;
	uint64_t end[2]; /* where the last request of each direction ended */
	bool used[2];
	enum io_direction last; /* of the last request */
	bool append, direct;
	bool sought; /* lseek(2) was the last call that moved the offset */
};

/* A request that moved at least one byte. */
struct io_request {
	enum io_direction direction;
	bool positioned; /* it named its offset (pread) and does not move that of the description */
	uint64_t offset; /* if `positioned` */
	uint64_t asked, bytes;
	bool joins; /* the program could have asked for more at once: this moved all that it asked for, and is not a message */
	double ns, time_s;
};

/* A new file of the kind; `name` is copied. NULL if memory ran out. */
struct io_file *io_file_new(const char *name, enum io_kind kind);
void io_file_free(struct io_file *f);
/* Adds the request, classifies it, and moves the offset of `o`. */
void io_file_request(struct io_open *o, const struct io_request *r);
/* The file has `size` bytes now (truncate(2), O_TRUNC). */
void io_file_truncate(struct io_file *f, uint64_t size);
/* Fills in what row has at the end: seconds, and the most frequent sizes. */
void io_file_finish(struct io_file *f);
/* The name of a kind in tables and files: "file", "pipe", ... */
const char *io_kind_name(enum io_kind kind);

#endif
