/* SPDX-License-Identifier: MIT */
/* Calls that change what descriptors refer to, and the current directory. With -y, each is shown with the right names. */
#include "e2e.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>

static int here;

static int open_here(const char *name)
{
	int fd = openat(AT_FDCWD, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	return fd;
}

static void send_fd(int socket, int fd)
{
	char byte = 'x', room[CMSG_SPACE(sizeof fd)] = {0};
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	CHECK(sendmsg(socket, &m, 0) == 1);
}

static int receive_fd(int socket)
{
	int fd;
	char byte, room[CMSG_SPACE(sizeof fd)];
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	CHECK(recvmsg(socket, &m, 0) == 1 && m.msg_controllen >= CMSG_LEN(sizeof fd));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	return fd;
}

static void test_each(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	int one = open_here("one"), two = open_here("two"), ends[2], pair[2];
	CHECK(dup2(one, two) == two);
	CHECK(close(two) == 0);
	two = fcntl(one, F_DUPFD, 20);
	CHECK(two == 20 && rename("one", "three") == 0 && write(two, "x", 1) == 1);
	CHECK(pipe2(ends, O_CLOEXEC) == 0 && close(ends[0]) == 0);
	CHECK(mkdir("d", 0700) == 0 && chdir("d") == 0);
	CHECK_FAILS(openat(AT_FDCWD, "none", O_RDONLY), ENOENT);
	CHECK(chdir("..") == 0 && rmdir("d") == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	send_fd(pair[0], two);
	int got = receive_fd(pair[1]);
	CHECK(unlink("three") == 0 && write(got, "y", 1) == 1);
	CHECK(close(got) == 0);
	puts("each was named");
}

/* Receives descriptors, uses them and closes them. */
static void test_rights(int argc, char **argv)
{
	const int n = number(argc, argv, 0, 200);
	int one = open_here("one"), pair[2];
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	for (int i = 0; i < n; i++) {
		send_fd(pair[0], i % 2 ? one : pair[0]);
		const int got = receive_fd(pair[1]);
		CHECK(i % 2 ? write(got, "y", 1) == 1 : fcntl(got, F_GETFD) >= 0);
		CHECK(close(got) == 0);
	}
	puts("received");
}

/* The descriptor gets another meaning for the caller alone, or also for those with which it shares its descriptors. */
static void replace(int fd, const char *name)
{
	CHECK(close(fd) == 0);
	int other = open_here(name);
	CHECK(other == fd && write(fd, "r", 1) == 1);
}

static void *replace_own(void *fd)
{
	CHECK(unshare(CLONE_FILES) == 0);
	replace(*(int *)fd, "thread");
	return NULL;
}

static void await(pid_t pid)
{
	int status;
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

/* Processes and threads that share descriptors, and others that have copies of them. */
static void test_apart(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	CHECK(symlink("first", "link") == 0 || errno == EEXIST); /* of an earlier run */
	int fd = open_here("link"), spare = open_here("spare");
	CHECK(write(fd, "1", 1) == 1);
	pid_t pid = fork();
	if (pid == 0) {
		replace(fd, "forked");
		CHECK(rename("first", "renamed") == 0);
		_exit(0);
	}
	await(pid);
	CHECK(write(fd, "2", 1) == 1);
	pid = vfork();
	if (pid == 0)
		_exit(dup2(spare, fd) != fd || close(spare) != 0);
	await(pid);
	CHECK(write(fd, "3", 1) == 1 && write(spare, "4", 1) == 1);
	replace(fd, "own");
	pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		replace(fd, "shared");
		_exit(0);
	}
	await(pid);
	CHECK(write(fd, "5", 1) == 1);
	pthread_t t;
	CHECK(pthread_create(&t, NULL, replace_own, &fd) == 0 && pthread_join(t, NULL) == 0);
	CHECK(write(fd, "6", 1) == 1 && close(fd) == 0 && close(spare) == 0);
	puts("each has its own");
}

/* In another root directory, sctrace sees other paths than the program. */
static void test_root(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	int before = open_here("before");
	CHECK(mkdir("root", 0700) == 0 || errno == EEXIST);
	CHECK(chroot("root") == 0 && chdir("/") == 0);
	int fd = open_here("/inside");
	CHECK(write(fd, "1", 1) == 1 && close(fd) == 0 && close(before) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		fd = open_here("child");
		_exit(close(fd) != 0);
	}
	await(pid);
	puts("the root has changed");
}

/* Creates and closes files, pipes and sockets, and makes calls that fail. */
static void test_many(int argc, char **argv)
{
	long n = argc > 0 ? atol(argv[0]) : 1000;
	struct sockaddr_un none = {.sun_family = AF_UNIX, .sun_path = "/none"};
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	const struct linger now = {.l_onoff = 1}; /* so that no port stays in use */
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(listening >= 0 && bind(listening, (struct sockaddr *)&at, size) == 0 && listen(listening, 5) == 0 &&
	      getsockname(listening, (struct sockaddr *)&at, &size) == 0);
	for (long i = 0; i < n; i++) {
		int ours = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), theirs;
		CHECK(ours >= 0 && setsockopt(ours, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0 &&
		      connect(ours, (struct sockaddr *)&at, size) == 0);
		theirs = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
		CHECK(theirs >= 0 && close(ours) == 0 && close(theirs) == 0);
		int ends[2], fd = open("/dev/null", O_RDONLY | O_CLOEXEC), other = dup(fd);
		CHECK(fd >= 0 && other >= 0 && dup2(fd, other) == other && fcntl(fd, F_GETFD) == FD_CLOEXEC);
		CHECK(pipe2(ends, O_CLOEXEC) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0);
		CHECK(close(fd) == 0 && close(other) == 0);
		fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(fchdir(fd) == 0 && chdir("dev") == 0 && close(fd) == 0);
		fd = memfd_create("memory", MFD_CLOEXEC); /* its name ends in " (deleted)" */
		CHECK(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0);
		fd = epoll_create1(EPOLL_CLOEXEC);
		CHECK(fd >= 0 && close(fd) == 0);
		fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		CHECK(fd >= 0 && close(fd) == 0);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		CHECK(fd >= 0);
		CHECK_FAILS(connect(fd, (struct sockaddr *)&none, sizeof(none)), ENOENT);
		CHECK(close(fd) == 0);
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* it has no port until it sends */
		CHECK(fd >= 0 && sendto(fd, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&at, size) == 1 && close(fd) == 0);
		CHECK_FAILS(close(1000), EBADF);
		CHECK_FAILS(open("none", O_RDONLY), ENOENT);
	}
}

static void take(int fd)
{
	char byte;
	CHECK(read(fd, &byte, 1) == 1);
}

static void give(int fd)
{
	CHECK(write(fd, "t", 1) == 1);
}

static void use_eventfd(int at)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	(void)at;
	CHECK(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC && close(fd) == 0);
}

/* When one end is closed, the name of the other one changes. */
static void use_pair(int at)
{
	int pair[2], other;
	(void)at;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	give(pair[0]);
	take(pair[1]);
	CHECK((other = dup(pair[0])) >= 0 && close(pair[0]) == 0);
	give(other);
	take(pair[1]);
	CHECK(close(other) == 0 && close(pair[1]) == 0);
}

/* A process has one end, and ends before the other end is used again. */
static void use_inherited_pair(int at)
{
	int pair[2];
	char byte;
	(void)at;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		CHECK(close(pair[0]) == 0);
		give(pair[1]);
		_exit(0);
	}
	CHECK(close(pair[1]) == 0);
	await(pid);
	take(pair[0]);
	CHECK(read(pair[0], &byte, 1) == 0 && close(pair[0]) == 0);
}

