/* SPDX-License-Identifier: MIT */
/* Blocked calls, and the events that interrupt a thread in them: handlers, stops, jumps, cancellation, death. */
#include "e2e.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

static volatile sig_atomic_t hits;

static void on_hit(int sig)
{
	(void)sig;
	hits++;
}

static void catch (int sig, void (*handler)(int), int flags)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags};
	CHECK(sigaction(sig, &act, NULL) == 0);
}

static long ms_since(const struct timespec *t)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - t->tv_sec) * 1000 + (now.tv_nsec - t->tv_nsec) / 1000000;
}

static struct timespec now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t;
}

/*
 * Starts a child that sends its parent `sig` `n` times, each time after the parent has begun to sleep, and then runs
 * `last` when the parent sleeps again: on a busy machine, it may take long to notice the last signal.
 */
static pid_t start_signals(int sig, int n, void (*last)(int), int arg)
{
	pid_t parent = getpid(), pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < n; i++) {
		sleep_us(2000);
		until_asleep(parent);
		kill(parent, sig);
	}
	sleep_us(2000);
	until_asleep(parent);
	if (last != NULL)
		last(arg);
	_exit(0);
}

static void write_a_byte(int fd)
{
	struct iovec byte = {"x", 1};
	CHECK(writev(fd, &byte, 1) == 1);
}

/* With SA_RESTART a read continues and is one call; without it, the read returns EINTR. */
static void test_restart(int argc, char **argv)
{
	int n = number(argc, argv, 0, 40), fds[2];
	char c;
	struct iovec in = {&c, 1};
	CHECK(pipe(fds) == 0);
	catch (SIGUSR1, on_hit, SA_RESTART);
	pid_t pid = start_signals(SIGUSR1, n, write_a_byte, fds[1]);
	CHECK(readv(fds[0], &in, 1) == 1 && c == 'x' && hits == n);
	reap_ok(pid, 0);
	catch (SIGUSR1, on_hit, 0);
	pid = start_signals(SIGUSR1, n, NULL, 0);
	for (int i = 0; i < n; i++)
		CHECK_FAILS(readv(fds[0], &in, 1), EINTR);
	reap_ok(pid, 0);
	CHECK(hits == 2 * n);
	calls("readv", 1 + n, n);
}

/* Some calls return EINTR regardless of SA_RESTART. Each is made several times, so that its call site is patched. */
static void test_never_restarted(int argc, char **argv)
{
	const int rounds = 3;
	(void)argc;
	(void)argv;
	catch (SIGUSR1, on_hit, SA_RESTART);
	int fds[2], ep = epoll_create1(EPOLL_CLOEXEC);
	CHECK(pipe(fds) == 0 && ep >= 0);
	struct pollfd p = {fds[0], POLLIN, 0};
	struct epoll_event event;
	struct timespec nap = {1000, 0}, left = {0, 0};
	sigset_t none;
	sigemptyset(&none);
	pid_t pid = start_signals(SIGUSR1, 6 * rounds, NULL, 0);
	for (int i = 0; i < rounds; i++) {
		CHECK_FAILS(poll(&p, 1, 1000000), EINTR);
		CHECK_FAILS(ppoll(&p, 1, &nap, &none), EINTR);
		CHECK_FAILS(epoll_wait(ep, &event, 1, 1000000), EINTR);
		CHECK_FAILS(syscall(SYS_nanosleep, &nap, &left), EINTR);
		CHECK(left.tv_sec > 0 && left.tv_sec < nap.tv_sec);
		CHECK_FAILS(pause(), EINTR);
		CHECK_FAILS(sigsuspend(&none), EINTR);
	}
	reap_ok(pid, 0);
	CHECK(hits == 6 * rounds);
	calls("nanosleep", rounds, rounds);
	calls("rt_sigsuspend", rounds, rounds);
	calls("rt_sigreturn", 6 * rounds, 0);
}

/*
 * Waits for the child's next change (waitid(2)), which must be `code`. Returns false if the child ended before; the
 * child is then not reaped.
 */
