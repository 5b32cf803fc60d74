/* SPDX-License-Identifier: MIT */
/*
 * Creates tasks, executes programs and exits in all possible ways. All calls are counted, and all work as without a
 * tracer.
 */
#include "e2e.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>

extern char **environ;

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

static void many_calls(int n)
{
	for (int i = 0; i < n; i++)
		syscall(SYS_getppid);
}

/* Creates children one after another, and children of children. */
static void test_fork(int argc, char **argv)
{
	int n = number(argc, argv, 0, 200);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			many_calls(5);
			if (i % 10 == 0) {
				pid_t child = fork();
				if (child == 0) {
					many_calls(3);
					_exit(1);
				}
				reap_ok(child, 1);
			}
			_exit(i % 100);
		}
		reap_ok(pid, i % 100);
	}
	calls("getppid", 5 * n + 3 * ((n + 9) / 10), 0);
}

/* The C libraries for x86 make the call of this name; those for aarch64 make clone(2). */
static void calls_vfork(long n)
{
#if defined(__x86_64__) || defined(__i386__)
	calls("vfork", n, 0);
#else
	(void)n;
#endif
}

static volatile int shared_by_vfork;

/* vfork: the child shares memory while the parent waits; a child of a child; a child that is killed. */
static void test_vfork(int argc, char **argv)
{
	int n = number(argc, argv, 0, 100);
	for (volatile int i = 0; i < n; i++) {
		pid_t pid = vfork();
		if (pid == 0) {
			shared_by_vfork = i + 1;
			many_calls(2);
			_exit(7);
		}
		CHECK(shared_by_vfork == i + 1);
		many_calls(1);
		reap_ok(pid, 7);
	}
	for (volatile int i = 0; i < 20; i++) {
		pid_t pid = vfork();
		if (pid == 0) {
			syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
			_exit(1);
		}
		int status = reap(pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		many_calls(1);
	}
	for (volatile int i = 0; i < 20; i++) {
		pid_t pid = vfork();
		if (pid == 0) {
			pid_t child = vfork();
			if (child == 0) {
				shared_by_vfork = 1000 + i;
				_exit(3);
			}
			int status = 0;
			syscall(SYS_wait4, child, &status, 0, NULL);
			_exit(WEXITSTATUS(status) + 1);
		}
		reap_ok(pid, 4);
		CHECK(shared_by_vfork == 1000 + i);
		many_calls(1);
	}
	for (volatile int i = 0; i < 20; i++) {
		pid_t pid = vfork();
		if (pid == 0) {
			execl("/proc/self/exe", "tasks", "calls", "10", (char *)NULL);
			_exit(1);
		}
		reap_ok(pid, 0);
	}
	calls("getppid", 3 * n + 20 + 20 + 20 * 10, 0);
	calls_vfork(n + 20 + 40 + 20);
}

/* The test that executed programs run. */
static void test_calls(int argc, char **argv)
{
	many_calls(number(argc, argv, 0, 1));
	exit(number(argc, argv, 1, 0));
}

/* Calls of posix_spawn(3), one of which fails. */
static void test_spawn(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 50; i++) {
		char *args[] = {"tasks", "calls", "10", "9", NULL};
		pid_t pid;
		CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, environ) == 0);
		reap_ok(pid, 9);
	}
	pid_t none;
	char *args[] = {"none", NULL};
	CHECK(posix_spawn(&none, "/nonexistent/program", NULL, NULL, args, environ) == ENOENT);
	calls("getppid", 500, 0);
}

static volatile int stop_signals;
static volatile int handled;

static void on_alarm(int sig)
{
	(void)sig;
	__atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
}

static volatile int reaped; /* by the thread that receives the signals */

/*
 * Sends signals to a thread that creates children: three for each child, so that it makes progress however slow it is.
 */
static void *send_signals(void *arg)
{
	int known = -1;
	while (!stop_signals) {
		usleep(50);
		for (int i = 0; known != reaped && i < 3; i++) {
			pthread_kill(*(pthread_t *)arg, SIGUSR1);
			usleep(300);
		}
		known = reaped;
	}
	return NULL;
}

/* Uses vfork, posix_spawn and fork in turn. */
static void *create_children(void *is_target)
{
	char *args[] = {"tasks", "calls", "10", "9", NULL};
	for (volatile int i = 0; i < 30; i++) {
		pid_t pid = vfork();
		if (pid == 0) {
			many_calls(2);
			_exit(7);
		}
		reap_ok(pid, 7);
		reaped += is_target != NULL;
		CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, environ) == 0);
		reap_ok(pid, 9);
		reaped += is_target != NULL;
		pid = fork();
		if (pid == 0) {
			many_calls(1);
			_exit(5);
		}
		reap_ok(pid, 5);
		reaped += is_target != NULL;
	}
	return is_target;
}

