/* SPDX-License-Identifier: MIT */
/*
 * The program can use SIGSYS freely, although an engine raises it for calls. Tests its action, mask and siginfo,
 * pending, blocked and ignored signals, before, while and after a tracer is attached.
 */
#include "e2e.h"

#include <signal.h>
#include <spawn.h>

static volatile sig_atomic_t hits, last_code;
static sigset_t seen_mask;
static volatile pid_t child;

/* Makes a call at a new call site. */
#define FRESH_CALL() __asm__ volatile("syscall" ::"a"(SYS_getppid) : "rcx", "r11", "memory")

static void on_signal(int sig, siginfo_t *si, void *context)
{
	(void)sig;
	(void)context;
#ifdef __x86_64__
	FRESH_CALL();
	FRESH_CALL();
#endif
	CHECK(sigprocmask(SIG_BLOCK, NULL, &seen_mask) == 0);
	last_code = si->si_code;
	hits++;
}

/* A child that is forked in a handler also returns from this handler. */
static void on_signal_fork(int sig, siginfo_t *si, void *context)
{
	(void)sig;
	(void)si;
	(void)context;
	child = fork();
}

static void set_handler(int sig, int flags, int also)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};
	sigemptyset(&sa.sa_mask);
	if (also)
		sigaddset(&sa.sa_mask, also);
	CHECK(sigaction(sig, &sa, NULL) == 0);
}

static bool is_ignored(void)
{
	struct sigaction sa;
	CHECK(sigaction(SIGSYS, NULL, &sa) == 0);
	return sa.sa_handler == SIG_IGN;
}

static void block(int how)
{
	sigset_t m;
	sigemptyset(&m);
	sigaddset(&m, SIGSYS);
	CHECK(sigprocmask(how, &m, NULL) == 0);
}

/* Raises SIGSYS before and after it is blocked, ignored, and unblocked again, in 32 orders. */
static void go_through(int steps)
{
	set_handler(SIGSYS, 0, 0);
	if (steps & 1)
		raise(SIGSYS);
	if (steps & 2)
		block(SIG_BLOCK);
	if (steps & 4)
		raise(SIGSYS);
	CHECK(hits == (steps & 1) + (steps & 4 && !(steps & 2)));
	signal(SIGSYS, SIG_IGN);
	if (steps & 8)
		raise(SIGSYS);
	CHECK(is_ignored());
	if (steps & 16)
		block(SIG_UNBLOCK);
	raise(SIGSYS);
	CHECK(is_ignored() && hits == (steps & 1) + (steps & 4 && !(steps & 2)));
	_exit(7);
}

static void test_states(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int steps = 0; steps < 32; steps++) {
		pid_t pid = fork();
		if (pid == 0)
			go_through(steps);
		reap_ok(pid, 7);
	}
	sigset_t all, pending;
	set_handler(SIGSYS, 0, 0);
	sigfillset(&all);
	CHECK(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
	CHECK(raise(SIGSYS) == 0 && hits == 0);
	CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGSYS));
	block(SIG_UNBLOCK);
	CHECK(hits == 1);
}

static void expect_mask(int a, int b)
{
	for (int sig = 1; sig < NSIG; sig++)
		CHECK(sig == 32 || sig == 33 || sigismember(&seen_mask, sig) == (sig == a || sig == b));
}

/*
 * SIGSYS is blocked in its own handler, except with SA_NODEFER, and in handlers that block it. SA_RESETHAND resets its
 * action.
 */
