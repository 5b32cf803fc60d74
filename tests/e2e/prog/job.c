/* SPDX-License-Identifier: MIT */
/* Job control: signals stop and continue processes, and the parent and the terminal see this. */
#include "e2e.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

/* Receives SIGCHLD, and checks its code and status. */
static void check_sigchld(pid_t pid, int code, int status)
{
	sigset_t set;
	siginfo_t info;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	while (sigwaitinfo(&set, &info) == -1)
		CHECK(errno == EINTR);
	CHECK(info.si_pid == pid && info.si_code == code && info.si_status == status);
}

static void wait_for(pid_t pid, int option, int code, int status)
{
	siginfo_t info = {0};
	int r;
	do
		r = waitid(P_PID, pid, &info, option);
	while (r == -1 && errno == EINTR);
	CHECK(r == 0 && info.si_pid == pid && info.si_code == code && info.si_status == status);
}

/* The parent sees each of hundreds of SIGSTOPs and SIGCONTs. */
static void test_stop(int argc, char **argv)
{
	int n = number(argc, argv, 0, 300), sig = number(argc, argv, 1, SIGSTOP);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			syscall(SYS_getppid);
	if (sig == SIGTTIN || sig == SIGTSTP || sig == SIGTTOU)
		setpgid(pid, pid);
	for (int i = 0; i < n; i++) {
		CHECK(kill(pid, sig) == 0);
		check_sigchld(pid, CLD_STOPPED, sig);
		wait_for(pid, WSTOPPED, CLD_STOPPED, sig);
		CHECK(kill(pid, SIGCONT) == 0);
		check_sigchld(pid, CLD_CONTINUED, SIGCONT);
		wait_for(pid, WCONTINUED, CLD_CONTINUED, SIGCONT);
	}
	CHECK(kill(pid, SIGKILL) == 0);
	wait_for(pid, WEXITED, CLD_KILLED, SIGKILL);
	check_sigchld(pid, CLD_KILLED, SIGKILL);
	puts("every stop seen");
}

#define THREADS 8
static volatile long *beats;

/*
 * The threads pause between their calls. Otherwise the case takes as long as the tracer needs for millions of calls, which
 * under a sanitizer and beside other programs is minutes.
 */
__attribute__((noreturn)) static void *beat(void *arg)
{
	for (;;) {
		beats[(intptr_t)arg]++;
		syscall(SYS_getppid);
		for (volatile int pause = 200000; pause > 0; pause--)
			;
	}
}

/* SIGSTOP stops every thread, and SIGCONT continues every thread. */
static void test_threads(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	beats = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(beats != MAP_FAILED);
	pid_t pid = fork();
	if (pid == 0) {
		pthread_t t;
		for (intptr_t i = 1; i < THREADS; i++)
			CHECK(pthread_create(&t, NULL, beat, (void *)i) == 0);
		beat(NULL);
	}
	for (int round = 0; round < 20; round++) {
		long then[THREADS];
		for (int i = 0; i < THREADS; i++) {
			long from = beats[i];
			while (beats[i] == from)
				sleep_us(200);
		}
		CHECK(kill(pid, SIGSTOP) == 0);
		wait_for(pid, WSTOPPED, CLD_STOPPED, SIGSTOP);
		for (int i = 0; i < THREADS; i++)
			then[i] = beats[i];
		sleep_us(5000);
		for (int i = 0; i < THREADS; i++)
			CHECK(beats[i] == then[i]);
		CHECK(kill(pid, SIGCONT) == 0);
		wait_for(pid, WCONTINUED, CLD_CONTINUED, SIGCONT);
	}
	CHECK(kill(pid, SIGKILL) == 0);
	wait_for(pid, WEXITED, CLD_KILLED, SIGKILL);
	puts("all threads stop");
}

static volatile sig_atomic_t conts;

static void on_cont(int sig)
{
	(void)sig;
	conts++;
}

static void on_tstp(int sig)
{
	(void)sig;
	raise(SIGSTOP);
}

/* A handler for SIGTSTP stops the process, another handler runs on SIGCONT, and SIGKILL ends the stopped process. */
static void test_handlers(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int round = 0; round < 30; round++) {
		int ready[2];
		char c;
		CHECK(pipe(ready) == 0);
		pid_t pid = fork();
		if (pid == 0) {
			signal(SIGTSTP, on_tstp);
			signal(SIGCONT, on_cont);
			CHECK(write(ready[1], "", 1) == 1);
			while (conts == 0)
				syscall(SYS_getppid);
			_exit(conts);
		}
		CHECK(read(ready[0], &c, 1) == 1);
		close(ready[0]);
		close(ready[1]);
		CHECK(kill(pid, SIGTSTP) == 0);
		wait_for(pid, WSTOPPED, CLD_STOPPED, SIGSTOP);
		if (round % 2 == 0) {
			CHECK(kill(pid, SIGCONT) == 0);
			wait_for(pid, WEXITED, CLD_EXITED, 1);
		} else {
			CHECK(kill(pid, SIGKILL) == 0);
			wait_for(pid, WEXITED, CLD_KILLED, SIGKILL);
		}
	}
	puts("stopped by hand");
}

/* A process stops itself, and its parent continues it. Signals sent while it was stopped arrive afterwards. */
static void test_pending(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int round = 0; round < 30; round++) {
		pid_t pid = fork();
		if (pid == 0) {
			signal(SIGUSR1, on_cont);
			raise(SIGSTOP);
			_exit(conts);
		}
		wait_for(pid, WSTOPPED, CLD_STOPPED, SIGSTOP);
		CHECK(kill(pid, SIGUSR1) == 0);
		sleep_us(1000);
		siginfo_t info = {0};
		CHECK(waitid(P_PID, pid, &info, WEXITED | WNOHANG) == 0 && info.si_pid == 0);
		CHECK(kill(pid, SIGCONT) == 0);
		wait_for(pid, WEXITED, CLD_EXITED, 1);
	}
	puts("held until continued");
}

/* As in a shell: a background job reads the terminal, stops, is brought to the foreground, and ends. */
static void test_terminal(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	pid_t shell = fork();
	if (shell == 0) {
		CHECK(setsid() >= 0);
		int tty = open(ptsname(master), O_RDWR);
		CHECK(tty >= 0);
		signal(SIGTTOU, SIG_IGN);
		CHECK(tcgetpgrp(tty) == getpgrp());
		pid_t job = fork();
		if (job == 0) {
			char line[8];
			CHECK(setpgid(0, 0) == 0);
			signal(SIGTTOU, SIG_DFL);
			CHECK(read(tty, line, sizeof line) == 3 && memcmp(line, "ok\n", 3) == 0);
			_exit(tcgetpgrp(tty) == getpgrp() ? 4 : 5);
		}
		setpgid(job, job);
		wait_for(job, WSTOPPED, CLD_STOPPED, SIGTTIN);
		CHECK(tcsetpgrp(tty, job) == 0);
		CHECK(kill(-job, SIGCONT) == 0);
		wait_for(job, WCONTINUED, CLD_CONTINUED, SIGCONT);
		CHECK(write(master, "ok\n", 3) == 3);
		wait_for(job, WEXITED, CLD_EXITED, 4);
		CHECK(tcsetpgrp(tty, getpgrp()) == 0);
		_exit(0);
	}
	reap_ok(shell, 0);
	puts("a job comes to the front");
}

static const struct test tests[] = {
	{"stop", test_stop},       {"threads", test_threads},   {"handlers", test_handlers},
	{"pending", test_pending}, {"terminal", test_terminal},
};
TEST_MAIN(tests)
