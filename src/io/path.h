/* Joins paths without a look at the file system. Used only within src/io. */
#ifndef SCTRACE_IO_PATH_H
#define SCTRACE_IO_PATH_H

struct buf;

/*
 * Appends to `out`, which must be empty, the name of the file that a program in `folder` calls `path`. An absolute path,
 * and a path in an unknown folder (""), remain as they are, except that "./" is removed from their beginning. Otherwise
 * the name contains no "." and no "name/..", so that a file that is reached in several ways has one name. Symbolic links
 * are not resolved.
 */
void io_path_join(struct buf *out, const char *folder, const char *path);

#endif
