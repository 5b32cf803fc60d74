/* SPDX-License-Identifier: MIT */
/* Tracers inside a traced program: each request succeeds or fails with EPERM, and nothing hangs. */
#include "e2e.h"

#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <ucontext.h>

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

#define DISPATCHED 2110 /* the result of a call that the handler has seen */

static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	mcontext_t *m = &((ucontext_t *)context)->uc_mcontext;
#ifdef __x86_64__
	m->gregs[REG_RAX] = DISPATCHED;
#else
	m->regs[0] = DISPATCHED;
#endif
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
		CHECK(syscall(SYS_getppid) == DISPATCHED);
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

/*
 * The same for each byte of standard input. `kept`: dispatch is never switched off. `child`: a child process does it.
 * Before and after, sctrace attaches and detaches.
 */
static void test_dispatch_attached(int argc, char **argv)
{
	const bool kept = argc > 0 && strcmp(argv[0], "kept") == 0, child = argc > 0 && strcmp(argv[0], "child") == 0;
	struct sigaction act = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};
	char byte;
	CHECK(sigaction(SIGSYS, &act, NULL) == 0);
	if (kept)
		CHECK(prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector) == 0);
	CHECK(write(1, "ready\n", 6) == 6);
	while (read(0, &byte, 1) == 1) {
		pid_t pid = child ? fork() : 0;
		if (pid == 0) {
			if (!kept)
				CHECK(prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector) == 0);
			for (int i = 0; i < 10; i++) {
				selector = 1;
				CHECK(syscall(SYS_getppid) == DISPATCHED && selector == 0);
			}
			if (!kept)
				CHECK(prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0) == 0);
			if (child)
				_exit(0);
		} else
			CHECK(reap(pid) == 0);
		CHECK(write(1, "checked\n", 8) == 8);
	}
}

static const struct test tests[] = {
	{"ptrace", test_ptrace},
	{"dispatch-others", test_dispatch_others},
	{"dispatch-attached", test_dispatch_attached},
	{"dispatch", test_dispatch},
};
TEST_MAIN(tests)
