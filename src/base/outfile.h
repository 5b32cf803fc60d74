/* SPDX-License-Identifier: MIT */
/* Writes files whose names the user has given. */
#ifndef SCTRACE_BASE_OUTFILE_H
#define SCTRACE_BASE_OUTFILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;

/* True if other users can create links in the directory of `path`: it is sticky and writable by all, like /tmp. */
bool outfile_folder_is_shared(const char *path);

/*
 * Opens `path` for writing, and creates it with `mode` if needed. `how` is O_TRUNC or O_APPEND. Returns a descriptor
 * above 2 or -errno. In a directory where outfile_folder_is_shared() is true, a symbolic link is refused with -ELOOP, and a
 * file or FIFO with -EREMOTE if it belongs neither to sctrace's user nor to the owner of the directory. outfile_why()
 * explains both errors.
 */
int outfile_open(const char *path, int how, mode_t mode);

/* Like outfile_open(), but only for existing terminals, FIFOs and devices. Returns -EBUSY for a regular file. */
int outfile_open_special(const char *path);

/* Creates a pipe with descriptors above 2. Returns 0 or -errno. */
int outfile_pipe(int fd[2]);

/*
 * Returns true if both names refer to the same regular file, or are names of one file that does not exist yet.
 * Writing to one would overwrite the other. Returns false if one of them is NULL.
 */
bool outfile_is_same(const char *one, const char *other);

/*
 * Checks whether `path` can be written, but does not create it. If the file exists, it must be writable. Otherwise its
 * folder must be, because the file will be created there. Returns 0 or -errno.
 */
int outfile_check(const char *path);

/*
 * Writes all `n` bytes. Returns 0 or -errno. If `stop` is not NULL, a signal handler can set *stop to end the wait for
 * a reader that does not read: the interrupted write(2) is then not repeated, and the function returns -EINTR.
 */
int outfile_write(int fd, const char *s, size_t n, const volatile sig_atomic_t *stop);

/*
 * Writes `text` to the file `path`, or to standard output if `path` is NULL. After an error, removes the file and returns -errno with a
 * sentence in `why`; otherwise returns 0.
 */
int outfile_put(const char *path, const struct buf *text, struct buf *why);

/*
 * After this call, if the reader of a pipe has gone (SIGPIPE) or a file would exceed the size limit (SIGXFSZ), write(2)
 * fails with an error instead of a signal killing sctrace. The signals get handlers and are not ignored, because
 * execve(2) resets handlers: the programs that sctrace runs start with the default actions.
 */
void outfile_catch_signals(void);

/* Returns the text for an error (-errno) of the functions above. */
const char *outfile_why(int err);

#endif
