/* Files that are written because the user named them. */
#ifndef SCTRACE_BASE_OUTFILE_H
#define SCTRACE_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;

/* Is the folder of `path` one where others may have put a link (sticky and writable by all, as /tmp is)? */
bool outfile_folder_is_shared(const char *path);

/*
 * Opens `path` for writing, made with `mode` where it is not there; `how` is O_TRUNC or O_APPEND. In a shared folder a link
 * is not followed, and no file or FIFO of another user than the folder's owner is written to. The descriptor, or -errno: -ELOOP
 * for such a link, -EREMOTE for such a file (outfile_why() has words for them).
 */
int outfile_open(const char *path, int how, mode_t mode);

/* The same of what is there and no regular file: a terminal, a FIFO, /dev/null. -EBUSY where it is one after all. */
int outfile_open_special(const char *path);

/* Writes it all: 0 or -errno. */
int outfile_write(int fd, const char *s, size_t n);

/*
 * Writes `text` to the file `path`, or to standard output where that is NULL; 0, or -errno and a sentence in `why`. A file that
 * could not be written whole is removed.
 */
int outfile_put(const char *path, const struct buf *text, struct buf *why);

/*
 * From now on a write fails with an error, instead of ending us, where its reader went away (SIGPIPE) or a file may not grow so
 * large (SIGXFSZ). By handlers, not SIG_IGN: execve(2) sets them back to the default for the programs we run.
 */
void outfile_catch_signals(void);

/* What -errno of these functions means. */
const char *outfile_why(int err);

#endif
