/* SPDX-License-Identifier: MIT */
/* Signals arrive exactly once, in order, at the right thread, with the number, sender and value that were sent. */
#include "e2e.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/uio.h>

static volatile sig_atomic_t hits;
static volatile siginfo_t seen; /* volatile: glibc declares that raise() calls no function of this file */

static void on_info(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	seen = *info;
	hits++;
}

static void catch (int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction act = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
	CHECK(sigaction(sig, &act, NULL) == 0);
}

static int raw_queue(pid_t pid, pid_t tid, int sig, siginfo_t *info)
{
	return syscall(SYS_rt_tgsigqueueinfo, pid, tid, sig, info);
}

/* The handler sees the sender and the value, for each way of sending. */
static void test_info(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	catch (SIGUSR1, on_info, 0);
	catch (SIGRTMIN + 3, on_info, 0);
	CHECK(kill(getpid(), SIGUSR1) == 0 && hits == 1);
	CHECK(seen.si_signo == SIGUSR1 && seen.si_code == SI_USER && seen.si_pid == getpid() &&
	      seen.si_uid == getuid());
	CHECK(raise(SIGUSR1) == 0 && hits == 2);
	CHECK(seen.si_code == SI_TKILL && seen.si_pid == getpid());
	CHECK(sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_ptr = (void *)0x12345678}) == 0 && hits == 3);
	CHECK(seen.si_code == SI_QUEUE && seen.si_value.sival_ptr == (void *)0x12345678 && seen.si_errno == 0);
	siginfo_t odd = {.si_signo = SIGUSR1, .si_code = -77, .si_errno = 42};
	odd.si_value.sival_int = 4711;
	CHECK(raw_queue(getpid(), getpid(), SIGUSR1, &odd) == 0 && hits == 4);
	CHECK(seen.si_code == -77 && seen.si_errno == 42 && seen.si_value.sival_int == 4711);
	timer_t timer;
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3, .sigev_value.sival_int = 99};
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	struct itimerspec soon = {.it_value.tv_nsec = 1000000};
	CHECK(timer_settime(timer, 0, &soon, NULL) == 0);
	while (hits < 5)
		sleep_us(1000);
	CHECK(seen.si_code == SI_TIMER && seen.si_value.sival_int == 99 && seen.si_overrun == 0);
	pid_t pid = fork();
	if (pid == 0) {
		catch (SIGCHLD, on_info, 0);
		_exit(7);
	}
	catch (SIGCHLD, on_info, 0);
	reap_ok(pid, 7);
	puts("info as sent");
}

static sigjmp_buf back;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	seen = *info;
	siglongjmp(back, 1);
}

static void expect_fault(int sig, int code, const void *addr)
{
	if (seen.si_signo != sig || seen.si_code != code || (addr != NULL && seen.si_addr != addr))
		dprintf(2, "signal %d code %d addr %p\n", seen.si_signo, seen.si_code, seen.si_addr);
	CHECK(seen.si_signo == sig && seen.si_code == code && (addr == NULL || seen.si_addr == addr));
}

