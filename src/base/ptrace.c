/* SPDX-License-Identifier: MIT */
#include "base/ptrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PTRACE_SET_SUD 0x4210 /* from linux/ptrace.h, which conflicts with sys/ptrace.h */

/* Global like errno: requests are made in many places, and the next wait must learn that one was refused. */
static struct {
	int error;
	pid_t tid;
} refusal;

int ptrace_refused(pid_t *tid)
{
	int error = refusal.error;
	*tid = refusal.tid;
	refusal.error = 0;
	return error;
}

/* True for requests that the kernel may refuse because of the task's state, with EIO, EINVAL or EFAULT. */
static bool may_be_impossible(int request)
{
	static const int those[] = {
		PTRACE_PEEKTEXT,   PTRACE_POKETEXT,    PTRACE_PEEKUSER,         PTRACE_POKEUSER,
		PTRACE_GETREGSET,  PTRACE_SETREGSET,   PTRACE_GETSIGINFO,       PTRACE_SETSIGINFO,
		PTRACE_SETOPTIONS, PTRACE_PEEKSIGINFO, PTRACE_GET_SYSCALL_INFO, PTRACE_SET_SUD,
	};
	for (size_t i = 0; i < sizeof(those) / sizeof(*those); i++)
		if (those[i] == request)
			return true;
	return false;
}

/* Returns the letter of the task's state in /proc/TID/stat (proc_pid_stat(5)), or 0 if there is no such task. */
static char state_of(pid_t tid)
{
	char path[40], text[256];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	const char *name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' ? name_end[2] : '\0';
}

/* Returns true if sctrace traces the task, the task is alive, and wait4(2) has nothing more to report about it. */
static bool has_no_news(pid_t tid)
{
	siginfo_t news = {0};
	return waitid(P_PID, (id_t)tid, &news, WEXITED | WSTOPPED | WNOWAIT | WNOHANG | __WALL) == 0 && !news.si_pid;
}

/* A killed task leaves its ptrace-stop within LEAVE_TRIES * LEAVE_NS nanoseconds (20 ms). */
#define LEAVE_TRIES 20
#define LEAVE_NS    1000000

/*
 * The kernel reports ESRCH for a task that was killed, or that is not stopped. Returns true if neither is the case: the
 * task is in a ptrace-stop that was already reported.
 */
static bool stands_still(pid_t tid)
{
	for (int i = 0; i < LEAVE_TRIES; i++) {
		if (!has_no_news(tid) || state_of(tid) != 't')
			return false;
		nanosleep(&(struct timespec){.tv_nsec = LEAVE_NS}, NULL);
	}
	return true;
}

static bool is_refused(int request, pid_t tid, int error)
{
	if (error == EIO || error == EINVAL || error == EFAULT)
		return !may_be_impossible(request);
	/* PTRACE_INTERRUPT does not require a stopped task (ptrace_check_attach() in kernel/ptrace.c). */
	if (error == ESRCH && request == PTRACE_INTERRUPT)
		return has_no_news(tid);
	/* sctrace also accesses memory through tasks that run or are in a group-stop; ESRCH is then correct. */
	if (error == ESRCH)
		return request != PTRACE_PEEKTEXT && request != PTRACE_POKETEXT && stands_still(tid);
	return true;
}

long ptrace_again(int request, pid_t tid, uintptr_t addr, uintptr_t data)
{
	for (int tries = 3;;) {
		long r = ptrace(request, tid, addr, data);
		if (r != -1 || errno == 0)
			return r;
		int error = errno;
		bool refused = is_refused(request, tid, error);
		errno = error;
		if (!refused)
			return r;
		if (--tries > 0)
			continue;
		if (!refusal.error) {
			refusal.error = error;
			refusal.tid = tid;
		}
		if (error == ESRCH)
			errno = EPERM; /* the task exists: ESRCH would be wrong */
		return r;
	}
}