static void test_handlers(int argc, char **argv)
{
	struct sigaction sa;
	(void)argc;
	(void)argv;
	for (int i = 0; i < 5; i++) {
		set_handler(SIGSYS, 0, SIGHUP);
		CHECK(raise(SIGSYS) == 0);
		expect_mask(SIGSYS, SIGHUP);
		set_handler(SIGSYS, SA_NODEFER, SIGHUP);
		CHECK(raise(SIGSYS) == 0);
		expect_mask(SIGHUP, SIGHUP);
		set_handler(SIGUSR1, 0, SIGSYS);
		CHECK(raise(SIGUSR1) == 0);
		expect_mask(SIGUSR1, SIGSYS);
		set_handler(SIGUSR1, 0, SIGHUP);
		CHECK(raise(SIGUSR1) == 0);
		expect_mask(SIGUSR1, SIGHUP);
		set_handler(SIGSYS, SA_RESETHAND, 0);
		CHECK(raise(SIGSYS) == 0 && sigaction(SIGSYS, NULL, &sa) == 0 && sa.sa_handler == SIG_DFL);
	}
	CHECK(hits == 25);
	pid_t pid = fork();
	if (pid == 0)
		raise(SIGSYS);
	int status = reap(pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

/* Sets a handler for SIGSYS, and then handlers for other signals, as the runtime of Go does. */
static void test_others(int argc, char **argv)
{
	set_handler(SIGSYS, 0, 0);
	for (int i = argc > 0 ? atoi(argv[0]) : 5; i > 0; i--) {
		set_handler(SIGUSR1, 0, i % 2 ? SIGHUP : SIGINT);
		CHECK(raise(SIGUSR1) == 0);
		expect_mask(SIGUSR1, i % 2 ? SIGHUP : SIGINT);
		for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
			set_handler(sig, 0, 0);
	}
}

/* After calls at new call sites, SIGSYS must be blocked or unblocked as before. */
__attribute__((always_inline)) static inline void check_mask(bool blocked)
{
	sigset_t mask;
#ifdef __x86_64__
	FRESH_CALL();
#endif
	CHECK(sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGSYS) == blocked);
}

/*
 * A handler of the parent blocks SIGSYS and creates a child. SIGSYS is unblocked when the child returns from that
 * handler.
 */
static void test_child_in_handler(int argc, char **argv)
{
	struct sigaction sa = {.sa_sigaction = on_signal_fork, .sa_flags = SA_SIGINFO};
	(void)argc;
	(void)argv;
	sigaddset(&sa.sa_mask, SIGSYS);
	CHECK(sigaction(SIGUSR1, &sa, NULL) == 0);
	for (int i = 0; i < 3; i++) {
		CHECK(raise(SIGUSR1) == 0);
		check_mask(false);
		if (child == 0)
			_exit(7);
		reap_ok(child, 7);
	}
}

static void on_signal_block(int sig)
{
	(void)sig;
	block(SIG_BLOCK);
}

static void on_signal_unblock(int sig)
{
	(void)sig;
	block(SIG_UNBLOCK);
}

/* If a handler itself blocks or unblocks signals, the old mask is restored when it returns. */
static void test_blocked_in_handler(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 3; i++) {
		CHECK(signal(SIGUSR1, on_signal_block) != SIG_ERR && raise(SIGUSR1) == 0);
		check_mask(false);
		block(SIG_BLOCK);
		CHECK(signal(SIGUSR1, on_signal_unblock) != SIG_ERR && raise(SIGUSR1) == 0);
		check_mask(true);
		block(SIG_UNBLOCK);
	}
}

static void spawn_child(void)
{
	char *args[] = {"sigsys", "nothing", is_ignored() ? "ignored" : NULL, NULL};
	pid_t pid;
	CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, environ) == 0);
	reap_ok(pid, 0);
}

/* The new program of spawn_child() and exec_child(): with an argument, SIGSYS must be ignored. */
static void test_nothing(int argc, char **argv)
{
	(void)argv;
	CHECK(is_ignored() == (argc > 0));
}

static void exec_child(void)
{
	char *args[] = {"sigsys", "nothing", is_ignored() ? "ignored" : NULL, NULL};
	pid_t pid = fork();
	if (pid == 0) {
		CHECK_FAILS(execve("/nonexistent/program", args, environ), ENOENT);
		execve("/proc/self/exe", args, environ);
		_exit(1);
	}
	reap_ok(pid, 0);
}

/*
 * A child of posix_spawn(3) runs in its parent's memory and resets its own handlers. The parent's action stays, even if
 * a call is made while all signals are blocked.
 */
