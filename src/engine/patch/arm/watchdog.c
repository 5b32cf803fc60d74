#include "engine/patch/arm/watchdog.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void __attribute__((noreturn)) watchdog(int sock)
{
	static void *tails[4096];
	size_t n = 0;
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	/*
	 * An attached process dies if it makes a call before dispatch is off, so the watchdog should run at once. If
	 * real-time scheduling is not permitted, the watchdog has normal priority.
	 */
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
	if (sock > 0)
		syscall(SYS_close_range, 0, (unsigned)sock - 1, 0);
	syscall(SYS_close_range, (unsigned)sock + 1, ~0u, 0);
	for (;;) {
		char byte;
		union {
			struct cmsghdr head;
			char room[CMSG_SPACE(sizeof(int))];
		} control;
		struct iovec iov = {&byte, 1};
		struct msghdr msg = {
			.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
		if (recvmsg(sock, &msg, 0) <= 0)
			break;
		const struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
		int fd = -1;
		if (c && c->cmsg_type == SCM_RIGHTS)
			memcpy(&fd, CMSG_DATA(c), sizeof(fd));
		void *at = fd < 0 ? MAP_FAILED
				  : mmap(NULL, AGENT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
					 (off_t)AGENT_SLOTS_SIZE);
		if (fd >= 0)
			close(fd);
		if (at != MAP_FAILED && n < sizeof(tails) / sizeof(*tails))
			tails[n++] = at;
	}
	while (n > 0) {
		volatile struct agent_tail *tail = (volatile struct agent_tail *)tails[--n];
		tail->selector = 0;
		tail->records = 0;
	}
	_exit(0);
}

int watchdog_start(struct patch *p)
{
	int sock[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		return -errno;
	/* The watchdog is forked twice, so that it is not a child of sctrace, and wait4(2) does not report it. */
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0)
			watchdog(sock[1]);
		_exit(0);
	}
	int err = pid < 0 ? -errno : 0;
	if (pid > 0)
		waitpid(pid, NULL, 0);
	close(sock[1]);
	if (err < 0)
		close(sock[0]);
	else
		p->watchdog_fd = sock[0];
	return err;
}

void watchdog_watch(const struct patch *p, int fd)
{
	char byte = 0;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	/* If sendmsg(2) fails, a SIGKILL of sctrace also ends the attached process. The manual page says so. */
	if (p->watchdog_fd >= 0)
		(void)sendmsg(p->watchdog_fd, &msg, MSG_NOSIGNAL);
}
