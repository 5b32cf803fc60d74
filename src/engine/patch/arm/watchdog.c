/* SPDX-License-Identifier: MIT */
#include "engine/patch/arm/arm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The regions that the watchdog watches. `id` is the address of the struct region in sctrace. */
struct watched {
	uint64_t id;
	void *tail;
};

/* A message to the watchdog about region `id`. If it comes without a descriptor, no process uses the region any more. */
struct message {
	uint64_t id;
	struct iovec iov;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct msghdr head;
};

static void prepare(struct message *m)
{
	m->iov = (struct iovec){&m->id, sizeof(m->id)};
	m->head = (struct msghdr){.msg_iov = &m->iov, .msg_iovlen = 1};
	m->head.msg_control = m->control;
	m->head.msg_controllen = sizeof(m->control);
}

/* Receives a message. Sets *fd to the descriptor that came with it, or to -1. Returns false if sctrace has ended. */
static bool receive(int sock, struct message *m, int *fd)
{
	prepare(m);
	*fd = -1;
	if (recvmsg(sock, &m->head, 0) <= 0)
		return false;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m->head);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return true;
}

/* The regions that the watchdog watches. */
static struct watched all[4096];
static size_t nwatched;

static void watch_or_forget(uint64_t id, int fd)
{
	size_t i = 0;
	while (i < nwatched && all[i].id != id)
		i++;
	if (fd < 0 && i < nwatched) {
		munmap(all[i].tail, AGENT_PAGE);
		all[i] = all[--nwatched];
	}
	void *at = fd < 0 ? MAP_FAILED
			  : mmap(NULL, AGENT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)AGENT_SLOTS_SIZE);
	if (fd >= 0)
		close(fd);
	if (at != MAP_FAILED && nwatched < sizeof(all) / sizeof(*all))
		all[nwatched++] = (struct watched){id, at};
}

/* Closes all descriptors except `a` and `b`, where a <= b. */
static void keep_only(int a, int b)
{
	if (a > 0)
		syscall(SYS_close_range, 0, (unsigned)a - 1, 0);
	if (a + 1 < b)
		syscall(SYS_close_range, (unsigned)a + 1, (unsigned)b - 1, 0);
	syscall(SYS_close_range, (unsigned)b + 1, ~0u, 0);
}

/* All signals to sctrace are for its main thread. */
static void block_signals(void)
{
	static const uint64_t each = ~0ull;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &each, NULL, sizeof(each));
}

/*
 * If SIGSYS is blocked in a thread of an attached process, the process dies if the thread makes a call before dispatch is
 * off, so the watchdog should run at once. If real-time scheduling is not permitted, the priority stays the same.
 */
static void hurry(void)
{
	const struct sched_param first = {.sched_priority = 1};
	syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &first);
}

/* `sock` receives messages, and `life` is the end of a pipe that is closed when sctrace ends. */
static void __attribute__((noreturn)) watchdog(int sock, int life)
{
	struct pollfd fds[] = {{.fd = sock, .events = POLLIN}, {.fd = life}};
	struct message m;
	int fd;
	block_signals();
	setsid();
	hurry();
	keep_only(sock < life ? sock : life, sock < life ? life : sock);
	/* The messages that sctrace sent before its end are read first. */
	while (poll(fds, 2, -1) > 0 && fds[0].revents && receive(sock, &m, &fd))
		watch_or_forget(m.id, fd);
	while (nwatched > 0) {
		volatile struct agent_tail *tail = (volatile struct agent_tail *)all[--nwatched].tail;
		tail->selector = 0;
		tail->records = 0;
	}
	_exit(0);
}

/*
 * A thread of sctrace that has a descriptor table of its own, with the only descriptor for the write end of a pipe. If
 * SIGKILL ends sctrace, this thread usually ends before the main thread, because it may have real-time priority and has
 * little to clean up. The kernel then closes the pipe, and the watchdog notices that. The thread shares the thread-local
 * variables of the main thread, so it calls no function of the C library that could write to them.
 */
static int sentinel(void *life)
{
	block_signals();
	hurry();
	keep_only(*(const int *)life, *(const int *)life);
	for (;;)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
	return 0;
}

/* Starts the sentinel, with a copy of the descriptor `life`. Returns 0 or -errno. */
static int start_sentinel(int life)
{
	static int kept;
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return -errno;
	kept = life;
	return clone(sentinel, stack + size, CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
		     &kept) < 0
		       ? -errno
		       : 0;
}

int watchdog_start(struct patch *p)
{
	int sock[2], life[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		return -errno;
	if (pipe2(life, O_CLOEXEC) < 0) {
		int err = -errno;
		close(sock[0]);
		close(sock[1]);
		return err;
	}
	/* The watchdog is forked twice, so that it is not a child of sctrace, and wait4(2) does not report it. */
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0)
			watchdog(sock[1], life[0]);
		_exit(0);
	}
	int err = pid < 0 ? -errno : start_sentinel(life[1]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	close(sock[1]);
	close(life[0]);
	close(life[1]);
	if (err < 0)
		close(sock[0]);
	else
		p->watchdog_fd = sock[0];
	return err;
}

/* If sendmsg(2) fails, a SIGKILL of sctrace may also end the attached process. The manual page says so. */
static void send_to_watchdog(const struct patch *p, const struct region *r, const int *fd)
{
	struct message m = {.id = (uintptr_t)r};
	prepare(&m);
	if (fd) {
		*CMSG_FIRSTHDR(&m.head) = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m.head)), fd, sizeof(*fd));
	} else {
		m.head.msg_control = NULL;
		m.head.msg_controllen = 0;
	}
	if (p->watchdog_fd >= 0)
		(void)sendmsg(p->watchdog_fd, &m.head, MSG_NOSIGNAL);
}

void watchdog_watch(const struct patch *p, const struct region *r, int fd)
{
	send_to_watchdog(p, r, &fd);
}

void watchdog_forget(const struct patch *p, const struct region *r)
{
	send_to_watchdog(p, r, NULL);
}