/* The kernel's own signals keep their code and address. */
static void test_faults(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	const int all[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		catch (all[i], on_fault, SA_NODEFER);
	const long size = page_size();
	char *page = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	for (volatile int round = 0; round < 50; round++) {
		if (sigsetjmp(back, 1) == 0)
			*(volatile char *)16 = 1;
		expect_fault(SIGSEGV, SEGV_MAPERR, (void *)16);
		if (sigsetjmp(back, 1) == 0)
			*(volatile char *)(page + 5) = 1;
		expect_fault(SIGSEGV, SEGV_ACCERR, page + 5);
	}
	int fd = memfd_create("short", MFD_CLOEXEC);
	CHECK(fd >= 0 && ftruncate(fd, 10) == 0);
	char *file = mmap(NULL, 2 * (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(file != MAP_FAILED);
	if (sigsetjmp(back, 1) == 0)
		(void)*(volatile char *)(file + size);
	expect_fault(SIGBUS, BUS_ADRERR, file + size);
#if defined __x86_64__ || defined __i386__
	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("xorl %%edx, %%edx; xorl %%ecx, %%ecx; idivl %%ecx" ::: "eax", "ecx", "edx", "cc");
	expect_fault(SIGFPE, FPE_INTDIV, NULL);
	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("ud2");
	expect_fault(SIGILL, ILL_ILLOPN, NULL);
	for (volatile int round = 0; round < 50; round++) {
		if (sigsetjmp(back, 1) == 0)
			__asm__ volatile("int3");
		expect_fault(SIGTRAP, SI_KERNEL, NULL);
		if (sigsetjmp(back, 1) == 0)
			__asm__ volatile(
#ifdef __x86_64__
				"pushfq; orq $0x100, (%%rsp); popfq; nop; nop" ::
					: "memory", "cc");
#else
				"pushfl; orl $0x100, (%%esp); popfl; nop; nop" ::
					: "memory", "cc");
#endif
		expect_fault(SIGTRAP, TRAP_TRACE, NULL);
	}
#endif
	puts("faults as they were");
}

/* The program sends itself SIGTRAPs with codes that look like a tracer's stops. */
static void test_sigtrap(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	catch (SIGTRAP, on_info, 0);
	const int codes[] = {
		SI_USER,  SIGTRAP, SIGTRAP | 0x80, SIGTRAP | (1 << 8), SIGTRAP | (4 << 8), SIGTRAP | (128 << 8),
		SI_TKILL, SI_QUEUE};
	for (int round = 0; round < 30; round++)
		for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
			int before = hits;
			siginfo_t info = {.si_signo = SIGTRAP, .si_code = codes[i]};
			syscall(SYS_getppid);
			CHECK(raw_queue(getpid(), getpid(), SIGTRAP, &info) == 0);
			CHECK(hits == before + 1 && seen.si_code == codes[i]);
		}
	calls("getppid", 30 * 8, 0);
}

static volatile int expected;
static volatile bool in_order = true;

static void on_order(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_value.sival_int != expected || sig != SIGRTMIN + 1)
		in_order = false;
	expected++;
}

/* Another process sends thousands of real-time signals; none is lost, merged or out of order. */
static void test_rt_order(int argc, char **argv)
{
	int n = number(argc, argv, 0, 3000);
	int ready[2];
	CHECK(pipe(ready) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		catch (SIGRTMIN + 1, on_order, SA_RESTART);
		CHECK(write(ready[1], "", 1) == 1);
		while (expected < n)
			syscall(SYS_getppid);
		_exit(in_order ? 0 : 1);
	}
	char c;
	CHECK(read(ready[0], &c, 1) == 1);
	for (int i = 0; i < n; i++)
		while (sigqueue(pid, SIGRTMIN + 1, (union sigval){.sival_int = i}) == -1) {
			CHECK(errno == EAGAIN);
			sleep_us(100);
		}
	reap_ok(pid, 0);
	printf("%d in order\n", n);
}

/* Blocked signals that are pending together arrive by number, and equal ones in the order in which they were sent. */
static void test_rt_pending(int argc, char **argv)
{
	int n = number(argc, argv, 0, 300);
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	sigaddset(&set, SIGRTMIN + 2);
	CHECK(sigprocmask(SIG_BLOCK, &set, &old) == 0);
	catch (SIGRTMIN + 1, on_order, 0);
	for (int i = 0; i < n; i++) {
		CHECK(sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = n + i}) == 0);
		CHECK(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i}) == 0);
	}
	sigdelset(&set, SIGRTMIN + 2);
	CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
	CHECK(expected == n && in_order);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 2);
	for (int i = 0; i < n; i++) {
		siginfo_t info;
		CHECK(sigwaitinfo(&set, &info) == SIGRTMIN + 2 && info.si_value.sival_int == n + i);
	}
	calls("rt_sigtimedwait", n, 0);
	calls("rt_sigqueueinfo", 2 * n, 0);
	calls("rt_sigreturn", n, 0);
}

#define DIRECTED 8
static pid_t tids[DIRECTED];
static volatile int got[DIRECTED], wrong;
static pthread_barrier_t barrier;

