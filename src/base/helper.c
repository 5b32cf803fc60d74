/* SPDX-License-Identifier: MIT */
#include "base/helper.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t helper_fork(void)
{
	const pid_t parent = getpid();
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent) /* the parent exited before prctl() was called */
			_exit(0);
		syscall(SYS_close_range, 0, ~0U, 0);
	}
	return pid;
}

/*
 * Runs in the memory of its parent, also with its thread-local variables. Therefore it calls no function of the C library
 * that could write to them.
 */
static int idle(void *parent)
{
	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	while (syscall(SYS_getppid) == *(const pid_t *)parent)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
	return 0;
}

static pid_t start_sharing(void)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return -1;
	*(pid_t *)stack = getpid();
	return clone(idle, stack + size, CLONE_VM | CLONE_FILES | SIGCHLD, stack);
}

/* The helper stops itself. So a tracer of sctrace that does not follow it has already detached from it. */
static pid_t start_forked(void)
{
	int status;
	pid_t pid = helper_fork();
	if (pid == 0)
		for (;;)
			raise(SIGSTOP);
	while (pid > 0 && waitpid(pid, &status, WUNTRACED) < 0 && errno == EINTR)
		;
	return pid;
}

pid_t helper_seize(void)
{
	/* A tracer of sctrace may trace children that share sctrace's memory, but not others: the patch engine does. */
	static pid_t (*const starts[])(void) = {start_sharing, start_forked};
	int err = 0;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		pid_t pid = starts[i]();
		if (pid > 0 && ptrace(PTRACE_SEIZE, pid, NULL, (long)PTRACE_O_EXITKILL) == 0)
			return pid;
		err = errno;
		if (pid > 0)
			helper_kill(pid);
	}
	return -err;
}

void helper_kill(pid_t pid)
{
	int r = -1;
	for (int tries = 0; r < 0 && tries < 3; tries++)
		r = kill(pid, SIGKILL);
	while (r == 0 && waitpid(pid, NULL, __WALL) < 0)
		r = errno == EINTR ? 0 : -1;
}
