/*
 * Makes calls of which each needs another description of its memory (decode/memory.c), 20 times each: with extended
 * attributes, groups, signal information, options of prctl(2), and arguments that the kernel does not read.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static void repeat(int epoll, const char *tty)
{
	char value[32];
	gid_t groups[64];
	siginfo_t info;
	sigset_t set;
	struct epoll_event event = {.events = EPOLLIN};
	const struct timespec now = {0, 0};
	uint64_t action[4] = {0};
	lgetxattr(".", "user.sctrace-none", value, sizeof(value));
	getgroups(64, groups);
	waitid(P_ALL, 0, &info, WEXITED | WNOHANG);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, &info, &now);
	prctl(PR_CAPBSET_READ, 0, 0, 0, 0);
	prctl(PR_SET_NAME, "described", 0, 0, 0);
	prctl(PR_GET_NAME, value, 0, 0, 0);
	epoll_ctl(epoll, EPOLL_CTL_DEL, 0, &event);
	syscall(SYS_rt_sigaction, SIGKILL, action, NULL, 8);
	close(open(tty, O_RDONLY | O_NONBLOCK));
}

int main(void)
{
	setsid(); /* without a terminal, opening /dev/tty fails with ENXIO */
	int epoll = epoll_create1(0);
	for (int i = 0; i < 20; i++)
		repeat(epoll, "/dev/tty");
	return 0;
}
