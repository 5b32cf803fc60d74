/* SPDX-License-Identifier: MIT */
/*
 * Used only in builds for coverage. libgcov writes its counts in exit(3). The functions here, for which meson.build
 * replaces those of the C library, also write them when a process ends by _exit(2) or by a signal that it raises.
 * Before sctrace kills a process that it forked, it sends an otherwise unused signal, at which that process writes its
 * counts. When calls of sctrace are made to fail (e2e/prog/lib/fail.c), the calls of libgcov and of these functions do
 * not fail.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gcov.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000, PATIENCE_MS = 500 };

void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));
int __real_raise(int sig);
int __wrap_raise(int sig);
int __real_kill(pid_t pid, int sig);
int __wrap_kill(pid_t pid, int sig);
int __real___gcov_execve(const char *path, char *const argv[], char *const env[]);
int __wrap___gcov_execve(const char *path, char *const argv[], char *const env[]);

/* libgcov crashes if an allocation fails. This destructor runs before those of libgcov, which have a lower priority. */
__attribute__((destructor)) static void end_faults(void)
{
	void (*end)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "fail_no_more");
	if (end != NULL)
		end();
}

static void dump(void)
{
	end_faults();
	__gcov_dump();
}

void __wrap__exit(int status)
{
	dump();
	__gcov_reset(); /* a child of vfork(2) shares the counts with its parent, which continues to count */
	__real__exit(status);
}

int __wrap_raise(int sig)
{
	struct sigaction act = {0};
	if (sigaction(sig, NULL, &act) == 0 && act.sa_handler == SIG_DFL) {
		dump();
		__gcov_reset();
	}
	return __real_raise(sig);
}

static void on_last_words(int sig)
{
	(void)sig;
	dump();
	__real_kill(getpid(), SIGKILL);
}

__attribute__((constructor)) static void listen_for_last_words(void)
{
	signal(SIGRTMAX, on_last_words); /* not sigaction(2), because the tests count the calls of that function */
}

/* A traced process would stop at the signal. */
static bool is_traced(pid_t pid)
{
	char path[32], text[4096] = "";
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	return n <= 0 || strstr(text, "TracerPid:\t0\n") == NULL;
}

static bool runs_our_program(pid_t pid)
{
	char path[32], ours[PATH_MAX] = "", theirs[PATH_MAX] = "";
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return readlink("/proc/self/exe", ours, sizeof(ours) - 1) > 0 &&
	       readlink(path, theirs, sizeof(theirs) - 1) > 0 && strcmp(ours, theirs) == 0;
}

/* True if `pid` is a child of this process that has not ended yet. */
static bool lives(pid_t pid)
{
	siginfo_t si = {0};
	return waitid(P_PID, (id_t)pid, &si, WEXITED | WNOHANG | WNOWAIT) == 0 && si.si_pid == 0;
}

int __wrap_kill(pid_t pid, int sig)
{
	int err = errno;
	pid_t first = pid < -1 ? -pid : pid; /* the process, or the leader of the process group */
	if (sig == SIGKILL && first > 0 && lives(first) && runs_our_program(first) && !is_traced(first)) {
		__real_kill(first, SIGRTMAX);
		for (int ms = 0; ms < PATIENCE_MS && lives(first); ms++)
			nanosleep(&(struct timespec){.tv_nsec = MS}, NULL);
	}
	errno = err;
	return __real_kill(pid, sig);
}

/*
 * gcc replaces execve(2) by this function. A traced process does not write its counts: if it stopped while it held the
 * locks of the files, its tracer could not write them.
 */
int __wrap___gcov_execve(const char *path, char *const argv[], char *const env[])
{
	return is_traced(getpid()) ? (int)syscall(SYS_execve, path, argv, env) : __real___gcov_execve(path, argv, env);
}