/* Several threads create children at the same time, while one of them receives signals. */
static void test_amid_signals(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	pthread_t t[3], sender, me = pthread_self();
	(void)argc;
	(void)argv;
	CHECK(sigaction(SIGUSR1, &sa, NULL) == 0);
	CHECK(pthread_create(&sender, NULL, send_signals, &me) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_create(&t[i], NULL, create_children, NULL) == 0);
	create_children(&me);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	stop_signals = 1;
	CHECK(pthread_join(sender, NULL) == 0 && handled > 0);
	calls("getppid", 4 * 30 * (2 + 10 + 1), 0);
	calls("exit_group", 4 * 30 * 3 + 1, 0);
	calls("execve", 4 * 30 + 1, 0);
	calls_vfork(4 * 30);
}

/* Runs shells by system(3). */
static void test_shell(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	CHECK(WEXITSTATUS(system("exit 5")) == 5);
	FILE *f = popen("echo hello", "r");
	char line[16];
	CHECK(f != NULL && fgets(line, sizeof line, f) != NULL && strcmp(line, "hello\n") == 0 && pclose(f) == 0);
	puts("the shell answers");
}

/* Calls clone(2) without the C library. The child runs `body` on `stack`, and exits when `body` returns. */
static pid_t bare_clone(int flags, int (*body)(void *), void *arg, char *stack, size_t size)
{
	return clone(body, stack + size, flags, arg);
}

static int clone_body(void *arg)
{
	many_calls(5);
	*(volatile int *)arg += 1;
	return 21;
}

/*
 * clone with rare flags: an untraced child, a child of another parent, a process that shares memory, with and without
 * an exit signal.
 */
static void test_clone(int argc, char **argv)
{
	static char stack[65536] __attribute__((aligned(16)));
	(void)argc;
	(void)argv;
	const int flags[] = {
		SIGCHLD,
		SIGCHLD | CLONE_UNTRACED,
		SIGCHLD | CLONE_VM,
		SIGCHLD | CLONE_VM | CLONE_FILES | CLONE_FS,
		SIGCHLD | CLONE_VM | CLONE_VFORK,
		SIGCHLD | CLONE_VFORK,
		SIGCHLD | CLONE_VM | CLONE_UNTRACED,
		0,
		SIGUSR2,
		SIGCHLD | CLONE_IO | CLONE_SYSVSEM,
		SIGCHLD | CLONE_VM | CLONE_SIGHAND | CLONE_FS | CLONE_FILES,
	};
	signal(SIGUSR2, SIG_IGN);
	for (int round = 0; round < 10; round++)
		for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
			volatile int counter = 0;
			pid_t pid = bare_clone(flags[i], clone_body, (void *)&counter, stack, sizeof stack);
			CHECK(pid > 0);
			reap_ok(pid, 21);
			CHECK(counter == ((flags[i] & CLONE_VM) != 0));
			many_calls(1);
		}
	calls("getppid", 10 * (long)(sizeof flags / sizeof *flags) * 6, 0);
}

/* A child created with CLONE_PARENT is a child of this process's parent. */
static void test_clone_parent(int argc, char **argv)
{
	static char stack[65536] __attribute__((aligned(16)));
	(void)argc;
	(void)argv;
	for (int round = 0; round < 30; round++) {
		int fds[2];
		volatile int counter = 0;
		CHECK(pipe(fds) == 0);
		pid_t pid = fork();
		if (pid == 0) {
			pid_t sibling =
				bare_clone(CLONE_PARENT | SIGCHLD, clone_body, (void *)&counter, stack, sizeof stack);
			CHECK(sibling > 0 && write(fds[1], &sibling, sizeof sibling) == sizeof sibling);
			int status;
			CHECK_FAILS(waitpid(sibling, &status, __WALL), ECHILD);
			_exit(2);
		}
		pid_t sibling;
		CHECK(read(fds[0], &sibling, sizeof sibling) == sizeof sibling);
		reap_ok(pid, 2);
		reap_ok(sibling, 21);
		close(fds[0]);
		close(fds[1]);
	}
	calls("getppid", 30 * 5, 0);
}

struct clone3_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