static void test_spawned(int argc, char **argv)
{
	sigset_t all, old;
	(void)argc;
	(void)argv;
	set_handler(SIGSYS, 0, 0);
	spawn_child();
	sigfillset(&all);
	CHECK(sigprocmask(SIG_SETMASK, &all, &old) == 0);
#ifdef __x86_64__
	FRESH_CALL();
#endif
	CHECK(sigprocmask(SIG_SETMASK, &old, NULL) == 0);
	CHECK(raise(SIGSYS) == 0 && hits == 1);
}

/* A program may send itself any siginfo, even that of a dispatched call (rt_sigqueueinfo(2)). */
static void test_forged(int argc, char **argv)
{
	siginfo_t si = {.si_signo = SIGSYS, .si_code = 2 /* SYS_USER_DISPATCH */};
	(void)argc;
	(void)argv;
	set_handler(SIGSYS, 0, 0);
	for (int i = 1; i < 10; i++) {
		CHECK(syscall(SYS_rt_sigqueueinfo, getpid(), SIGSYS, &si) == 0);
		CHECK(hits == i && last_code == 2);
	}
}

static void again_ignoring(int sig, const char *name)
{
	signal(sig, SIG_IGN);
	execl("/proc/self/exe", "sigsys", "inherited", name, (char *)NULL);
	CHECK(!"exec");
}

/*
 * A signal that is ignored at the start stays ignored after execve(2), even SIGTRAP, which a tracer's breakpoints
 * raise.
 */
static void test_inherited(int argc, char **argv)
{
	struct sigaction sa;
	if (argc == 0) {
		pid_t pid = fork();
		if (pid == 0)
			again_ignoring(SIGTRAP, "TRAP");
		reap_ok(pid, 0);
		return;
	}
	CHECK(sigaction(SIGTRAP, NULL, &sa) == 0);
	if (strcmp(argv[0], "TRAP") == 0) {
		CHECK(sa.sa_handler == SIG_IGN && raise(SIGTRAP) == 0);
		signal(SIGTRAP, SIG_DFL);
		again_ignoring(SIGSYS, "SYS");
	}
	for (int i = 0; i < 5; i++) {
#ifdef __x86_64__
		FRESH_CALL();
#endif
		CHECK(is_ignored() && raise(SIGSYS) == 0);
	}
	pid_t pid = fork();
	if (pid == 0)
		_exit(is_ignored() && raise(SIGSYS) == 0 ? 7 : 1);
	reap_ok(pid, 7);
	set_handler(SIGSYS, 0, 0);
	CHECK(raise(SIGSYS) == 0 && hits == 1);
}

/*
 * --- a tracer attaches and detaches; each byte of standard input starts a round; the action is "handler", "default" or
 * "ignored" ---
 */

static void check_own(bool handler, bool ignored)
{
	struct sigaction sa;
	int before = hits;
	CHECK(sigaction(SIGSYS, NULL, &sa) == 0);
	CHECK(handler ? sa.sa_sigaction == on_signal : sa.sa_handler == (ignored ? SIG_IGN : SIG_DFL));
	CHECK(!handler ||
	      (sigismember(&sa.sa_mask, SIGHUP) && (sa.sa_flags & ~0x4000000) == (SA_SIGINFO | SA_RESTART)));
	spawn_child();
	exec_child();
	if (ignored)
		CHECK(raise(SIGSYS) == 0 && raise(SIGTRAP) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		raise(SIGSYS);
		_exit(hits);
	}
	int status = reap(pid);
	if (handler || ignored)
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == hits + handler);
	else
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	if (handler) {
		CHECK(raise(SIGSYS) == 0 && hits == before + 1 && last_code == SI_TKILL);
		expect_mask(SIGSYS, SIGHUP);
	}
}

/*
 * SIGTRAP is ignored, which execve(2) and fork(2) keep. An int3 of an engine would change that. The first process executes
 * this program again.
 */
