/* SPDX-License-Identifier: MIT */
#include "bench/kid.h"

#include "base/clock.h"
#include "base/memory.h"
#include "bench/stop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GUARD_MAX 256

pid_t kid_fork(void)
{
	pid_t parent = getpid();
	pid_t kid = fork();
	if (kid < 0)
		return -errno;
	if (kid > 0) {
		setpgid(kid, kid); /* parent and child both do this, so that neither must wait for the other */
		return kid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	stop_release();
	if (getppid() != parent)
		_exit(1);
	return 0;
}

int kid_wait(pid_t kid)
{
	int status;
	while (waitpid(kid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status;
}

int kid_kill(pid_t kid)
{
	/*
	 * If both signals are refused, do not wait: the wait might never return. The kernel kills the child when
	 * sctrace exits (PR_SET_PDEATHSIG).
	 */
	if (kill(-kid, SIGKILL) < 0 && kill(kid, SIGKILL) < 0)
		return -errno;
	return kid_wait(kid);
}

int kid_watch(pid_t kid, uint64_t limit_ns, const struct progress *progress, int *status)
{
	uint64_t start = clock_ns();
	int fd = (int)syscall(SYS_pidfd_open, kid, 0);
	int err = 0;
	while (!err) {
		/*
		 * Before Linux 5.3, pidfd_open(2) does not exist. In that case poll(2) only sleeps, and the exit of the
		 * child is noticed a little later.
		 */
		struct pollfd p = {.fd = fd, .events = POLLIN};
		poll(&p, 1, fd >= 0 ? 100 : 10);
		pid_t got = waitpid(kid, status, WNOHANG);
		if (got == kid)
			break;
		if (got < 0 && errno != EINTR)
			err = -errno;
		else if (stop_signal())
			err = -EINTR;
		else if (limit_ns && clock_ns() - start > limit_ns)
			err = -ETIMEDOUT;
		if (!err)
			progress_show(progress);
	}
	if (fd >= 0)
		close(fd);
	if (err)
		*status = kid_kill(kid);
	return err;
}

static void forget(pid_t *groups, size_t *n, pid_t group)
{
	for (size_t i = 0; i < *n; i++)
		if (groups[i] == group) {
			groups[i] = groups[--*n];
			return;
		}
}

/*
 * The main loop of the guard process: maintains the list of process groups, and kills them when sctrace's end of the
 * socket closes.
 */
static void guard(int fd)
{
	pid_t groups[GUARD_MAX];
	size_t n = 0;
	pid_t p;
	ssize_t got;
	while ((got = read(fd, &p, sizeof(p))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			_exit(1); /* without the guard, the children have only PR_SET_PDEATHSIG */
		if (got != (ssize_t)sizeof(p))
			break;
		if (p == 0)
			_exit(0);
		if (p < 0)
			forget(groups, &n, -p);
		else if (n < GUARD_MAX)
			groups[n++] = p;
	}
	for (size_t i = 0; i < n; i++)
		kill(-groups[i], SIGKILL);
	_exit(0);
}

int kid_guard_open(struct kid_guard *g)
{
	*g = (struct kid_guard){.fd = -1};
	int fds[2];
	/* This must be a socket: if the guard were dead, writing to a pipe would kill sctrace by SIGPIPE. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	pid_t pid = fork();
	if (pid < 0) {
		int err = -errno;
		close(fds[0]);
		close(fds[1]);
		return err;
	}
	if (pid == 0) {
		setsid();
		for (int sig = 1; sig < NSIG; sig++)
			if (sig != SIGCHLD)
				signal(sig, SIG_IGN);
		/*
		 * The guard must not keep any other file open. Otherwise a program that reads sctrace's output would
		 * wait until the guard exits.
		 */
		dup2(fds[0], 0);
		syscall(SYS_close_range, 1, ~0U, 0);
		guard(0);
	}
	close(fds[0]);
	g->fd = fds[1];
	g->pid = pid;
	return 0;
}

void kid_guard_tell(struct kid_guard *g, pid_t group)
{
	/*
	 * A message of so few bytes is sent completely or not at all. If the message cannot be sent, only
	 * PR_SET_PDEATHSIG kills the leader of the group when sctrace exits.
	 */
	if (g->fd >= 0 && send(g->fd, &group, sizeof(group), MSG_NOSIGNAL) < 0)
		kid_guard_close(g);
}

void kid_guard_close(struct kid_guard *g)
{
	if (g->fd < 0)
		return;
	pid_t done = 0;
	if (send(g->fd, &done, sizeof(done), MSG_NOSIGNAL) < 0)
		kill(g->pid, SIGKILL);
	close(g->fd);
	g->fd = -1;
	kid_wait(g->pid);
}

void *kid_share(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		memory_exhausted();
	return p;
}