/* clone3 with a pidfd, then with a signal through the pidfd, then with an invalid size. */
static void test_clone3(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int round = 0; round < 30; round++) {
		int fd = -1;
		struct clone3_args args = {.flags = CLONE_PIDFD, .pidfd = (uintptr_t)&fd, .exit_signal = SIGCHLD};
		pid_t pid = syscall(SYS_clone3, &args, sizeof args);
		if (pid == 0) {
			many_calls(3);
			_exit(8);
		}
		CHECK(pid > 0 && fd >= 0);
		siginfo_t info;
		CHECK(waitid(3 /* P_PIDFD */, fd, &info, WEXITED) == 0 && info.si_status == 8);
		close(fd);
	}
	CHECK_FAILS(syscall(SYS_clone3, NULL, 3), EINVAL);
	struct clone3_args odd = {.flags = CLONE_THREAD};
	CHECK_FAILS(syscall(SYS_clone3, &odd, sizeof odd), EINVAL);
	calls("getppid", 90, 0);
	calls("clone3", 32, 2);
}

static void *exec_from_thread(void *arg)
{
	many_calls(7);
	execl("/proc/thread-self/exe", "tasks", "calls", "11", (char *)arg, (char *)NULL);
	CHECK(!"exec");
	return NULL;
}

static void *wait_forever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void *spin_forever(void *arg)
{
	for (;;)
		syscall(SYS_getpgid, 0);
	return arg;
}

/* execve by a thread that is not the leader, while the others are blocked or busy. */
static void test_exec_thread(int argc, char **argv)
{
	int n = number(argc, argv, 0, 20);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			pthread_t t;
			for (int k = 0; k < 5; k++)
				CHECK(pthread_create(&t, NULL, k % 2 ? wait_forever : spin_forever, NULL) == 0);
			CHECK(pthread_create(&t, NULL, exec_from_thread, "13") == 0);
			wait_forever(NULL);
		}
		reap_ok(pid, 13);
	}
	calls("getppid", n * 18, 0);
	calls("execve", n + 1, 0);
}

/* execve by a thread after the leader of its group has ended and is a zombie. */
static void test_exec_zombie(int argc, char **argv)
{
	int n = number(argc, argv, 0, 20);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			pthread_t t;
			CHECK(pthread_create(&t, NULL, exec_from_thread, "14") == 0);
			pthread_exit(NULL);
		}
		reap_ok(pid, 14);
	}
	calls("getppid", n * 18, 0);
}

static void *outlive(void *arg)
{
	while (task_state(getpid()) != 'Z')
		sleep_us(500);
	many_calls(100);
	_exit((int)(intptr_t)arg);
}

/* The leader ends first; another thread continues and ends the process. */
static void test_leader_first(int argc, char **argv)
{
	int n = number(argc, argv, 0, 20);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			pthread_t t;
			CHECK(pthread_create(&t, NULL, outlive, (void *)(intptr_t)(30 + i)) == 0);
			syscall(SYS_exit, 1);
		}
		reap_ok(pid, 30 + i);
	}
	calls("getppid", n * 100, 0);
}

/* An execve that fails changes nothing, whatever the reason is. */
static void test_exec_fails(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	char *args[] = {"x", NULL}, file[] = "not-a-program";
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	CHECK(fd >= 0 && write(fd, "\177ELFgarbage", 11) == 11);
	for (int i = 0; i < 20; i++) {
		CHECK_FAILS(execve("/nonexistent", args, environ), ENOENT);
		CHECK_FAILS(execve("/etc/passwd", args, environ), EACCES);
		CHECK_FAILS(execve("/", args, environ), EACCES);
		CHECK_FAILS(execve(file, args, environ), ETXTBSY);
		CHECK_FAILS(syscall(SYS_execve, (char *)8, args, environ), EFAULT);
		/* Kernels differ in which argument they check first. */
		CHECK(syscall(SYS_execve, file + 3, (char **)8, environ) == -1 && (errno == ENOENT || errno == EFAULT));
		many_calls(1);
	}
	close(fd);
	CHECK_FAILS(execve(file, args, environ), ENOEXEC);
	CHECK(unlink(file) == 0);
	calls("getppid", 20, 0);
	calls("execve", 1 + 121, 121);
}

/* Each program in a chain executes the next one. */
static void test_exec_chain(int argc, char **argv)
{
	int n = number(argc, argv, 0, 50);
	char next[16];
	many_calls(4);
	if (n == 0)
		return;
	snprintf(next, sizeof next, "%d", n - 1);
	execl("/proc/self/exe", "tasks", "exec_chain", next, (char *)NULL);
	CHECK(!"exec");
}

