/* The descriptors of processes and their open file descriptions (open(2)). Used only within src/io. */
#ifndef SCTRACE_IO_DESCRIPTORS_H
#define SCTRACE_IO_DESCRIPTORS_H

#include "base/buf.h"
#include "io/file.h"

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
