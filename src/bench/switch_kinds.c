/* The table of the mechanisms by which two tasks take turns. */
#include "bench/switch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int cannot(struct buf *why, const char *what)
{
	int err = errno;
	buf_addf(why, "%s: %s", what, strerror(err));
	return -err;
}

/* Opens a pipe or a pair of sockets for each task. */
static int open_pairs(struct switch_pair *p, bool sockets, struct buf *why)
{
	for (int i = 0; i < 2; i++) {
		int fds[2];
		if ((sockets ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) : pipe2(fds, O_CLOEXEC)) < 0)
			return cannot(why, sockets ? "socketpair" : "pipe");
		p->side[i].read_fd = fds[0];
		p->side[i].write_fd = fds[1];
	}
	p->message = 1;
	return 0;
}

static int open_pipes(struct switch_pair *p, struct buf *why)
{
	return open_pairs(p, false, why);
}

static int open_sockets(struct switch_pair *p, struct buf *why)
{
	return open_pairs(p, true, why);
}

static int open_eventfds(struct switch_pair *p, struct buf *why)
{
	for (int i = 0; i < 2; i++) {
		int fd = eventfd(0, EFD_CLOEXEC);
		if (fd < 0)
			return cannot(why, "eventfd");
		p->side[i].read_fd = p->side[i].write_fd = fd;
	}
	p->message = sizeof(uint64_t);
	return 0;
}

static void fd_wake(struct switch_pair *p, int side)
{
	static const uint64_t one = 1;
	while (write(p->side[side].write_fd, &one, p->message) < 0)
		if (errno != EINTR)
			switch_give_up(p, "write");
}

static void fd_wait(struct switch_pair *p, int side)
{
	uint64_t got;
	while (read(p->side[side].read_fd, &got, p->message) < 0)
		if (errno != EINTR)
			switch_give_up(p, "read");
}

/*
 * Opens two message queues. Their names are removed before the first message, so that no other program can open them.
 */
static int open_queues(struct switch_pair *p, struct buf *why)
{
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 1};
	for (int i = 0; i < 2; i++) {
		char name[64];
		snprintf(name, sizeof(name), "/sctrace-bench-%d-%d", (int)getpid(), i);
		p->side[i].queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attr);
		if (p->side[i].queue == (mqd_t)-1)
			return cannot(why, "mq_open");
		mq_unlink(name);
	}
	return 0;
}

static void queue_wake(struct switch_pair *p, int side)
{
	while (mq_send(p->side[side].queue, "x", 1, 0) < 0)
		if (errno != EINTR)
			switch_give_up(p, "mq_send");
}

static void queue_wait(struct switch_pair *p, int side)
{
	char c;
	while (mq_receive(p->side[side].queue, &c, 1, NULL) < 0)
		if (errno != EINTR)
			switch_give_up(p, "mq_receive");
}

static void futex_wake(struct switch_pair *p, int side)
{
	atomic_store(&p->side[side].word, 1);
	if (syscall(SYS_futex, &p->side[side].word, FUTEX_WAKE, 1, NULL, NULL, 0) < 0)
		switch_give_up(p, "futex");
}

/* Calls the kernel at least once, even if the word is already 1, so that the cost of the call is part of every wait. */
static void futex_wait(struct switch_pair *p, int side)
{
	do
		if (syscall(SYS_futex, &p->side[side].word, FUTEX_WAIT, 0, NULL, NULL, 0) < 0 && errno != EAGAIN &&
		    errno != EINTR)
			switch_give_up(p, "futex");
	while (!atomic_exchange(&p->side[side].word, 0));
}

static sigset_t only_usr1(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return set;
}

/*
 * Blocks SIGUSR1, which the tasks receive by sigwait(3). The second task is created later and inherits the signal mask.
 */
static int open_signals(struct switch_pair *p, struct buf *why)
{
	(void)p;
	sigset_t set = only_usr1();
	return sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? cannot(why, "sigprocmask") : 0;
}

static void signal_wake(struct switch_pair *p, int side)
{
	if (syscall(SYS_tgkill, p->side[side].pid, p->side[side].tid, SIGUSR1) < 0)
		switch_give_up(p, "tgkill");
}

static void signal_wait(struct switch_pair *p, int side)
{
	(void)side;
	sigset_t set = only_usr1();
	while (sigwaitinfo(&set, NULL) < 0)
		if (errno != EINTR)
			switch_give_up(p, "sigwaitinfo");
}

static void yield_wake(struct switch_pair *p, int side)
{
	(void)p;
	(void)side;
}

static void yield_wait(struct switch_pair *p, int side)
{
	(void)p;
	(void)side;
	sched_yield();
}

#define FD     fd_wake, fd_wait
#define FUTEX  futex_wake, futex_wait
#define QUEUE  queue_wake, queue_wait
#define SIGNAL signal_wake, signal_wait
#define YIELD  yield_wake, yield_wait
#define P      .tasks = TASKS_PROCESSES
#define T      .tasks = TASKS_THREADS
#define U      .tasks = TASKS_USER
static const struct switch_kind kinds[] = {
	{"pipe", "one byte there and back through two pipes", P, open_pipes, FD},
	{"pipe-thread", "one byte there and back through two pipes, between two threads", T, open_pipes, FD},
	{"eventfd", "a counter through two eventfds", P, open_eventfds, FD},
	{"socket", "one byte through two Unix stream sockets", P, open_sockets, FD},
	{"mqueue", "one byte through two POSIX message queues", P, open_queues, QUEUE},
	{"signal", "a blocked signal and sigwaitinfo()", P, open_signals, SIGNAL},
	{"futex", "FUTEX_WAKE and FUTEX_WAIT on two words", P, NULL, FUTEX},
	{"futex-thread", "FUTEX_WAKE and FUTEX_WAIT on two words, between two threads", T, NULL, FUTEX},
	{"yield", "sched_yield() by two tasks that never sleep", P, NULL, YIELD, .yields = true},
	{"ucontext", "swapcontext(), without the scheduler", U, .rounds = switch_ucontext_rounds},
	{"bare", "switching only registers and stack", U, switch_open_bare, .rounds = switch_bare_rounds},
};

const struct switch_kind *switch_kind_at(size_t i)
{
	return i < sizeof(kinds) / sizeof(*kinds) ? &kinds[i] : NULL;
}

const struct switch_kind *switch_kind_find(const char *name)
{
	for (size_t i = 0; switch_kind_at(i); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}
