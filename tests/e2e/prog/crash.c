/* SPDX-License-Identifier: MIT */
/* Programs for the flight recorder: one of four threads crashes, or the process ends in another way. */
#include "e2e.h"

#include <pthread.h>
#include <sched.h>

static volatile int stop_now;
static volatile int ready;

static void *caller(void *arg)
{
	(void)arg;
	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	while (!stop_now)
		syscall(SYS_getppid);
	return NULL;
}

__attribute__((noinline)) static void crash_here(int *where)
{
	*where = 1;
}

static void *crasher(void *arg)
{
	while (ready < 3)
		sched_yield();
	/* The last calls before the crash. The case finds them by their arguments. */
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getpgid, 100000 + i);
	crash_here(arg);
	return NULL;
}

/* One of four threads crashes. */
static void test_threads(int argc, char **argv)
{
	pthread_t t[4];
	(void)argc, (void)argv;
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&t[i], NULL, i < 3 ? caller : crasher, NULL) == 0);
	CHECK(pthread_join(t[3], NULL) == 0);
}

/* Makes n calls with the arguments 100000, 100001 and so on, and exits with the given status. */
static void test_exits(int argc, char **argv)
{
	int n = number(argc, argv, 1, 5000);
	for (int i = 0; i < n; i++)
		syscall(SYS_getpgid, 100000 + i);
	exit(number(argc, argv, 0, 0));
}

/* Makes calls until a signal ends the process. */
static void test_serves(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (int i = 0;; i++) {
		syscall(SYS_getpgid, 100000 + i);
		if (i == 5000)
			dprintf(1, "ready\n");
		if (i > 5000)
			sleep_us(1000);
	}
}

static const struct test tests[] = {{"threads", test_threads}, {"exits", test_exits}, {"serves", test_serves}};
TEST_MAIN(tests)