static void use_accepted(int at)
{
	struct sockaddr_un name;
	socklen_t size = sizeof(name);
	int ours = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), theirs;
	CHECK(ours >= 0 && getsockname(at, (struct sockaddr *)&name, &size) == 0 &&
	      connect(ours, (struct sockaddr *)&name, size) == 0);
	theirs = accept4(at, NULL, NULL, SOCK_CLOEXEC);
	CHECK(theirs >= 0);
	give(ours);
	take(theirs);
	CHECK(close(theirs) == 0 && close(ours) == 0);
}

static void use_range(int at)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), other = dup(fd);
	(void)at;
	CHECK(fd >= 0 && other == fd + 1 && syscall(SYS_close_range, fd, other, 0) == 0);
	CHECK_FAILS(close(fd), EBADF);
	fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC && close(fd) == 0);
}

static void use_namespace(int at)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	(void)at;
	CHECK(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC && close(fd) == 0);
}

static void use_in_child(int at)
{
	pid_t pid = fork();
	if (pid == 0) {
		CHECK(fcntl(STDOUT_FILENO, F_GETFD) >= 0 && dup2(STDOUT_FILENO, at + 1) == at + 1);
		_exit(0);
	}
	await(pid);
}

/* Uses and closes a descriptor, also by a copy. Not every kernel can make each kind, and some need privileges. */
static void use_and_close(int fd)
{
	const int other = fd < 0 ? -1 : dup(fd);
	CHECK(fd < 0 || (fcntl(fd, F_GETFL) >= 0 && fcntl(other, F_GETFL) >= 0 && close(fd) == 0 && close(other) == 0));
}