static bool changed(pid_t pid, int how, int code)
{
	siginfo_t info;
	CHECK(waitid(P_PID, pid, &info, how | WEXITED | WNOWAIT) == 0);
	if (info.si_code == CLD_EXITED)
		return false;
	CHECK(waitid(P_PID, pid, &info, how) == 0 && info.si_code == code);
	CHECK(info.si_status == (code == CLD_STOPPED ? SIGSTOP : SIGCONT));
	return true;
}

/*
 * Stops and continues the child `rounds` times, or until the child has ended. Which happens first depends on the speed
 * of the machine.
 */
static void stop_and_continue(pid_t pid, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		until_asleep(pid);
		CHECK(kill(pid, SIGSTOP) == 0);
		if (!changed(pid, WSTOPPED, CLD_STOPPED))
			return;
		CHECK(kill(pid, SIGCONT) == 0);
		if (!changed(pid, WCONTINUED, CLD_CONTINUED))
			return;
		sleep_us(3000);
	}
}

/* Sleeps that a stop interrupts continue for the rest of their time; each is one call without an error. */
static void test_stopped_sleep(int argc, char **argv)
{
	int rounds = number(argc, argv, 0, 10);
	pid_t pid = fork();
	if (pid == 0) {
		struct timespec start = now(), nap = {0, 300000000};
		CHECK(syscall(SYS_nanosleep, &nap, NULL) == 0);
		CHECK(ms_since(&start) >= 300);
		start = now();
		CHECK(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &nap, NULL) == 0);
		CHECK(ms_since(&start) >= 300);
		_exit(0);
	}
	stop_and_continue(pid, rounds);
	reap_ok(pid, 0);
	pid = fork();
	if (pid == 0) {
		int fds[2];
		CHECK(pipe(fds) == 0);
		struct pollfd p = {fds[0], POLLIN, 0};
		struct timespec start = now();
		CHECK(poll(&p, 1, 300) == 0);
		CHECK(ms_since(&start) >= 300);
		_exit(0);
	}
	stop_and_continue(pid, rounds);
	reap_ok(pid, 0);
	pid = fork();
	if (pid == 0) {
		int word = 1;
		struct timespec start = now(), nap = {0, 300000000};
		CHECK_FAILS(syscall(SYS_futex, &word, 0 /* FUTEX_WAIT */, 1, &nap, NULL, 0), ETIMEDOUT);
		CHECK(ms_since(&start) >= 300);
		_exit(0);
	}
	stop_and_continue(pid, rounds);
	reap_ok(pid, 0);
	puts("slept through the stops");
}

/* A stop must not make calls without a time limit return. */
static void test_stopped_wait(int argc, char **argv)
{
	int rounds = number(argc, argv, 0, 20), fds[2], sock[2];
	CHECK(pipe(fds) == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, sock) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		char c;
		struct iovec in = {&c, 1};
		CHECK(readv(fds[0], &in, 1) == 1);
		CHECK(recv(sock[0], &c, 1, 0) == 1);
		_exit(0);
	}
	stop_and_continue(pid, rounds);
	write_a_byte(fds[1]);
	sleep_us(5000);
	stop_and_continue(pid, rounds);
	CHECK(send(sock[1], "x", 1, 0) == 1);
	reap_ok(pid, 0);
	calls("readv", 1, 0);
	calls("recvfrom", 1, 0);
}

static sigjmp_buf back;