static void on_directed(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	int i = info->si_value.sival_int;
	if (syscall(SYS_gettid) != tids[i])
		wrong++;
	got[i]++;
}

static void *directed(void *arg)
{
	int i = (int)(intptr_t)arg;
	tids[i] = syscall(SYS_gettid);
	pthread_barrier_wait(&barrier);
	while (got[i] < 100)
		sched_yield();
	return NULL;
}

/* Signals sent to one thread reach that thread. */
static void test_directed(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	pthread_t threads[DIRECTED];
	catch (SIGRTMIN + 4, on_directed, SA_RESTART);
	pthread_barrier_init(&barrier, NULL, DIRECTED + 1);
	for (int i = 0; i < DIRECTED; i++)
		CHECK(pthread_create(&threads[i], NULL, directed, (void *)(intptr_t)i) == 0);
	pthread_barrier_wait(&barrier);
	for (int round = 0; round < 100; round++)
		for (int i = 0; i < DIRECTED; i++) {
			siginfo_t info = {.si_signo = SIGRTMIN + 4, .si_code = SI_QUEUE};
			info.si_value.sival_int = i;
			CHECK(raw_queue(getpid(), tids[i], SIGRTMIN + 4, &info) == 0);
		}
	for (int i = 0; i < DIRECTED; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(wrong == 0);
	for (int i = 0; i < DIRECTED; i++)
		CHECK(got[i] == 100);
	calls("rt_tgsigqueueinfo", 100 * DIRECTED, 0);
	calls("rt_sigreturn", 100 * DIRECTED, 0);
}

/* signalfd, sigtimedwait and sigpending see blocked signals; none is delivered. */
static void test_signalfd(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGCHLD);
	catch (SIGUSR1, on_info, 0);
	catch (SIGRTMIN, on_info, 0);
	CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	int fd = signalfd(-1, &set, SFD_CLOEXEC);
	CHECK(fd >= 0);
	struct signalfd_siginfo info;
	for (int i = 0; i < 100; i++) {
		CHECK(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i}) == 0);
		CHECK(kill(getpid(), SIGUSR1) == 0);
		CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1);
		CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_int == i);
	}
	pid_t pid = fork();
	if (pid == 0)
		_exit(3);
	CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGCHLD && info.ssi_status == 3);
	CHECK(info.ssi_pid == (uint32_t)pid);
	reap_ok(pid, 3);
	struct timespec none = {0};
	siginfo_t si;
	CHECK_FAILS(sigtimedwait(&set, &si, &none), EAGAIN);
	CHECK(hits == 0);
	puts("all by descriptor");
}

static void print_own_masks(void)
{
	char line[256];
	FILE *f = fopen("/proc/thread-self/status", "re");
	CHECK(f != NULL);
	while (fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "Sig", 3) == 0 || strncmp(line, "Shd", 3) == 0)
			if (strncmp(line, "SigQ", 4) != 0)
				fputs(line, stdout);
	fclose(f);
	fflush(stdout);
}

/* Masks, dispositions and pending signals are as without a tracer, after every kind of change. */
static void test_masks(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	print_own_masks();
	sigset_t all, set, old;
	sigfillset(&all);
	CHECK(sigprocmask(SIG_SETMASK, &all, &old) == 0);
	print_own_masks();
	CHECK(kill(getpid(), SIGUSR2) == 0 && raise(SIGTERM) == 0);
	print_own_masks();
	CHECK(sigpending(&set) == 0 && sigismember(&set, SIGUSR2) && sigismember(&set, SIGTERM));
	signal(SIGUSR2, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGSYS, SIG_IGN);
	signal(SIGTRAP, SIG_IGN);
	catch (SIGALRM, on_info, 0);
	print_own_masks();
	pid_t pid = fork();
	if (pid == 0) {
		print_own_masks();
		_exit(0);
	}
	reap_ok(pid, 0);
	CHECK(sigprocmask(SIG_SETMASK, &old, NULL) == 0);
	print_own_masks();
	sigset_t tight;
	sigemptyset(&tight);
	sigaddset(&tight, SIGSYS);
	CHECK(sigprocmask(SIG_BLOCK, &tight, NULL) == 0);
	for (int i = 0; i < 100; i++) {
		syscall(SYS_getppid);
		syscall(SYS_getpgid, 0);
	}
	print_own_masks();
	execl("/proc/self/exe", "signals", "own_masks", (char *)NULL);
	CHECK(!"exec");
}