static int make_signalfd(int fd, int sig, int also)
{
	const uint64_t set = UINT64_C(1) << (sig - 1) | UINT64_C(1) << (also - 1);
	fd = (int)syscall(SYS_signalfd4, fd, &set, sizeof(set), SFD_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

static void use_signalfd(int at)
{
	(void)at;
	use_and_close(make_signalfd(-1, SIGUSR1, SIGKILL)); /* the kernel leaves SIGKILL out */
}

/* The copies of a signalfd have its new signals, also those of another process. */
static void change_signalfd(int at)
{
	const int fd = make_signalfd(-1, SIGUSR1, SIGUSR2), other = dup(fd);
	(void)at;
	CHECK(make_signalfd(fd, SIGUSR2, SIGSTOP) == fd && fcntl(other, F_GETFD) == 0 &&
	      fcntl(fd, F_GETFD) == FD_CLOEXEC);
	pid_t pid = fork();
	if (pid == 0) {
		CHECK(make_signalfd(other, SIGHUP, SIGHUP) == other && fcntl(fd, F_GETFD) == FD_CLOEXEC);
		_exit(0);
	}
	await(pid);
	CHECK(fcntl(other, F_GETFD) == 0 && close(fd) == 0 && close(other) == 0);
}

static void use_pidfd(int at)
{
	(void)at;
	use_and_close((int)syscall(SYS_pidfd_open, getpid(), 0));
}

/* When a process has ended and was waited for, the name of its pidfd changes. */
static void use_pidfd_of_child(int at)
{
	pid_t pid = fork();
	(void)at;
	if (pid == 0)
		_exit(0);
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	CHECK(fd < 0 || fcntl(fd, F_GETFD) == FD_CLOEXEC);
	await(pid);
	use_and_close(fd);
}

static void use_netlink(int at)
{
	const struct sockaddr_nl any = {.nl_family = AF_NETLINK};
	const struct nlmsghdr request = {.nlmsg_len = sizeof(request), .nlmsg_type = NLMSG_NOOP};
	(void)at;
	use_and_close(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
	int bound = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	CHECK(bound < 0 || bind(bound, (const struct sockaddr *)&any, sizeof(any)) == 0);
	use_and_close(bound);
	int sending = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_ROUTE);
	CHECK(sending < 0 || (fcntl(sending, F_GETFD) == FD_CLOEXEC &&
			      send(sending, &request, sizeof(request), 0) == sizeof(request)));
	use_and_close(sending);
}

/* A socket for datagrams gets an address by itself if it has SO_PASSCRED. */
static void use_datagrams(int at)
{
	const int on = 1;
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	socklen_t size = sizeof(name.sun_family);
	int to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), from = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	(void)at;
	use_and_close(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	CHECK(bind(to, (struct sockaddr *)&name, size) == 0 && (size = sizeof(name)) &&
	      getsockname(to, (struct sockaddr *)&name, &size) == 0);
	CHECK(fcntl(from, F_GETFD) == FD_CLOEXEC && sendto(from, "x", 1, 0, (struct sockaddr *)&name, size) == 1 &&
	      setsockopt(from, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0);
	CHECK(sendto(from, "x", 1, 0, (struct sockaddr *)&name, size) == 1 && fcntl(from, F_GETFD) == FD_CLOEXEC);
	CHECK(close(from) == 0 && close(to) == 0);
}

static void use_many_sockets(int at)
{
	(void)at;
	for (int family = 0; family < 46; family++)
		use_and_close(family == AF_INET || family == AF_UNIX || family == AF_INET6
				      ? -1
				      : socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
	use_and_close(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
	use_and_close(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 262 /* IPPROTO_MPTCP */));
	use_and_close(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP));
	use_and_close(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDPLITE));
	use_and_close(socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6));
	use_and_close(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_TCP));
	/* What the kernel shows of a raw socket's peer is only an address. */
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(1025), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_UDP);
	CHECK(raw < 0 || (connect(raw, (struct sockaddr *)&to, sizeof(to)) == 0 && fcntl(raw, F_GETFD) == FD_CLOEXEC));
	to.sin_family = AF_UNSPEC;
	CHECK(raw < 0 || connect(raw, (struct sockaddr *)&to, sizeof(to)) == 0);
	use_and_close(raw);
}

