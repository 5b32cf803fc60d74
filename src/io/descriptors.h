/* The descriptors of processes, and the open file descriptions that they lead to. Private to io/. */
#ifndef SCTRACE_IO_DESCRIPTORS_H
#define SCTRACE_IO_DESCRIPTORS_H

#include "io/file.h"

#include <sys/types.h>

struct io_fd {
	struct io_open *open;
	bool cloexec;
	bool own; /* opened by a call that was traced, and not inherited from outside */
};

/* A table of descriptors, which the threads of a process, and children made with CLONE_FILES, share. */
struct io_fds {
	unsigned refs;
	struct map map; /* descriptor -> struct io_fd */
};

/* A new description of the file with one reference for the caller; NULL if memory ran out. */
struct io_open *io_open_new(struct io_file *f);
/* Drops a reference. */
void io_open_drop(struct io_open *o);

/* An empty table with one reference for the caller; NULL if memory ran out. */
struct io_fds *io_fds_new(void);
/* A copy, as fork(2) makes one. */
struct io_fds *io_fds_copy(const struct io_fds *t);
/* Drops a reference. The last one closes all descriptors; own ones that were open until then are counted as unclosed. */
void io_fds_drop(struct io_fds *t);
struct io_fd *io_fds_get(const struct io_fds *t, int fd);
/* Makes `fd` lead to `o`, whose reference passes to the table; an earlier descriptor of that number is closed. */
void io_fds_set(struct io_fds *t, int fd, struct io_open *o, bool cloexec, bool own);
void io_fds_close(struct io_fds *t, int fd);
/* Closes the descriptors from `first` to `last`. `cloexec_only`: those that execve(2) closes. */
void io_fds_close_range(struct io_fds *t, uint64_t first, uint64_t last, bool cloexec_only);

#endif
