/*
 * Files whose contents come from a process or a machine that may not answer: FUSE, NFS and the like. sctrace must not
 * wait for such a file while it holds a thread, because the thread may be the one that serves the file.
 */
#ifndef SCTRACE_TRACEE_SERVED_H
#define SCTRACE_TRACEE_SERVED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Returns true if another process or machine serves the files of device `dev` (as in struct proc_map) to process `pid`.
 * Returns false also if this is unknown.
 */
bool served_device(pid_t pid, uint64_t dev);
/*
 * Copies a regular file into memory, with a helper process, which gets SERVED_PATIENCE_MS for each part of the file.
 * Returns a descriptor of the copy, or -errno; -ETIMEDOUT means that the server does not answer.
 */
#define SERVED_PATIENCE_MS 1000
int served_copy(const char *path);
/* Opens /proc/PID/NAME, a link to a file such as "exe", for reading. If the file is served, opens a copy. */
int served_open(pid_t pid, const char *name);

#endif