static void on_jump(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

/* A handler jumps out of a blocked read repeatedly, also out of calls that are just about to block. */
static void test_longjmp(int argc, char **argv)
{
	static volatile int jumped, n;
	int fds[2];
	n = number(argc, argv, 0, 300);
	char c;
	struct iovec in = {&c, 1};
	CHECK(pipe(fds) == 0);
	catch (SIGALRM, on_jump, 0);
	for (jumped = 0; jumped < n; jumped++) {
		struct itimerval once = {.it_value = {0, 50 + jumped % 40 * 20}};
		if (sigsetjmp(back, 1) == 0) {
			CHECK(setitimer(ITIMER_REAL, &once, NULL) == 0);
			readv(fds[0], &in, 1);
			CHECK(!"came back");
		}
	}
	sigset_t set;
	CHECK(sigprocmask(SIG_BLOCK, NULL, &set) == 0 && !sigismember(&set, SIGALRM));
	for (int i = 0; i < 1000; i++)
		CHECK(syscall(SYS_getppid) > 0);
	CHECK(write(fds[1], "y", 1) == 1 && readv(fds[0], &in, 1) == 1 && c == 'y');
	calls("getppid", 1000, 0);
}

static volatile long caught_in_loop, made_in_loop;

static void on_jump_from_loop(int sig)
{
	(void)sig;
	caught_in_loop++;
	siglongjmp(back, 1);
}

/* A handler jumps out of many short calls, at any point in them. */
static void test_longjmp_storm(int argc, char **argv)
{
	long n = number(argc, argv, 0, 400);
	static struct itimerval tick = {{0, 200}, {0, 200}}, off;
	catch (SIGALRM, on_jump_from_loop, SA_RESTART);
	if (sigsetjmp(back, 1) && caught_in_loop >= n && !made_in_loop)
		caught_in_loop = leave_time(&tick, true);
	CHECK(setitimer(ITIMER_REAL, &tick, NULL) == 0);
	while (caught_in_loop < n) {
		CHECK(syscall(SYS_getpgid, 0) == getpgrp());
		made_in_loop++;
	}
	CHECK(setitimer(ITIMER_REAL, &off, NULL) == 0 && made_in_loop > 0);
	puts("jumped");
}

static volatile int cleaned;
static int cancel_pipe[2];

static void clean(void *arg)
{
	(void)arg;
	cleaned++;
}

static void *blocked_reader(void *arg)
{
	char c;
	*(volatile pid_t *)arg = syscall(SYS_gettid);
	pthread_cleanup_push(clean, NULL);
	read(cancel_pipe[0], &c, 1);
	pthread_cleanup_pop(0);
	return NULL;
}

/* pthread_cancel() unwinds a thread out of a blocked read. */
static void test_cancel(int argc, char **argv)
{
	int n = number(argc, argv, 0, 100);
	CHECK(pipe(cancel_pipe) == 0);
	for (int i = 0; i < n; i++) {
		pthread_t thread;
		void *result;
		volatile pid_t tid = 0;
		CHECK(pthread_create(&thread, NULL, blocked_reader, (void *)&tid) == 0);
		if (i % 2 == 0) {
			while (tid == 0)
				sched_yield();
			until_asleep(tid);
		}
		CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
		CHECK(i % 2 == 1 || cleaned >= i / 2 + 1);
	}
	puts("cancelled");
}

__attribute__((noreturn)) static void *busy_caller(void *arg)
{
	(void)arg;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		syscall(SYS_getppid);
}

/* Asynchronous cancellation during many short calls. */
static void test_cancel_async(int argc, char **argv)
{
	int n = number(argc, argv, 0, 100);
	for (int i = 0; i < n; i++) {
		pthread_t thread;
		void *result;
		CHECK(pthread_create(&thread, NULL, busy_caller, NULL) == 0);
		sleep_us(100 + i % 7 * 50);
		CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	}
	puts("cancelled");
}

#if __GLIBC__
#include <execinfo.h>
extern int main(int, char **);
static volatile long unwound, lost;

static void on_unwind(int sig)
{
	(void)sig;
	void *frames[64];
	int n = backtrace(frames, 64);
	bool reached = false;
	for (int i = 0; i < n; i++)
		reached |= (char *)frames[i] >= (char *)main && (char *)frames[i] < (char *)main + 256;
	if (reached)
		unwound++;
	else
		lost++;
}

/* A handler may interrupt calls at any point. A stack walk from the handler reaches main(). */
static void test_unwind(int argc, char **argv)
{
	int n = number(argc, argv, 0, 300);
	void *warm[4];
	pid_t (*volatile call)(void) = getppid; /* not through the PLT, which has no unwind information on aarch64 */
	backtrace(warm, 4);
	struct itimerval tick = {{0, 300}, {0, 300}}, off = {0};
	catch (SIGALRM, on_unwind, SA_RESTART);
	CHECK(setitimer(ITIMER_REAL, &tick, NULL) == 0);
	while (unwound + lost < n)
		for (int i = 0; i < 50; i++)
			call();
	CHECK(setitimer(ITIMER_REAL, &off, NULL) == 0);
	CHECK(lost == 0);
	puts("every walk reached main");
}
#endif

#if defined __x86_64__ || defined __i386__ || defined __aarch64__
/* True if the address is in a mapping of a file or the vDSO, that is, in the program's own code. */
static bool own_code(uintptr_t addr)
{
	char line[512];
	FILE *f = fopen("/proc/self/maps", "re");
	bool own = false;
	CHECK(f != NULL);
	while (fgets(line, sizeof line, f) != NULL) {
		unsigned long from, to;
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && addr >= from && addr < to)
			own = strchr(line, '/') != NULL || strstr(line, "[vdso]") != NULL;
	}
	fclose(f);
	return own;
}

