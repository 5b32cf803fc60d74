/* SPDX-License-Identifier: MIT */
/* The program's seccomp filters work as without a tracer, and the calls that they reject or answer are counted. */
#include "e2e.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <ucontext.h>

#ifdef __aarch64__
static const unsigned native_arch = AUDIT_ARCH_AARCH64;
#else
static const unsigned native_arch = AUDIT_ARCH_X86_64;
#endif

/* Installs a filter that applies `action` to calls of `nr` and allows all others. */
static int filter(int nr, uint32_t action, unsigned flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* ERRNO: the call fails as the filter says, before and after a fork. */
static void test_errno(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 50; i++)
		CHECK(syscall(SYS_getppid) > 0);
	CHECK(filter(SYS_getppid, SECCOMP_RET_ERRNO | ENOANO, 0) == 0);
	for (int i = 0; i < 100; i++)
		CHECK_FAILS(syscall(SYS_getppid), ENOANO);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 100; i++)
			CHECK_FAILS(syscall(SYS_getppid), ENOANO);
		_exit(0);
	}
	reap_ok(pid, 0);
	CHECK(filter(SYS_getpgid, SECCOMP_RET_ERRNO | 0, 0) == 0);
	for (int i = 0; i < 100; i++)
		CHECK(syscall(SYS_getpgid, 0) == 0);
	calls("getppid", 250, 200);
	calls("getpgid", 100, 0);
}

/* ERRNO: calls fail with each error from 1 to N, twice, but not with the numbers by which the kernel restarts calls. */
static void test_errors(int argc, char **argv)
{
	CHECK(argc == 1);
	int n = atoi(argv[0]), made = 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
		BPF_STMT(BPF_RET | BPF_A, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
	for (int i = 0; i < 2 * n; i++) {
		int error = i % n + 1;
		if (error >= 512 && error <= 516)
			continue;
		CHECK_FAILS(syscall(SYS_getpgid, error), error);
		made++;
	}
	calls("getpgid", made, made);
}

static volatile int trapped;

static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	(void)context;
	CHECK(sig == SIGSYS && info->si_code == 1 /* SYS_SECCOMP */ && info->si_syscall == SYS_getppid);
	CHECK(info->si_errno == 77 && info->si_arch == native_arch);
	trapped++;
}

/* TRAP raises SIGSYS, with the call in its siginfo. */
static void test_trap(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	struct sigaction act = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};
	CHECK(sigaction(SIGSYS, &act, NULL) == 0);
	CHECK(filter(SYS_getppid, SECCOMP_RET_TRAP | 77, 0) == 0);
	for (int i = 0; i < 100; i++) {
		syscall(SYS_getppid);
		CHECK(trapped == i + 1);
		syscall(SYS_getpgid, 0);
	}
	calls("getpgid", 100, 0);
}

#ifdef __x86_64__
/*
 * SIGSYS contains the address of the call, also in a child that shares memory. It kills the process if it is ignored or
 * has no handler.
 */
static volatile bool elsewhere;

static void on_place(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	elsewhere |= (greg_t)info->si_call_addr != ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	trapped++;
}

static void test_trap_place(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	struct sigaction act = {.sa_sigaction = on_place, .sa_flags = SA_SIGINFO | SA_NODEFER};
	for (int i = 0; i < 3; i++)
		syscall(SYS_getppid);
	CHECK(sigaction(SIGSYS, &act, NULL) == 0);
	CHECK(filter(SYS_getppid, SECCOMP_RET_TRAP | 77, 0) == 0);
	for (int i = 0; i < 5; i++) {
		syscall(SYS_getppid);
		pid_t pid = vfork();
		if (pid == 0) {
			syscall(SYS_getppid);
			_exit(elsewhere);
		}
		reap_ok(pid, 0);
	}
	CHECK(trapped == 10 && !elsewhere);
	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			signal(SIGSYS, i % 2 ? SIG_IGN : SIG_DFL);
			syscall(SYS_getppid);
			_exit(0);
		}
		int status = reap(pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	}
}
#endif

/*
 * The program has a handler for SIGSYS and forbids rt_sigaction, so the tracer must not make this call in the program.
 */
