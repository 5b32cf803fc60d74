/* SPDX-License-Identifier: MIT */
/*
 * A signal handler makes calls, creates a child, and returns to the code after the call of the C library that unblocked its
 * signal. The child returns from the handler as well.  returns
 */
#include "e2e.h"

static pid_t child;

static void on_signal(int sig)
{
	(void)sig;
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	child = fork();
}

int main(void)
{
	struct sigaction act = {.sa_handler = on_signal};
	sigset_t one, before;
	sigemptyset(&one);
	sigaddset(&one, SIGALRM);
	CHECK(sigaction(SIGALRM, &act, NULL) == 0);
	for (int i = 0; i < 10; i++) {
		CHECK(sigprocmask(SIG_BLOCK, &one, &before) == 0);
		CHECK(raise(SIGALRM) == 0);
		CHECK(sigprocmask(SIG_SETMASK, &before, NULL) == 0);
		if (child == 0)
			_exit(5);
		reap_ok(child, 5);
	}
	puts("returned");
	return 0;
}
