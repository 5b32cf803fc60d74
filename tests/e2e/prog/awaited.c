/* SPDX-License-Identifier: MIT */
/*
 * awaited N: the vfork(2) children of N threads wait for the main thread, which waits for SIGTERM.
 * awaited N all: the main thread waits for a vfork(2) child as well, and this child waits for SIGTERM.
 */
#include "e2e.h"

#include <pthread.h>
#include <stdatomic.h>

static volatile sig_atomic_t stop_now;
static atomic_int begun;
static int go[2];

static void on_term(int sig)
{
	(void)sig;
	stop_now = 1;
}

static void *wait_by_child(void *arg)
{
	(void)arg;
	pid_t pid = vfork();
	if (pid == 0) {
		char c;
		begun++; /* the memory is the parent's */
		_exit(read(go[0], &c, 1) != 1);
	}
	reap_ok(pid, 0);
	return NULL;
}

int main(int argc, char **argv)
{
	static int n; /* static, because vfork(2) might change variables in registers */
	static bool all;
	n = number(argc, argv, 1, 4);
	all = argc > 2;
	pthread_t t[1000];
	CHECK(n <= 1000 && pipe(go) == 0);
	signal(SIGTERM, on_term);
	for (int i = 0; i < n; i++)
		CHECK(pthread_create(&t[i], NULL, wait_by_child, NULL) == 0);
	while (begun < n)
		sleep_us(1000);
	CHECK(write(1, "ready\n", 6) == 6);
	pid_t child = all ? vfork() : 0;
	if (child == 0) {
		while (!stop_now)
			sleep_us(1000);
		for (int i = 0; i < n; i++)
			CHECK(write(go[1], "", 1) == 1);
		if (all)
			_exit(0);
	} else
		reap_ok(child, 0);
	for (int i = 0; i < n; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	puts("ended by itself");
	return 0;
}