static void test_own_masks(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	print_own_masks();
}

/* SIGSYS can be sent, blocked, ignored and handled. */
static void test_sigsys(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	catch (SIGSYS, on_info, 0);
	for (int i = 0; i < 50; i++) {
		CHECK(raise(SIGSYS) == 0 && hits == i + 1 && seen.si_code == SI_TKILL);
		syscall(SYS_getppid);
	}
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(kill(getpid(), SIGSYS) == 0);
	for (int i = 0; i < 50; i++)
		syscall(SYS_getppid);
	CHECK(hits == 50);
	CHECK(sigpending(&set) == 0 && sigismember(&set, SIGSYS));
	CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
	CHECK(hits == 51 && seen.si_code == SI_USER);
	/* A blocked SIGSYS from raise(3), for one thread, must also stay pending during calls at new call sites. */
	CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(raise(SIGSYS) == 0);
	CHECK(getpgid(0) > 0 && getsid(0) > 0 && getpriority(PRIO_PROCESS, 0) >= -20 && hits == 51);
	CHECK(sigpending(&set) == 0 && sigismember(&set, SIGSYS));
	CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
	CHECK(hits == 52 && seen.si_code == SI_TKILL);
	signal(SIGSYS, SIG_IGN);
	CHECK(raise(SIGSYS) == 0);
	for (int i = 0; i < 50; i++)
		syscall(SYS_getppid);
	CHECK(hits == 52);
	struct sigaction act;
	CHECK(sigaction(SIGSYS, NULL, &act) == 0 && act.sa_handler == SIG_IGN);
	calls("getppid", 150, 0);
}

static void on_overflow(int sig, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	char here;
	stack_t now;
	CHECK(sig == SIGSEGV);
	CHECK(sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_ONSTACK));
	CHECK(&here >= (char *)now.ss_sp && &here < (char *)now.ss_sp + now.ss_size);
	siglongjmp(back, 1);
}

static int recurse(volatile int depth)
{
	char room[1024];
	/* Keeps the compiler from removing `room`. */
	__asm__ volatile("" : : "r"(memset(room, depth & 127, 1)) : "memory");
	syscall(SYS_getppid);
	return depth < 0 ? 0 : recurse(depth + 1) + room[0];
}

/* A stack overflow during calls is handled on the alternate stack, many times. */
static void test_altstack(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct rlimit limit; /* some machines start programs without a limit */
	CHECK(getrlimit(RLIMIT_STACK, &limit) == 0);
	limit.rlim_cur = 2 << 20;
	CHECK(setrlimit(RLIMIT_STACK, &limit) == 0);
	CHECK(sigaltstack(&stack, NULL) == 0);
	catch (SIGSEGV, on_overflow, SA_ONSTACK);
	for (volatile int i = 0; i < 3; i++)
		if (sigsetjmp(back, 1) == 0)
			recurse(0);
	stack_t now;
	CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == stack.ss_sp && !(now.ss_flags & SS_ONSTACK));
	puts("overflows handled");
}

/* Children are reaped explicitly or automatically, depending on SIGCHLD's action. */
static void test_sigchld(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 20; i++)
		if (fork() == 0)
			_exit(i);
	int status;
	CHECK_FAILS(wait(&status), ECHILD);
	catch (SIGCHLD, on_info, SA_NOCLDWAIT | SA_RESTART);
	pid_t pid = fork();
	if (pid == 0)
		_exit(5);
	CHECK_FAILS(wait(&status), ECHILD);
	CHECK(hits == 1 && seen.si_code == CLD_EXITED && seen.si_status == 5 && seen.si_pid == pid);
	catch (SIGCHLD, on_info, SA_NOCLDSTOP | SA_RESTART);
	hits = 0;
	pid = fork();
	if (pid == 0) {
		raise(SIGSTOP);
		_exit(6);
	}
	CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) && hits == 0);
	CHECK(kill(pid, SIGCONT) == 0);
	reap_ok(pid, 6);
	CHECK(hits == 1 && seen.si_code == CLD_EXITED && seen.si_status == 6);
	pid = fork();
	if (pid == 0) {
		raise(SIGKILL);
		_exit(0);
	}
	status = reap(pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && seen.si_code == CLD_KILLED);
	puts("children as expected");
}