static void test_no_traps(int argc, char **argv)
{
	char *args[] = {"sigsys", "no_traps", "again", NULL};
	struct sigaction sa;
	(void)argv;
	if (argc == 0) {
		CHECK(signal(SIGTRAP, SIG_IGN) == SIG_DFL);
		execve("/proc/self/exe", args, environ);
		CHECK(false);
	}
	CHECK(raise(SIGTRAP) == 0);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			syscall(SYS_getppid);
			CHECK(raise(SIGTRAP) == 0 && sigaction(SIGTRAP, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN);
			_exit(0);
		}
		reap_ok(pid, 0);
	}
	CHECK(sigaction(SIGTRAP, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN);
	calls("getppid", 3, 0);
}

static void test_attached(int argc, char **argv)
{
	char c;
	struct sigaction old;
	bool handler = argc > 0 && strcmp(argv[0], "handler") == 0;
	bool ignored = argc > 0 && strcmp(argv[0], "ignored") == 0;
	if (handler)
		set_handler(SIGSYS, SA_RESTART, SIGHUP);
	if (ignored)
		CHECK(signal(SIGSYS, SIG_IGN) == SIG_DFL && signal(SIGTRAP, SIG_IGN) == SIG_DFL);
	dprintf(1, "ready\n");
	while (read(0, &c, 1) == 1) {
		check_own(handler, ignored);
		if (c == 's') { /* the program sets an action itself, and checks the former one */
			struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
			sigaddset(&sa.sa_mask, SIGHUP);
			CHECK(sigaction(SIGSYS, &sa, &old) == 0);
			CHECK(handler ? old.sa_sigaction == on_signal
				      : old.sa_handler == (ignored ? SIG_IGN : SIG_DFL));
			handler = true;
			ignored = false;
			check_own(handler, ignored);
		}
		dprintf(1, "checked\n");
	}
}

#ifdef __x86_64__
/* Functions of eight bytes each, with a call site in each. */
void fresh_calls(void);
__asm__(".text\n.p2align 4\nfresh_calls: .rept 16\n mov $110, %eax; syscall; ret\n .endr");
#endif

static void expect_same_mask(const sigset_t *want)
{
	static int n;
	sigset_t is;
	CHECK(n < 16);
#ifdef __x86_64__
	CHECK(((long (*)(void))(uintptr_t)((char *)(uintptr_t)fresh_calls + 8 * n++))() == getppid());
#endif
	CHECK(sigprocmask(SIG_BLOCK, NULL, &is) == 0);
	for (int sig = 1; sig < NSIG; sig++)
		CHECK(sig == SIGKILL || sig == SIGSTOP || sigismember(&is, sig) == sigismember(want, sig));
}

/*
 * Masks of nearly all signals, with and without SIGSYS. A mask of all signals but SIGSYS is not tried: the patch engine
 * takes it for one of all signals.
 */
static void test_nearly_all(int argc, char **argv)
{
	const int synchronous[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	sigset_t all, set;
	(void)argc;
	(void)argv;
	sigfillset(&all);
	CHECK(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
	expect_same_mask(&all);
	set = all;
	sigdelset(&set, SIGSYS);
	for (size_t i = 0; i < sizeof synchronous / sizeof *synchronous; i++) {
		sigset_t one = all;
		sigdelset(&set, synchronous[i]);
		sigdelset(&one, synchronous[i]);
		CHECK(sigprocmask(SIG_SETMASK, &set, NULL) == 0);
		expect_same_mask(&set);
		CHECK(sigprocmask(SIG_SETMASK, &one, NULL) == 0);
		expect_same_mask(&one);
	}
	puts("the masks are as they were set");
}

static const struct test tests[] = {
	{"nearly_all", test_nearly_all},
	{"states", test_states},
	{"handlers", test_handlers},
	{"others", test_others},
	{"child_in_handler", test_child_in_handler},
	{"blocked_in_handler", test_blocked_in_handler},
	{"forged", test_forged},
	{"inherited", test_inherited},
	{"nothing", test_nothing},
	{"spawned", test_spawned},
	{"attached", test_attached},
	{"no_traps", test_no_traps},
};
TEST_MAIN(tests)
