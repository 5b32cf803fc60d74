/* Writes files that the user has named. */
#ifndef SCTRACE_BASE_OUTFILE_H
#define SCTRACE_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;

/* True if other users may have put a link into the folder of `path` (sticky and writable by all, like /tmp). */
bool outfile_folder_is_shared(const char *path);

/*
 * Opens `path` for writing and creates it with `mode` if needed; `how` is O_TRUNC or O_APPEND. In a shared folder,
 * links are not followed, and files and FIFOs are refused unless the owner of the folder owns them. Returns the
 * descriptor or -errno: -ELOOP for such a link, -EREMOTE for such a file (outfile_why() explains them).
 */
int outfile_open(const char *path, int how, mode_t mode);

/*
 * The same for existing files that are not regular: a terminal, a FIFO, /dev/null. Returns -EBUSY for a regular file.
 */
int outfile_open_special(const char *path);

/* Writes all `n` bytes. Returns 0 or -errno. */
int outfile_write(int fd, const char *s, size_t n);

/*
 * Writes `text` to the file `path`, or to standard output if `path` is NULL. Returns 0, or -errno and a sentence in
 * `why`. Removes a file that could not be written completely.
 */
int outfile_put(const char *path, const struct buf *text, struct buf *why);

/*
 * After this call, a write fails with an error instead of a signal if the reader is gone (SIGPIPE) or the file may not
 * grow further (SIGXFSZ). It installs handlers and not SIG_IGN, because execve(2) resets handlers to the default for
 * the programs that sctrace runs.
 */
void outfile_catch_signals(void);

/* The text for an -errno of these functions. */
const char *outfile_why(int err);

#endif