/* Children end by each signal that kills by default. */
static void test_deaths(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		if (sig == SIGCHLD || sig == SIGCONT || sig == SIGURG || sig == SIGWINCH || sig == SIGSTOP ||
		    sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU || (sig > SIGSYS && sig < SIGRTMIN))
			continue;
		pid_t pid = fork();
		if (pid == 0) {
			signal(sig, SIG_DFL);
			raise(sig);
			_exit(0);
		}
		int status = reap(pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == sig);
	}
	puts("every signal kills");
}

/* Ends by the given signal. */
static void test_die(int argc, char **argv)
{
	int sig = number(argc, argv, 0, SIGTERM);
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	calls("getppid", 1000, 0);
	raise(sig);
	sleep_us(1000000);
}

/* Starts a child that signals its parent whenever the parent sleeps. It makes no calls that the parent counts. */
static pid_t wake(int sig, int times)
{
	pid_t parent = getpid(), pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (; times > 0; times--, kill(parent, sig))
		while (task_state(parent) != 'S')
			poll(NULL, 0, 1);
	_exit(0);
}

/* rt_sigreturn restores a register value that looks like an error, but is not one. */
static void test_sigreturn(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	catch (SIGUSR1, on_info, 0);
	for (int i = 0; i < 500; i++)
		CHECK(kill(getpid(), SIGUSR1) == 0);
	struct timespec nap = {600, 0};
	pid_t pid = wake(SIGUSR1, 20);
	for (int i = 0; i < 20; i++)
		CHECK_FAILS(syscall(SYS_nanosleep, &nap, NULL), EINTR);
	reap_ok(pid, 0);
	CHECK(hits == 520);
	calls("rt_sigreturn", 520, 0);
	calls("nanosleep", 20, 20);
}

static volatile long ticks_seen;

static void on_tick(int sig)
{
	(void)sig;
	ticks_seen++;
}

/* Frequent timer signals during short calls: each byte arrives, and each call is counted. */
static void test_storm(int argc, char **argv)
{
	long n = number(argc, argv, 0, 20000);
	int fds[2];
	struct sigaction act = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct itimerval tick = {{0, 300}, {0, 300}}, off = {0};
	CHECK(pipe(fds) == 0 && sigaction(SIGALRM, &act, NULL) == 0 && setitimer(ITIMER_REAL, &tick, NULL) == 0);
	for (long i = 0; i < n; i++) {
		char c = (char)i, d = 0;
		struct iovec out = {&c, 1}, in = {&d, 1};
		CHECK(writev(fds[1], &out, 1) == 1 && readv(fds[0], &in, 1) == 1 && c == d);
		if (i % 100 == 99)
			ticks_seen = leave_time(&tick, ticks_seen > 200);
	}
	while (ticks_seen < 20)
		;
	CHECK(setitimer(ITIMER_REAL, &off, NULL) == 0);
	calls("writev", n, 0);
	calls("readv", n, 0);
}

static const struct test tests[] = {
	{"info", test_info},
	{"faults", test_faults},
	{"sigtrap", test_sigtrap},
	{"rt_order", test_rt_order},
	{"rt_pending", test_rt_pending},
	{"directed", test_directed},
	{"signalfd", test_signalfd},
	{"masks", test_masks},
	{"own_masks", test_own_masks},
	{"sigsys", test_sigsys},
	{"altstack", test_altstack},
	{"sigchld", test_sigchld},
	{"deaths", test_deaths},
	{"die", test_die},
	{"sigreturn", test_sigreturn},
	{"storm", test_storm},
};
TEST_MAIN(tests)