static void test_forbids_sigaction(int argc, char **argv)
{
	struct sigaction act = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};
	(void)argc;
	(void)argv;
	CHECK(sigaction(SIGSYS, &act, NULL) == 0);
	CHECK(filter(SYS_rt_sigaction, SECCOMP_RET_KILL_PROCESS, 0) == 0);
	CHECK(getpid() > 0 && getppid() > 0 && getuid() == geteuid() && getgid() == getegid());
	_exit(0);
}

/* TRACE gives ENOSYS if no tracer has requested these stops. */
static void test_trace(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	CHECK(filter(SYS_getppid, SECCOMP_RET_TRACE | 5, 0) == 0);
	for (int i = 0; i < 100; i++)
		CHECK_FAILS(syscall(SYS_getppid), ENOSYS);
	calls("getppid", 100, 100);
}

/* KILL ends the process, or a single thread. */
static void *killed_thread(void *arg)
{
	syscall(SYS_getppid);
	return arg;
}

static void test_kill(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 10; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			CHECK(filter(SYS_getppid, SECCOMP_RET_KILL_PROCESS, 0) == 0);
			syscall(SYS_getppid);
			_exit(0);
		}
		int status = reap(pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
		pid = fork();
		if (pid == 0) {
			pthread_t t;
			CHECK(filter(SYS_getppid, SECCOMP_RET_KILL_THREAD, 0) == 0);
			CHECK(pthread_create(&t, NULL, killed_thread, NULL) == 0);
			CHECK(pthread_join(t, NULL) == 0);
			_exit(6);
		}
		reap_ok(pid, 6);
	}
	puts("killed by filter");
}

static void test_die(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	calls("getppid", 1, 0);
	CHECK(filter(SYS_getppid, SECCOMP_RET_KILL_PROCESS, 0) == 0);
	syscall(SYS_getppid);
}

static volatile int go;

static void *under_tsync(void *arg)
{
	while (!go)
		sched_yield();
	for (int i = 0; i < 50; i++)
		CHECK_FAILS(syscall(SYS_getppid), ENOANO);
	return arg;
}

/* TSYNC: the filter applies to all threads. */
static void test_tsync(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&t[i], NULL, under_tsync, NULL) == 0);
	CHECK(filter(SYS_getppid, SECCOMP_RET_ERRNO | ENOANO, SECCOMP_FILTER_FLAG_TSYNC) == 0);
	go = 1;
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	calls("getppid", 200, 200);
}

/* USER_NOTIF: the parent answers the call instead of the kernel. */
static void test_notify(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	int fd = filter(SYS_getppid, SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	CHECK(fd >= 0);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 50; i++)
			CHECK(syscall(SYS_getppid) == 4000 + i);
		CHECK_FAILS(syscall(SYS_getppid), EXDEV);
		_exit(9);
	}
	for (int i = 0; i < 51; i++) {
		struct seccomp_notif ask = {0};
		struct seccomp_notif_resp answer = {0};
		CHECK(ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &ask) == 0);
		CHECK(ask.data.nr == SYS_getppid && (pid_t)ask.pid == pid);
		answer.id = ask.id;
		if (i < 50)
			answer.val = 4000 + i;
		else
			answer.error = -EXDEV;
		CHECK(ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0);
	}
	reap_ok(pid, 9);
	calls("getppid", 51, 1);
}

/* Strict mode allows read, write, exit and sigreturn. Any other call kills the thread. */
static void test_strict(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 5; i++) {
		int fds[2];
		char c;
		CHECK(pipe(fds) == 0);
		pid_t pid = fork();
		if (pid == 0) {
			CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
			write(fds[1], "s", 1);
			syscall(SYS_exit, 12);
		}
		CHECK(read(fds[0], &c, 1) == 1 && c == 's');
		reap_ok(pid, 12);
		pid = fork();
		if (pid == 0) {
			CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
			syscall(SYS_getppid);
			syscall(SYS_exit, 0);
		}
		int status = reap(pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		close(fds[0]);
		close(fds[1]);
	}
	puts("strictly");
}

