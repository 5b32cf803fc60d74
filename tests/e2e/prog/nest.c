/* Tracers inside a traced program: each request succeeds or fails with EPERM, and nothing hangs. */
#include "e2e.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

/* Requests of ptrace(2) for a child work, or are refused because the child is already traced. */
static void test_ptrace(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	pid_t pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1)
			_exit(errno == EPERM ? 40 : 1);
		raise(SIGSTOP);
		_exit(40);
	}
	int status;
	CHECK(waitpid(pid, &status, WUNTRACED) == pid);
	if (WIFSTOPPED(status)) {
		CHECK(WSTOPSIG(status) == SIGSTOP);
		CHECK(ptrace(PTRACE_CONT, pid, NULL, NULL) == 0);
		CHECK(waitpid(pid, &status, 0) == pid);
	}
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 40);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(1);
	}
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) == -1)
		CHECK(ptrace(PTRACE_SEIZE, pid, NULL, NULL) == -1 && errno == EPERM);
	CHECK(kill(pid, SIGKILL) == 0);
	CHECK(WTERMSIG(reap(pid)) == SIGKILL);
	puts("tried");
}

static volatile unsigned char selector;
static volatile int dispatched;

static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	selector = 0;
	CHECK(info->si_code == 2 /* SYS_USER_DISPATCH */);
	dispatched++;
}

/* The program uses Syscall User Dispatch for its own calls, as emulators do. */
static void test_dispatch(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	struct sigaction act = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};
	CHECK(sigaction(SIGSYS, &act, NULL) == 0);
	for (int i = 0; i < 20; i++)
		syscall(SYS_getpgid, 0);
	CHECK(prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector) == 0);
	for (int i = 0; i < 50; i++) {
		selector = 1;
		syscall(SYS_getppid);
		CHECK(dispatched == i + 1 && selector == 0);
		syscall(SYS_getpgid, 0);
	}
	CHECK(prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0) == 0);
	for (int i = 0; i < 20; i++)
		syscall(SYS_getpgid, 0);
	calls("getpgid", 90, 0);
}

static const struct test tests[] = {
	{"ptrace", test_ptrace},
	{"dispatch", test_dispatch},
};
TEST_MAIN(tests)
