/* SPDX-License-Identifier: MIT */
/*
 * A library for LD_PRELOAD, which makes calls of one function of sctrace fail.
 * SCTRACE_FAIL=NAME:N[+][*][:ERRNO[:BYTES]] means the N-th call of NAME, counted from 1 (for calloc, of those that
 * request at least BYTES), and with + all later ones. The first failure is reported on descriptor 2. If ERRNO is 0,
 * read and write transfer half of the requested bytes. `wait` means waitpid, wait4 and waitid; `stop_usage` means waits
 * for stops together with resource usage, which are only reported and do not fail; `calibration` ends a child that
 * sctrace traces to measure its costs. `late_status` makes each stop of one task late: wait4
 * reports no stop until sctrace has tried to open /proc/PID/status, and this open fails. The library removes the
 * variables from the environment, so the traced program does not get them. Only calls of sctrace fail, not those of the
 * processes that it forks, except prctl, with which a child installs its filter. With *, calls of forked processes
 * fail, too, and each process counts its own calls.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char function[32];
static long at;
static int error = ENOMEM;
static size_t least;
static int for_good, in_children;
static atomic_long seen;
static pid_t owner;

/*
 * Found before sctrace starts: a helper that shares sctrace's memory calls syscall(3), and sctrace kills it. If this
 * helper held the lock of dlsym(3) at that moment, sctrace would wait for the lock forever.
 */
static long (*real_syscall)(long, ...);

__attribute__((constructor)) static void read_orders(void)
{
	real_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	const char *orders = getenv("SCTRACE_FAIL");
	if (orders != NULL && sscanf(orders, "%31[^:]:%ld", function, &at) == 2) {
		for_good = strchr(orders, '+') != NULL;
		in_children = strchr(orders, '*') != NULL;
		sscanf(orders, "%*[^:]:%*[^:]:%d:%zu", &error, &least);
	}
	unsetenv("SCTRACE_FAIL");
	unsetenv("LD_PRELOAD");
	owner = getpid();
}

/* After this call no function fails any more. ../../../coverage.c calls it at the end. */
void fail_no_more(void)
{
	at = 0;
}

/* `late_status`: how often a stop was withheld, and may the next stop be reported? */
static int withheld, opened;

/* sctrace looks whether a task has ended if it has waited for 1 ms. Withholds a stop for at most 10 ms. */
static int withholds(pid_t pid)
{
	if (!at || strcmp(function, "late_status") != 0 || opened || pid <= 0 || getpid() != owner || withheld == 50)
		return 0;
	withheld++;
	usleep(200);
	return 1;
}

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* Prints `text`. A child of sctrace without open files writes to sctrace's descriptor 2. */
static void report(const char *text)
{
	ssize_t (*write_to)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))real("write");
	char path[40];
	snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)owner);
	if (write_to(2, text, strlen(text)) < 0 && getpid() != owner) {
		int fd = ((int (*)(const char *, int, ...))real("open"))(path, O_WRONLY);
		write_to(fd, text, strlen(text));
	}
}

/* True if this call must fail; then sets errno. */
static int fails(const char *name)
{
	if (at == 0 || strcmp(name, function) != 0)
		return 0;
	if (!in_children && getpid() != owner && strcmp(name, "prctl") != 0)
		return 0;
	long n = atomic_fetch_add(&seen, 1) + 1;
	if (n < at || (n > at && !for_good))
		return 0;
	if (n == at)
		report("(failed as ordered)\n");
	errno = error;
	return 1;
}

/*
 * Fails. If every write fails, also in sctrace's children, a message of sctrace is lost as well. This is reported, so
 * that a test can tell such a message from one that sctrace did not try to print.
 */
static ssize_t refuse_write(int fd)
{
	if (fd == STDERR_FILENO && for_good && in_children)
		report("(message lost as ordered)\n");
	errno = error;
	return -1;
}

