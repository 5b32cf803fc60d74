/* SPDX-License-Identifier: MIT */
/* Child processes that never outlive sctrace or the measurement, even if sctrace is killed. */
#ifndef SCTRACE_BENCH_KID_H
#define SCTRACE_BENCH_KID_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct progress;

/*
 * Forks a child into a new process group. The child receives SIGKILL when the calling thread ends (PR_SET_PDEATHSIG),
 * has default signal actions, and must exit by _exit(). Returns the child's pid, 0 in the child, or -errno.
 */
pid_t kid_fork(void);
/* Kills the process group of `kid` and waits for `kid` itself. Returns its wait status (wait(2)) or -errno. */
int kid_kill(pid_t kid);
/* Waits until `kid` exits, even if signals arrive. Returns its wait status (wait(2)) or -errno. */
int kid_wait(pid_t kid);

/*
 * Waits until `kid` exits, and shows the progress about ten times a second. If stop_signal() is set, or after
 * `limit_ns` (0: no limit), kills the process group of `kid` and reaps `kid`. Returns 0 and stores the wait status in
 * *status if `kid` exited by itself; -EINTR or -ETIMEDOUT if it was killed; or another -errno.
 */
int kid_watch(pid_t kid, uint64_t limit_ns, const struct progress *progress, int *status);

/*
 * The guard is a process that kills the registered process groups if sctrace exits without ending the guard first. The
 * guard waits on a socket; the other end of the socket is `fd`, which closes when sctrace exits. Unlike
 * PR_SET_PDEATHSIG, the guard also kills grandchildren. Children in registered groups must close `fd`.
 */
struct kid_guard {
	int fd; /* -1: there is no guard */
	pid_t pid;
};

/* Starts the guard process. Returns 0 or -errno. */
int kid_guard_open(struct kid_guard *g);
/* Registers the process group `group`: the guard kills it if sctrace exits. A negative number unregisters the group. */
void kid_guard_tell(struct kid_guard *g, pid_t group);
/* Ends the guard process without killing any group. */
void kid_guard_close(struct kid_guard *g);

/* Returns zeroed memory that children share with their parent. Free it with munmap(2). */
void *kid_share(size_t bytes);

#endif
