/* Child processes that end for certain: with the measurement, with sctrace, and when sctrace is killed. */
#ifndef SCTRACE_BENCH_KID_H
#define SCTRACE_BENCH_KID_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * fork() into a process group of its own. The child gets SIGKILL when the caller's thread ends (PR_SET_PDEATHSIG), has
 * default signal actions, and must leave by _exit(). Returns as fork() does, -errno on failure.
 */
pid_t kid_fork(void);
/* Kills the whole group of `kid` and waits for the kid itself; its status as from wait(2), or -errno. */
int kid_kill(pid_t kid);
/* Waits for `kid` to end by itself (through signals); its status, or -errno. */
int kid_wait(pid_t kid);

/*
 * Waits for `kid` to end, calling `tick` (may be NULL) some ten times a second. When stop_signal() comes or `limit_ns`
 * are over (0: no limit) its group is killed. 0 and *status; -EINTR, -ETIMEDOUT (killed and reaped), or another -errno.
 */
int kid_watch(pid_t kid, uint64_t limit_ns, void (*tick)(void *ctx), void *ctx, int *status);

/*
 * A guard kills process groups that outlive sctrace: it sleeps on a socket whose other end dies with us. That catches the
 * grandchildren, which PR_SET_PDEATHSIG does not. A child that is to be guarded closes `fd`.
 */
struct kid_guard {
	int fd; /* -1: no guard */
	pid_t pid;
};

/* Starts the guard; 0 or -errno. */
int kid_guard_open(struct kid_guard *g);
/* From now on `group` is killed should we vanish; a negative number takes it off the list. */
void kid_guard_tell(struct kid_guard *g, pid_t group);
/* Dismisses the guard: nothing is killed. */
void kid_guard_close(struct kid_guard *g);

/* Zeroed memory that children share; NULL when there is none. Ends with munmap(). */
void *kid_share(size_t bytes);

#endif