/* Defines the function `name` of the C library, whose calls count as calls of `plain`. */
#define ALIAS(type, name, plain, failure, params, args)                                                                \
	type name params;                                                                                              \
	type name params                                                                                               \
	{                                                                                                              \
		static type(*next) params;                                                                             \
		if (next == NULL)                                                                                      \
			next = (type(*) params)real(#name);                                                            \
		return fails(plain) ? (failure) : next args;                                                           \
	}

#define REPLACE(type, name, failure, params, args) ALIAS(type, name, #name, failure, params, args)

REPLACE(void *, malloc, NULL, (size_t n), (n))
REPLACE(void *, realloc, NULL, (void *p, size_t n), (p, n))
REPLACE(pid_t, fork, -1, (void), ())
REPLACE(ssize_t, read, error ? -1 : next(fd, p, (n + 1) / 2), (int fd, void *p, size_t n), (fd, p, n))
REPLACE(ssize_t, write, error ? refuse_write(fd) : next(fd, p, (n + 1) / 2), (int fd, const void *p, size_t n),
	(fd, p, n))
REPLACE(void *, mmap, MAP_FAILED, (void *a, size_t n, int prot, int flags, int fd, off_t o), (a, n, prot, flags, fd, o))
REPLACE(int, memfd_create, -1, (const char *name, unsigned flags), (name, flags))
REPLACE(int, pipe2, -1, (int fds[2], int flags), (fds, flags))
ALIAS(pid_t, waitpid, "wait", -1, (pid_t pid, int *status, int options), (pid, status, options))
ALIAS(int, waitid, "wait", -1, (idtype_t which, id_t id, siginfo_t *info, int options), (which, id, info, options))
REPLACE(FILE *, fopen, NULL, (const char *path, const char *mode), (path, mode))
REPLACE(char *, strdup, NULL, (const char *s), (s))
REPLACE(int, socketpair, -1, (int domain, int type, int protocol, int fds[2]), (domain, type, protocol, fds))
REPLACE(ssize_t, sendmsg, -1, (int fd, const struct msghdr *msg, int flags), (fd, msg, flags))
REPLACE(FILE *, fdopen, NULL, (int fd, const char *mode), (fd, mode))
REPLACE(DIR *, opendir, NULL, (const char *path), (path))
REPLACE(struct dirent64 *, readdir64, NULL, (DIR * dir), (dir))
REPLACE(int, fflush, EOF, (FILE * f), (f))
REPLACE(int, fclose, (next(f), EOF), (FILE * f), (f))
REPLACE(int, close, (next(fd), -1), (int fd), (fd))
REPLACE(int, setitimer, -1, (__itimer_which_t which, const struct itimerval *v, struct itimerval *old), (which, v, old))
REPLACE(int, sched_getaffinity, -1, (pid_t pid, size_t n, cpu_set_t *set), (pid, n, set))
REPLACE(int, sched_setaffinity, -1, (pid_t pid, size_t n, const cpu_set_t *set), (pid, n, set))
REPLACE(int, kill, -1, (pid_t pid, int sig), (pid, sig))
REPLACE(int, renameat, -1, (int from, const char *a, int to, const char *b), (from, a, to, b))
REPLACE(int, rename, -1, (const char *a, const char *b), (a, b))
REPLACE(int, munmap, -1, (void *p, size_t n), (p, n))
REPLACE(int, dup2, -1, (int from, int to), (from, to))
REPLACE(int, poll, -1, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms))
REPLACE(int, sigaction, -1, (int sig, const struct sigaction *act, struct sigaction *old), (sig, act, old))
REPLACE(ssize_t, pread64, -1, (int fd, void *p, size_t n, off64_t o), (fd, p, n, o))
REPLACE(ssize_t, pwrite64, -1, (int fd, const void *p, size_t n, off64_t o), (fd, p, n, o))
REPLACE(int, ftruncate64, -1, (int fd, off64_t o), (fd, o))
REPLACE(int, mkostemp64, -1, (char *path, int flags), (path, flags))
REPLACE(char *, mkdtemp, NULL, (char *path), (path))
REPLACE(int, unlink, -1, (const char *path), (path))
REPLACE(int, fsync, -1, (int fd), (fd))
REPLACE(int, fdatasync, -1, (int fd), (fd))
REPLACE(int, fputs, EOF, (const char *s, FILE *f), (s, f))
REPLACE(size_t, fwrite, 0, (const void *p, size_t size, size_t n, FILE *f), (p, size, n, f))
REPLACE(int, posix_spawn, errno,
	(pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
	 char *const argv[], char *const envp[]),
	(pid, path, actions, attr, argv, envp))
REPLACE(int, pthread_create, errno, (pthread_t * thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg),
	(thread, attr, start, arg))
REPLACE(int, sched_setscheduler, -1, (pid_t pid, int policy, const struct sched_param *param), (pid, policy, param))
REPLACE(int, setpgid, -1, (pid_t pid, pid_t group), (pid, group))
REPLACE(int, setrlimit64, -1, (__rlimit_resource_t what, const struct rlimit64 *limit), (what, limit))
REPLACE(int, sigprocmask, -1, (int how, const sigset_t *set, sigset_t *old), (how, set, old))
REPLACE(int, sigwaitinfo, -1, (const sigset_t *set, siginfo_t *info), (set, info))
REPLACE(int, clock_nanosleep, errno, (clockid_t id, int flags, const struct timespec *t, struct timespec *left),
	(id, flags, t, left))
REPLACE(int, nanosleep, -1, (const struct timespec *t, struct timespec *left), (t, left))
REPLACE(int, eventfd, -1, (unsigned n, int flags), (n, flags))
REPLACE(int, mq_send, -1, (mqd_t q, const char *p, size_t n, unsigned prio), (q, p, n, prio))
REPLACE(ssize_t, mq_receive, -1, (mqd_t q, char *p, size_t n, unsigned *prio), (q, p, n, prio))
REPLACE(int, sched_yield, -1, (void), ())
REPLACE(int, getrusage, -1, (__rusage_who_t who, struct rusage *use), (who, use))
/* Names to which the headers redirect the functions for large files. */
ALIAS(FILE *, fopen64, "fopen", NULL, (const char *path, const char *mode), (path, mode))
ALIAS(void *, mmap64, "mmap", MAP_FAILED, (void *a, size_t n, int prot, int flags, int fd, off64_t o),
      (a, n, prot, flags, fd, o))