#include <ucontext.h>
static volatile uintptr_t where[2000];
static volatile int places;
static char *volatile stack_at;
static volatile long stack_wrong;

static void on_where(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	ucontext_t *c = context;
#ifdef __x86_64__
	char *sp = (char *)c->uc_mcontext.gregs[REG_RSP];
	uintptr_t ip = c->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
	char *sp = (char *)c->uc_mcontext.sp;
	uintptr_t ip = c->uc_mcontext.pc;
#else
	char *sp = (char *)c->uc_mcontext.gregs[REG_ESP];
	uintptr_t ip = c->uc_mcontext.gregs[REG_EIP];
#endif
	if (sp > stack_at || sp < stack_at - 65536)
		stack_wrong++;
	if (places < 2000)
		where[places++] = ip;
}

/* Handlers never see an instruction pointer outside the program's own code. */
static void test_where(int argc, char **argv)
{
	int n = number(argc, argv, 0, 400);
	char here;
	stack_at = &here + 4096;
	struct sigaction act = {.sa_sigaction = on_where, .sa_flags = SA_SIGINFO | SA_RESTART};
	CHECK(sigaction(SIGALRM, &act, NULL) == 0);
	struct itimerval tick = {{0, 200}, {0, 200}}, off = {0};
	CHECK(setitimer(ITIMER_REAL, &tick, NULL) == 0);
	while (places < n)
		for (int i = 0; i < 50; i++)
			syscall(SYS_getppid);
	CHECK(setitimer(ITIMER_REAL, &off, NULL) == 0);
	CHECK(stack_wrong == 0);
	for (int i = 0; i < n; i++)
		CHECK(own_code(where[i]));
	puts("always in own code");
}

/* While the parent waits in a call, the child sends it a signal a few times, then ends the call. */
static void interrupt_parent(int fd)
{
	for (int k = 0; k < 3; k++) {
		until_asleep(getppid());
		CHECK(kill(getppid(), SIGURG) == 0);
	}
	until_asleep(getppid());
	CHECK(write(fd, "x", 1) == 1);
	_exit(0);
}

/*
 * Handlers are set, reset by the kernel, removed and set again, also in a child. The handlers that run see only
 * addresses in the program's code.
 */
static void test_where_changes(int argc, char **argv)
{
	int n = number(argc, argv, 0, 24);
	int fds[2];
	char c;
	struct iovec in = {&c, 1};
	stack_at = &c + 4096;
	CHECK(pipe(fds) == 0);
	for (int i = 0; i < n; i++) {
		struct sigaction act = {.sa_sigaction = on_where, .sa_flags = SA_SIGINFO | SA_RESTART};
		const struct sigaction none = {.sa_handler = SIG_DFL};
		int before = places, kind = i % 4;
		if (kind == 2)
			act.sa_flags |= SA_RESETHAND;
		CHECK(sigaction(SIGURG, kind == 0 ? &none : &act, NULL) == 0);
		if (kind == 3) { /* a child changes its own action */
			pid_t other = fork();
			if (other == 0) {
				sigaction(SIGURG, &none, NULL);
				_exit(0);
			}
			reap_ok(other, 0);
		}
		pid_t pid = fork();
		if (pid == 0)
			interrupt_parent(fds[1]);
		CHECK(readv(fds[0], &in, 1) == 1);
		reap_ok(pid, 0);
		CHECK(kind == 0 ? places == before : kind == 2 ? places == before + 1 : places > before);
	}
	CHECK(stack_wrong == 0);
	for (int i = 0; i < places; i++)
		CHECK(own_code(where[i]));
	calls("readv", n, 0);
	puts("always in own code");
}
#endif

