/* SPDX-License-Identifier: MIT */
/*
 * Each thread notes each call in a shared file, before and after the call. A trace must agree with that file, whenever
 * the program is killed. usage: tally FILE THREADS [ROUNDS [PERIOD]]. With ROUNDS, each thread makes that many rounds of three
 * calls, and then the program ends. With PERIOD, a signal with a handler comes each PERIOD microseconds.
 */
#include "e2e.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>

struct row {
	uint64_t tid, begun, done;
};

static struct row *rows;

static void *call_for_ever(void *at)
{
	struct row *r = at;
	__atomic_store_n(&r->tid, (uint64_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	for (;;) {
		__atomic_add_fetch(&r->begun, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_getppid);
		__atomic_add_fetch(&r->done, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static long rounds;

static void on_signal(int sig)
{
	(void)sig;
}

static void *call_in_rounds(void *at)
{
	(void)at;
	for (long i = 0; i < rounds; i++) {
		syscall(SYS_getppid);
		syscall(SYS_getpgid, 0);
		syscall(SYS_kill, 0x7fffffff, 0); /* there is no such process */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	CHECK(argc >= 3 && argc <= 5);
	int n = atoi(argv[2]);
	rounds = argc > 3 ? atol(argv[3]) : 0;
	void *(*run)(void *) = rounds ? call_in_rounds : call_for_ever;
	pthread_t threads[64];
	CHECK(n <= 64 && signal(SIGUSR1, on_signal) != SIG_ERR);
	int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
	rows = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(rows != MAP_FAILED);
	struct itimerval timer = {.it_interval.tv_usec = argc > 4 ? atol(argv[4]) : 0};
	timer.it_value = timer.it_interval;
	CHECK(signal(SIGALRM, on_signal) != SIG_ERR && setitimer(ITIMER_REAL, &timer, NULL) == 0);
	for (int i = 1; i < n; i++)
		CHECK(pthread_create(&threads[i], NULL, run, &rows[i]) == 0);
	run(&rows[0]);
	for (int i = 1; i < n; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	return 0;
}