ALIAS(ssize_t, __read_chk, "read", -1, (int fd, void *p, size_t n, size_t room), (fd, p, n, room))

/* Functions that have one more argument if they may create a file. */
#define OPEN(name, plain, params, args, last)                                                                          \
	int name params                                                                                                \
	{                                                                                                              \
		static int(*next) params;                                                                              \
		va_list list;                                                                                          \
		va_start(list, last);                                                                                  \
		mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(list, mode_t) : 0;                              \
		va_end(list);                                                                                          \
		if (next == NULL)                                                                                      \
			next = (int(*) params)real(#name);                                                             \
		if (withheld && strstr(path, "/status") && fails("late_status")) {                                     \
			opened = 1;                                                                                    \
			return -1;                                                                                     \
		}                                                                                                      \
		return fails(plain) ? -1 : next args;                                                                  \
	}

OPEN(open, "open", (const char *path, int flags, ...), (path, flags, mode), flags)
OPEN(open64, "open", (const char *path, int flags, ...), (path, flags, mode), flags)
OPEN(openat, "open", (int dir, const char *path, int flags, ...), (dir, path, flags, mode), flags)
OPEN(openat64, "open", (int dir, const char *path, int flags, ...), (dir, path, flags, mode), flags)

ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long n, const struct iovec *from, unsigned long m,
			 unsigned long flags)
{
	static ssize_t (*next)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
			       unsigned long);
	if (next == NULL)
		next = (ssize_t(*)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
				   unsigned long))real("process_vm_readv");
	/* A refused call does not say whether the task has ended, so sctrace opens /proc/PID/status. */
	if (withheld && !opened) {
		errno = EPERM;
		return -1;
	}
	return fails("process_vm_readv") ? -1 : next(pid, to, n, from, m, flags);
}

/* Calls without a function in the C library, identified by number. */
long syscall(long nr, ...)
{
	long a[6];
	va_list list;
	va_start(list, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	const char *name = nr == SYS_seccomp           ? "seccomp"
			   : nr == SYS_bpf             ? "bpf"
			   : nr == SYS_perf_event_open ? "perf_event_open"
			   : nr == SYS_pidfd_open      ? "pidfd_open"
			   : nr == SYS_futex           ? "futex"
						       : "syscall";
	/* sctrace's calibration children make this call. The failure ends the child. */
	if (nr == SYS_getppid && fails("calibration"))
		raise(SIGKILL);
	return fails(name) ? -1 : real_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int prctl(int option, ...)
{
	static int (*next)(int, ...);
	unsigned long a[4];
	va_list list;
	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	if (next == NULL)
		next = (int (*)(int, ...))real("prctl");
	return fails("prctl") ? -1 : next(option, a[0], a[1], a[2], a[3]);
}

long ptrace(enum __ptrace_request request, ...)
{
	static long (*next)(enum __ptrace_request, ...);
	va_list list;
	va_start(list, request);
	pid_t pid = va_arg(list, pid_t);
	void *addr = va_arg(list, void *), *data = va_arg(list, void *);
	va_end(list);
	if (next == NULL)
		next = (long (*)(enum __ptrace_request, ...))real("ptrace");
	/* Fails only this request, which kernels before 5.3 do not have. */
	if (request == PTRACE_GET_SYSCALL_INFO && fails("ptrace_info"))
		return -1;
	/* Fails the query of a signal-delivery-stop. The signal is still delivered. */
	if (request == PTRACE_GETSIGINFO && fails("ptrace_siginfo"))
		return -1;
	int hands_on = request == PTRACE_SYSCALL || request == PTRACE_CONT || request == PTRACE_DETACH;
	if (hands_on && data != NULL && fails("ptrace_deliver"))
		return -1;
	return fails("ptrace") ? -1 : next(request, pid, addr, data);
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *use)
{
	static pid_t (*next)(pid_t, int *, int, struct rusage *);
	if (next == NULL)
		next = (pid_t(*)(pid_t, int *, int, struct rusage *))real("wait4");
	if (fails("wait"))
		return -1;
	if (withholds(pid)) {
		errno = EINTR;
		return options & WNOHANG ? 0 : -1;
	}
	pid_t tid = next(pid, status, options, use);
	if (tid > 0)
		withheld = opened = 0;
	if (tid > 0 && use != NULL && WIFSTOPPED(*status))
		fails("stop_usage");
	return tid;
}

/*
 * dlsym() itself may call calloc: this call gets memory from a small buffer, because the real calloc is not known yet.
 */
void *calloc(size_t n, size_t size)
{
	static void *(*next)(size_t, size_t);
	static char store[4096];
	static size_t used;
	static int asking;
	if (next == NULL && !asking) {
		asking = 1;
		next = (void *(*)(size_t, size_t))real("calloc");
		asking = 0;
	}
	if (next == NULL) {
		void *p = store + used;
		used += (n * size + 15) & ~(size_t)15;
		return used <= sizeof store ? p : NULL;
	}
	return n * size >= least && fails("calloc") ? NULL : next(n, size);
}