/* Queries about filters give the same answers as without a tracer. */
static void test_query(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	uint32_t action = SECCOMP_RET_KILL_THREAD;
	CHECK(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0);
	action = 0x12340000;
	CHECK_FAILS(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action), EOPNOTSUPP);
	CHECK_FAILS(syscall(SYS_seccomp, 99, 0, NULL), EINVAL);
	CHECK_FAILS(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL), EINVAL);
	CHECK_FAILS(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (void *)8), EFAULT);
	printf("mode %d, no new privileges %d\n", prctl(PR_GET_SECCOMP), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

/* Installs a filter that allows only a few calls, as sandboxes do. The tracer must make no other calls afterwards. */
static void test_sandbox(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	const int allowed[] = {SYS_getppid, SYS_write, SYS_exit_group, SYS_rt_sigreturn, SYS_getpgid};
	enum { N = sizeof allowed / sizeof *allowed };
	struct sock_filter code[2 + 2 * N] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	for (int i = 0; i < N; i++) {
		code[1 + 2 * i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i], 0, 1);
		code[2 + 2 * i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[1 + 2 * N] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	struct sock_fprog program = {2 + 2 * N, code};
	calls("getppid", 200, 0);
	calls("getpgid", 200, 0);
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
	for (int i = 0; i < 200; i++) {
		syscall(SYS_getppid);
		syscall(SYS_getpgid, 0);
	}
	syscall(SYS_exit_group, 0);
}

/* The filter persists across execve, and the new program is subject to it. */
static void test_exec(int argc, char **argv)
{
	(void)argv;
	if (argc > 0) {
		for (int i = 0; i < 30; i++)
			CHECK_FAILS(syscall(SYS_getppid), ENOANO);
		calls("getppid", 30, 30);
		return;
	}
	CHECK(filter(SYS_getppid, SECCOMP_RET_ERRNO | ENOANO, 0) == 0);
	execl("/proc/self/exe", "seccomp", "exec", "again", (char *)NULL);
	CHECK(!"exec");
}

/* If there are many filters, the strictest result applies. */
static void test_many(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 20; i++)
		CHECK(filter(SYS_getppid, SECCOMP_RET_ERRNO | (40 + i), 0) == 0);
	CHECK(filter(SYS_getppid, SECCOMP_RET_LOG, 0) == 0);
	for (int i = 0; i < 30; i++)
		CHECK_FAILS(syscall(SYS_getppid), 59);
	calls("getppid", 30, 30);
}

/* Refuses all calls but those of rounds(), and ends the process for them. */
static void confine(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* Makes 20 calls for each byte of standard input, except for s, and is confined from the byte f on. */
static void rounds(void)
{
	char byte;
	CHECK(write(1, "ready\n", 6) == 6);
	while (read(0, &byte, 1) == 1) {
		if (byte == 'f')
			confine();
		for (int i = 0; i < 20; i++)
			CHECK(byte == 's' || syscall(SYS_getppid) > 0);
		CHECK(write(1, "checked\n", 8) == 8);
	}
}

static void *confined_rounds(void *arg)
{
	confine();
	rounds();
	_exit(0);
	return arg;
}

/*
 * sctrace attaches to a program that a filter, or strict mode, ends for any other call. `thread`: the filter is that of one
 * thread. `later`: the filter is installed while sctrace is attached. `clock`: in place of a filter, reading the time stamp
 * counter ends the program.
 */
static void test_attached(int argc, char **argv)
{
	pthread_t thread;
	CHECK(argc > 0);
	if (strcmp(argv[0], "thread") == 0) {
		CHECK(pthread_create(&thread, NULL, confined_rounds, NULL) == 0);
		for (;;)
			pause();
	}
	if (strcmp(argv[0], "strict") == 0)
		CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
	else if (strcmp(argv[0], "clock") == 0)
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV); /* processors without it read another clock */
	else if (strcmp(argv[0], "later") != 0)
		confine();
	rounds();
	if (strcmp(argv[0], "strict") == 0)
		syscall(SYS_exit, 0); /* strict mode refuses exit_group(2) */
	_exit(0);
}

static const struct test tests[] = {
	{"attached", test_attached},
	{"errno", test_errno},
	{"errors", test_errors},
	{"trap", test_trap},
	{"forbids_sigaction", test_forbids_sigaction},
#ifdef __x86_64__
	{"trap_place", test_trap_place},
#endif
	{"trace", test_trace},
	{"kill", test_kill},
	{"die", test_die},
	{"tsync", test_tsync},
	{"notify", test_notify},
	{"strict", test_strict},
	{"query", test_query},
	{"sandbox", test_sandbox},
	{"exec", test_exec},
	{"many", test_many},
};
TEST_MAIN(tests)
