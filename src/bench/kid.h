/* Child processes that always end: with the measurement, with sctrace, and if sctrace is killed. */
#ifndef SCTRACE_BENCH_KID_H
#define SCTRACE_BENCH_KID_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Forks into a process group of its own. The child receives SIGKILL when the caller's thread ends (PR_SET_PDEATHSIG),
 * has default signal actions, and must leave by _exit(). Returns like fork(), or -errno.
 */
pid_t kid_fork(void);
/* Kills the group of `kid` and waits for `kid` itself. Returns its status as from wait(2), or -errno. */
int kid_kill(pid_t kid);
/* Waits until `kid` exits, and continues after signals. Returns its status or -errno. */
int kid_wait(pid_t kid);

/*
 * Waits until `kid` exits, and calls `tick` (may be NULL) about ten times a second. Kills its group if stop_signal() is
 * set or after `limit_ns` (0: no limit). Returns 0 with *status, -EINTR or -ETIMEDOUT (killed and reaped), or another
 * -errno.
 */
int kid_watch(pid_t kid, uint64_t limit_ns, void (*tick)(void *ctx), void *ctx, int *status);

/*
 * The guard kills process groups that outlive sctrace. It sleeps on a socket whose other end closes when sctrace ends.
 * This also catches grandchildren, which PR_SET_PDEATHSIG does not. A guarded child must close `fd`.
 */
struct kid_guard {
	int fd; /* -1: there is no guard */
	pid_t pid;
};

/* Starts the guard. Returns 0 or -errno. */
int kid_guard_open(struct kid_guard *g);
/* Adds `group` to the groups that are killed if sctrace disappears. A negative number removes it. */
void kid_guard_tell(struct kid_guard *g, pid_t group);
/* Ends the guard without killing anything. */
void kid_guard_close(struct kid_guard *g);

/* Zeroed memory that is shared with children, or NULL. Free with munmap(). */
void *kid_share(size_t bytes);

#endif