/* "kind NAME N": the descriptors that this name stands for, N times. */
static void test_kind(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*use)(int at);
	} kinds[] = {{"eventfd", use_eventfd},
		     {"pair", use_pair},
		     {"inherited-pair", use_inherited_pair},
		     {"accepted", use_accepted},
		     {"range", use_range},
		     {"namespace", use_namespace},
		     {"child", use_in_child},
		     {"signalfd", use_signalfd},
		     {"signals", change_signalfd},
		     {"pidfd", use_pidfd},
		     {"ended", use_pidfd_of_child},
		     {"netlink", use_netlink},
		     {"datagram", use_datagrams},
		     {"socket", use_many_sockets}};
	const struct sockaddr_un any = {.sun_family = AF_UNIX};
	const long n = argc > 1 ? atol(argv[1]) : 3;
	int at = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* The kernel chooses an abstract address. */
	CHECK(at >= 0 && bind(at, (const struct sockaddr *)&any, sizeof(any.sun_family)) == 0 && listen(at, 5) == 0);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (long i = 0; i < n && (argc == 0 || strcmp(argv[0], kinds[k].name) == 0); i++)
			kinds[k].use(at);
	puts("all were used");
}

/* Each child uses and closes descriptors that it has inherited. */
static void test_inherited(int argc, char **argv)
{
	long n = argc > 0 ? atol(argv[0]) : 3;
	int fds[10], deleted = open_here("deleted");
	for (int i = 0; i < 10; i++)
		fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
	CHECK(unlink("deleted") == 0);
	for (long k = 0; k < n; k++) {
		pid_t pid = fork();
		if (pid == 0) {
			for (int i = 0; i < 9; i++)
				CHECK(fds[i] >= 0 && close(fds[i]) == 0);
			CHECK(dup2(fds[9], fds[0]) == fds[0] && write(fds[0], "c", 1) == 1 && close(fds[9]) == 0);
			CHECK(write(deleted, "d", 1) == 1 && close(deleted) == 0 && chdir("/") == 0);
			_exit(0);
		}
		await(pid);
	}
	CHECK(write(deleted, "p", 1) == 1 && close(deleted) == 0 && close(fds[0]) == 0);
	puts("all were inherited");
}

/* Pipes by which two processes or threads take turns. */
struct turns {
	int go[2], done[2];
	long n;
};

/* Gives a file and a directory, which the other side uses, new names at each turn. */
static void *rename_in_turn(void *arg)
{
	const struct turns *t = arg;
	char from[2][32], to[2][32];
	for (long i = 1; i <= t->n; i++) {
		for (int k = 0; k < 2; k++) {
			snprintf(from[k], sizeof(from[k]), "/%s%ld", k ? "d" : "f", i - 1);
			snprintf(to[k], sizeof(to[k]), "/%s%ld", k ? "d" : "f", i);
		}
		take(t->go[0]);
		CHECK(renameat(here, from[0] + 1, here, to[0] + 1) == 0 &&
		      renameat(here, from[1] + 1, here, to[1] + 1) == 0);
		give(t->done[1]);
	}
	take(t->go[0]);
	CHECK(unlinkat(here, to[0] + 1, 0) == 0 && unlinkat(here, to[1] + 1, AT_REMOVEDIR) == 0);
	give(t->done[1]);
	return NULL;
}

