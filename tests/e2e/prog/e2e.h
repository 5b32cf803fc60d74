/* SPDX-License-Identifier: MIT */
/*
 * Code that the traced test programs share. A program is a table of small tests and runs one of them by name. The
 * program exits with 0 only if everything behaved as without a tracer. calls() prints how often the test made a certain
 * call, which no other code of the program makes.
 */
#ifndef SCTRACE_TESTS_E2E_H
#define SCTRACE_TESTS_E2E_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * If the condition is false, prints the place and ends the program with status 99. Async-signal-safe enough for tests:
 * dprintf() with simple conversions.
 */
#define CHECK(what)                                                                                                    \
	do {                                                                                                           \
		errno = 0;                                                                                             \
		if (!(what)) {                                                                                         \
			dprintf(2, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #what, errno);                \
			_exit(99);                                                                                     \
		}                                                                                                      \
	} while (0)

/* A call that must fail with `err`. */
#define CHECK_FAILS(what, err) CHECK((what) == -1 && errno == (err))

struct test {
	const char *name;
	void (*run)(int argc, char **argv); /* the arguments after the test's name */
};

/* argv[i] as a number, or `otherwise`. */
static inline int number(int argc, char **argv, int i, int otherwise)
{
	return i < argc ? atoi(argv[i]) : otherwise;
}

/* 4096, or more on some machines with aarch64. Makes no call. */
static inline long page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/* The call that vfork(3) makes. */
#ifdef SYS_vfork
#define VFORK "vfork"
#else
#define VFORK "clone"
#endif

/* Prints a line for the test runner: the row `name` of -c must show exactly these numbers. */
static inline void calls(const char *name, long n, long errors)
{
	dprintf(1, "calls %s %ld %ld\n", name, n, errors);
}

/* Waits for a child and returns its status. */
static inline int reap(pid_t pid)
{
	int status;
	pid_t got;
	do
		got = waitpid(pid, &status, __WALL);
	while (got == -1 && errno == EINTR);
	CHECK(got == pid);
	return status;
}

/* Waits for a child that must end with `code`. */
static inline void reap_ok(pid_t pid, int code)
{
	int status = reap(pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
		dprintf(2, "child ended with status 0x%x\n", status);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == code);
}

static inline void sleep_us(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};
	while (nanosleep(&t, &t) == -1 && errno == EINTR)
		;
}

/*
 * If a timer expires faster than the program handles its signals (`too_many`), as on an emulated machine, halves the
 * rate of `tick`. Returns 0.
 */
static inline long leave_time(struct itimerval *tick, bool too_many)
{
	if (too_many) {
		tick->it_value.tv_usec = tick->it_interval.tv_usec *= 2;
		CHECK(setitimer(ITIMER_REAL, tick, NULL) == 0);
	}
	return 0;
}

/*
 * The state letter of a thread or process in /proc (a traced stop shows as 't' instead of 'T'). 0 means that the task
 * does not exist any more.
 */
static inline char task_state(pid_t tid)
{
	char path[64], line[512] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return 0;
	fgets(line, sizeof line, f);
	fclose(f);
	char *after = strrchr(line, ')');
	return after != NULL ? after[2] : 0;
}

/*
 * Waits until the task sleeps, which means that it is blocked in a call, or until it is a zombie. The caller learns
 * which of the two when it waits for the task.
 */
static inline void until_asleep(pid_t tid)
{
	for (int i = 0; i < 60000; i++) {
		char s = task_state(tid);
		if (s == 'S' || s == 'Z')
			return;
		CHECK(s != 0);
		sleep_us(1000);
	}
	CHECK(!"asleep within a minute");
}

static inline int run_test(const struct test *tests, size_t n, int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < n; i++)
		if (strcmp(argv[1], tests[i].name) == 0) {
			tests[i].run(argc - 2, argv + 2);
			return 0;
		}
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "%s\n", tests[i].name);
	return 2;
}

#define TEST_MAIN(tests)                                                                                               \
	int main(int argc, char **argv)                                                                                \
	{                                                                                                              \
		return run_test(tests, sizeof(tests) / sizeof(*(tests)), argc, argv);                                  \
	}

#endif