static volatile pid_t waiters[20];

static void *forever(void *arg)
{
	int fds[2];
	char c;
	CHECK(pipe(fds) == 0);
	*(volatile pid_t *)arg = syscall(SYS_gettid);
	struct iovec in = {&c, 1};
	readv(fds[0], &in, 1);
	return NULL;
}

/* exit_group() ends blocked threads, whichever thread calls it; their calls are counted. */
static void test_exit_group(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int round = 0; round < 10; round++) {
		pid_t pid = fork();
		if (pid == 0) {
			pthread_t t;
			for (int i = 0; i < 20; i++)
				CHECK(pthread_create(&t, NULL, forever, (void *)&waiters[i]) == 0);
			for (int i = 0; i < 20; i++) {
				while (waiters[i] == 0)
					sched_yield();
				until_asleep(waiters[i]);
			}
			_exit(round);
		}
		reap_ok(pid, round);
	}
	calls("readv", 200, 0);
	calls("exit_group", 11, 0);
}

/* Signals without a handler that calls cause: each arrives when its call has ended. */
static void test_no_handler(int argc, char **argv)
{
	(void)argc, (void)argv;
	struct iovec byte = {"x", 1};
	int fds[2];
	catch (SIGPIPE, SIG_IGN, 0);
	catch (SIGCHLD, SIG_DFL, 0);
	CHECK(pipe(fds) == 0 && close(fds[0]) == 0);
	for (int i = 0; i < 50; i++) {
		CHECK_FAILS(writev(fds[1], &byte, 1), EPIPE);
		CHECK(kill(getpid(), SIGCHLD) == 0);
	}
	calls("writev", 50, 50);
	calls("kill", 50, 0);
	/* The kernel restarts the interrupted call with the time that is left. */
	struct itimerval tick = {{0, 0}, {0, 100000}};
	struct timespec limit = {0, 300000000};
	catch (SIGALRM, SIG_IGN, 0);
	CHECK(setitimer(ITIMER_REAL, &tick, NULL) == 0);
	CHECK(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &limit, NULL) == 0);
	calls("pselect6", 1, 0);
}

/* In a child of vfork(2), a handler runs at the end of a call of the C library, and returns to it. */
static void test_vfork_child(int argc, char **argv)
{
	(void)argc, (void)argv;
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	catch (SIGUSR1, on_hit, 0);
	for (int i = 0; i < 20; i++) {
		CHECK(sigprocmask(SIG_BLOCK, &one, NULL) == 0);
		pid_t pid = vfork();
		if (pid == 0) {
			kill(getpid(), SIGUSR1);
			sigprocmask(SIG_UNBLOCK, &one, NULL);
			_exit(hits == i + 1 ? 0 : 1);
		}
		reap_ok(pid, 0);
	}
	calls(VFORK, 20, 0);
}

static const struct test tests[] = {
	{"restart", test_restart},
	{"never_restarted", test_never_restarted},
	{"stopped_sleep", test_stopped_sleep},
	{"stopped_wait", test_stopped_wait},
	{"longjmp", test_longjmp},
	{"longjmp_storm", test_longjmp_storm},
	{"cancel", test_cancel},
	{"cancel_async", test_cancel_async},
	{"exit_group", test_exit_group},
	{"no_handler", test_no_handler},
	{"vfork_child", test_vfork_child},
#if __GLIBC__
	{"unwind", test_unwind},
#endif
#if defined __x86_64__ || defined __i386__ || defined __aarch64__
	{"where", test_where},
	{"where_changes", test_where_changes},
#endif
};
TEST_MAIN(tests)