static void use_renamed(int fd)
{
	struct pollfd waits = {.fd = fd, .events = POLLIN};
	fd_set set;
	int other = dup(fd);
	FD_ZERO(&set);
	FD_SET(fd, &set);
	CHECK(other >= 0 && write(fd, "x", 1) == 1 && poll(&waits, 1, 0) == 1 &&
	      select(fd + 1, &set, NULL, NULL, NULL) == 1);
	CHECK_FAILS(openat(AT_FDCWD, "none", O_RDONLY), ENOENT);
	CHECK(fd == dup2(other, fd) && close(other) == 0);
}

/* "renamed N", or "renamed N thread": another process, or thread, renames and removes what the first one has open. */
static void test_renamed(int argc, char **argv)
{
	struct turns t = {.n = argc > 0 ? atol(argv[0]) : 3};
	pthread_t thread;
	pid_t pid = 1;
	here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = open_here("f0");
	CHECK(here >= 0 && pipe2(t.go, O_CLOEXEC) == 0 && pipe2(t.done, O_CLOEXEC) == 0 && mkdir("d0", 0700) == 0 &&
	      chdir("d0") == 0);
	if (argc > 1)
		CHECK(pthread_create(&thread, NULL, rename_in_turn, &t) == 0);
	else if ((pid = fork()) == 0) {
		rename_in_turn(&t);
		_exit(0);
	}
	for (long i = 0; i <= t.n; i++) {
		give(t.go[1]);
		take(t.done[0]);
		use_renamed(fd);
	}
	CHECK(argc > 1 ? pthread_join(thread, NULL) == 0 : waitpid(pid, NULL, 0) == pid);
	CHECK(close(fd) == 0);
	puts("all were renamed");
}

static long ticks, recent_ticks; /* all of them, and those since the calls have made progress */
static struct itimerval tick = {{0, 500}, {0, 500}};

static void on_tick(int sig)
{
	int err = errno;
	(void)sig;
	__atomic_add_fetch(&ticks, 1, __ATOMIC_RELAXED);
	if (__atomic_add_fetch(&recent_ticks, 1, __ATOMIC_RELAXED) > 200)
		recent_ticks = leave_time(&tick, true);
	CHECK(syscall(SYS_chdir, ".") == 0);
	errno = err;
}

static void *rename_all(void *arg)
{
	static const struct open_how how = {.flags = O_RDWR | O_CREAT, .mode = 0600};
	const char *name = arg;
	int other = 100 + name[0];
	for (int i = 0; i < 300; i++) {
		int fd = (int)syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof how);
		CHECK(fd >= 0);
		CHECK(syscall(SYS_dup3, fd, other, O_CLOEXEC) == other);
		CHECK(syscall(SYS_fchdir, here) == 0);
		CHECK(close(fd) == 0 && write(other, name, 1) == 1 && close(other) == 0);
		CHECK_FAILS(write(other, name, 1), EBADF);
		recent_ticks = 0;
	}
	return NULL;
}

/* Signals with a handler that changes names, too, arrive at any point of the calls. */
static void test_storm(int argc, char **argv)
{
	static char names[][2] = {"a", "b", "c"};
	struct sigaction sa = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	const struct itimerval none = {0};
	pthread_t t[2];
	(void)argc;
	(void)argv;
	here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(here >= 0 && sigaction(SIGALRM, &sa, NULL) == 0 && setitimer(ITIMER_REAL, &tick, NULL) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&t[i], NULL, rename_all, names[i]) == 0);
	rename_all(names[2]);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	CHECK(setitimer(ITIMER_REAL, &none, NULL) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(unlink(names[i]) == 0);
	calls("openat2", 900, 0);
	calls("dup3", 900, 0);
	calls("fchdir", 900, 0);
	calls("chdir", ticks, 0);
}

static const struct test tests[] = {
	{"each", test_each},   {"apart", test_apart},         {"root", test_root},
	{"many", test_many},   {"inherited", test_inherited}, {"renamed", test_renamed},
	{"storm", test_storm}, {"rights", test_rights},       {"kind", test_kind},
};
TEST_MAIN(tests)
