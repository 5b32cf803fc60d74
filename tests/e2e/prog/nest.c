/* SPDX-License-Identifier: MIT */
/* Tracers inside a traced program: each request succeeds or fails with EPERM, and nothing hangs. */
#include "e2e.h"

#include <link.h>
#include <pthread.h>
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

/* The first and the last address of the C library's code. */
static int note_libc(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	uintptr_t *code = arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = at + info->dlpi_phdr[i].p_memsz;
		if (info->dlpi_phdr[i].p_flags & PF_X && (uintptr_t)getppid >= at && (uintptr_t)getppid < end) {
			code[0] = at;
			code[1] = end;
		}
	}
	return 0;
}

static void *wait_for_end(void *lock)
{
	pthread_mutex_lock(lock);
	return NULL;
}

/* The calls of the C library are exempt from dispatch, also those that were made before. n other threads exist. */
static void test_dispatch_others(int argc, char **argv)
{
	long n = number(argc, argv, 0, 0);
	pthread_t t;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the threads may begin only when the program ends */
	uintptr_t code[2] = {0, 0};
	struct sigaction act = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};
	pid_t parent = getppid();
	CHECK(sigaction(SIGSYS, &act, NULL) == 0);
	pthread_mutex_lock(&lock);
	for (long i = 0; i < n; i++)
		CHECK(pthread_create(&t, NULL, wait_for_end, &lock) == 0);
	dl_iterate_phdr(note_libc, code);
	CHECK(code[0] != 0);
	for (int i = 0; i < 20; i++)
		CHECK(getppid() == parent);
	CHECK(prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, code[0], code[1] - code[0], &selector) == 0);
	selector = 1;
	for (int i = 0; i < 20; i++)
		CHECK(getppid() == parent);
	selector = 0;
	CHECK(dispatched == 0);
	CHECK(prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0) == 0);
	calls("getppid", 41, 0);
}

static const struct test tests[] = {
	{"ptrace", test_ptrace},
	{"dispatch-others", test_dispatch_others},
	{"dispatch", test_dispatch},
};
TEST_MAIN(tests)