/* Kills processes at random moments, while they make calls, fork and execute programs. */
static void test_kills(int argc, char **argv)
{
	int n = number(argc, argv, 0, 230);
	unsigned seed = 1;
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			setpgid(0, 0);
			if (i % 4 == 1) {
				pthread_t t;
				pthread_create(&t, NULL, spin_forever, NULL);
			}
			for (;;) {
				many_calls(20);
				if (i % 4 == 2 && fork() == 0)
					_exit(0);
				if (i % 4 == 3)
					execl("/proc/self/exe", "tasks", "spin", (char *)NULL);
			}
		}
		setpgid(pid, pid);
		seed = seed * 1103515245 + 12345;
		sleep_us(seed / 65536 % 4000);
		CHECK(kill(-pid, SIGKILL) == 0);
		int status = reap(pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	puts("all killed");
}

static void test_spin(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (;;)
		many_calls(100);
}

/* Forks twice, as daemons do. The grandchild works after the first process has exited. */
static void test_daemon(int argc, char **argv)
{
	int ms = number(argc, argv, 0, 150), fds[2];
	CHECK(pipe(fds) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		CHECK(setsid() >= 0);
		if (fork() != 0)
			_exit(0);
		char c;
		close(fds[1]);
		CHECK(read(fds[0], &c, 1) == 0); /* the first process has exited */
		sleep_us(ms * 1000L);
		many_calls(1000);
		int fd = open(argc > 1 ? argv[1] : "daemon-was-here", O_WRONLY | O_CREAT | O_TRUNC, 0644);
		CHECK(fd >= 0 && write(fd, "done\n", 5) == 5);
		_exit(0);
	}
	reap_ok(pid, 0);
	close(fds[0]);
	_exit(3);
}

/* Children of a program that is traced without -f run normally and are not counted. */
static void test_unfollowed(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 1000; i++)
			CHECK(syscall(SYS_getppid) > 0 && syscall(SYS_getpgid, 0) > 0);
		execl("/proc/self/exe", "tasks", "calls", "1000", "17", (char *)NULL);
		_exit(1);
	}
	many_calls(10);
	reap_ok(pid, 17);
	pid = vfork();
	if (pid == 0) {
		many_calls(10);
		execl("/proc/self/exe", "tasks", "calls", "1000", "18", (char *)NULL);
		_exit(1);
	}
	many_calls(10);
	reap_ok(pid, 18);
	CHECK(WEXITSTATUS(system("/bin/true && exec /bin/sh -c 'exit 5'")) == 5);
	many_calls(10);
	calls("getppid", 30, 0);
}

/* A subreaper becomes the parent of orphans, and a child receives the signal for its parent's exit. */
static void test_orphans(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	CHECK(prctl(36 /* PR_SET_CHILD_SUBREAPER */, 1, 0, 0, 0) == 0);
	for (int i = 0; i < 20; i++) {
		int fds[2];
		pid_t orphan, pid;
		CHECK(pipe(fds) == 0);
		pid = fork();
		if (pid == 0) {
			orphan = fork();
			if (orphan == 0) {
				CHECK(prctl(PR_SET_PDEATHSIG, SIGUSR1) == 0);
				CHECK(write(fds[1], "x", 1) == 1);
				pause();
				_exit(1);
			}
			char c;
			CHECK(read(fds[0], &c, 1) == 1);
			CHECK(write(fds[1], &orphan, sizeof orphan) == sizeof orphan);
			_exit(0);
		}
		reap_ok(pid, 0);
		CHECK(read(fds[0], &orphan, sizeof orphan) == sizeof orphan);
		int status = reap(orphan);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
		close(fds[0]);
		close(fds[1]);
	}
	puts("orphans reaped");
}

static const struct test tests[] = {
	{"fork", test_fork},
	{"vfork", test_vfork},
	{"calls", test_calls},
	{"spawn", test_spawn},
	{"amid_signals", test_amid_signals},
	{"shell", test_shell},
	{"clone", test_clone},
	{"clone_parent", test_clone_parent},
	{"clone3", test_clone3},
	{"exec_thread", test_exec_thread},
	{"exec_zombie", test_exec_zombie},
	{"leader_first", test_leader_first},
	{"exec_fails", test_exec_fails},
	{"exec_chain", test_exec_chain},
	{"kills", test_kills},
	{"spin", test_spin},
	{"daemon", test_daemon},
	{"unfollowed", test_unfollowed},
	{"orphans", test_orphans},
};
TEST_MAIN(tests)
