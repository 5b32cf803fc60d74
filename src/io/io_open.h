/* Joins paths without a look at the file system. Used only within src/io. */
#ifndef SCTRACE_IO_IO_OPEN_H
#define SCTRACE_IO_IO_OPEN_H

struct buf;

/*
 * Appends to `out`, which must be empty, the name of the file that a program in `folder` calls `path`. If the folder is
 * unknown (""), the name is relative to it. The name contains no "//", no "." and no "/" at its end, so that a file that
 * is reached in several ways has one name. A ".." at the beginning of `path` removes a component of `folder`. Any other
 * ".." remains, because the component before it may be a symbolic link. Symbolic links are not resolved.
 */
void io_path_join(struct buf *out, const char *folder, const char *path);

#endif
