/* Calls that change what descriptors refer to, and the current directory. With -y, each is shown with the right names. */
#include "e2e.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>

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

static long ticks;
static int here;

static void on_tick(int sig)
{
	int err = errno;
	(void)sig;
	__atomic_add_fetch(&ticks, 1, __ATOMIC_RELAXED);
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
	}
	return NULL;
}

/* Signals with a handler that changes names, too, arrive at any point of the calls. */
static void test_storm(int argc, char **argv)
{
	static char names[][2] = {"a", "b", "c"};
	struct sigaction sa = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct itimerval tick = {{0, 500}, {0, 500}}, none = {0};
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
	{"each", test_each},
	{"storm", test_storm},
};
TEST_MAIN(tests)
