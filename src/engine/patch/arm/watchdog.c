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

/* The regions that the watchdog watches. `id` is the address of the struct region in sctrace. */
struct watched {
	uint64_t id;
	void *tail;
};

/* A message to the watchdog about region `id`. If it comes without a descriptor, no process uses the region any more. */
struct message {
	uint64_t id;
	struct iovec iov;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr head;
};

static void prepare(struct message *m)
{
	m->iov = (struct iovec){&m->id, sizeof(m->id)};
	m->head = (struct msghdr){.msg_iov = &m->iov, .msg_iovlen = 1};
	m->head.msg_control = &m->control;
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

static void __attribute__((noreturn)) watchdog(int sock)
{
	static struct watched all[4096];
	size_t n = 0;
	struct message m;
	int fd;
	sigset_t signals;
	sigfillset(&signals);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	setsid();
	/*
	 * If SIGSYS is blocked in a thread of an attached process, the process dies if the thread makes a call before
	 * dispatch is off, so the watchdog should run at once. If real-time scheduling is not permitted, the watchdog
	 * has normal priority.
	 */
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
	if (sock > 0)
		syscall(SYS_close_range, 0, (unsigned)sock - 1, 0);
	syscall(SYS_close_range, (unsigned)sock + 1, ~0u, 0);
	while (receive(sock, &m, &fd)) {
		size_t i = 0;
		while (i < n && all[i].id != m.id)
			i++;
		if (fd < 0 && i < n) {
			munmap(all[i].tail, AGENT_PAGE);
			all[i] = all[--n];
		}
		void *at = fd < 0 ? MAP_FAILED
				  : mmap(NULL, AGENT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
					 (off_t)AGENT_SLOTS_SIZE);
		if (fd >= 0)
			close(fd);
		if (at != MAP_FAILED && n < sizeof(all) / sizeof(*all))
			all[n++] = (struct watched){m.id, at};
	}
	while (n > 0) {
		volatile struct agent_tail *tail = (volatile struct agent_tail *)all[--n].tail;
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

/* If sendmsg(2) fails, a SIGKILL of sctrace may also end the attached process. The manual page says so. */
static void send_to_watchdog(const struct patch *p, const struct region *r, const int *fd)
{
	struct message m = {.id = (uintptr_t)r};
	prepare(&m);
	if (fd) {
		m.control.head = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&m.control.head), fd, sizeof(*fd));
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
