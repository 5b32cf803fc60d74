/* SPDX-License-Identifier: MIT */
/*
 * Starts threads that all live at the same time, and makes calls in each of them.
 *
 * usage: crowd THREADS CALLS [STACK [MALLOC [LOCK [WAIT]]]]
 *
 * STACK is the size of a thread's stack in KiB; 0 stands for the default. If MALLOC is 1, each thread allocates memory, so
 * that the C library maps an arena for it. If LOCK is 1, the process first locks all its present and future memory.
 * If WAIT is 1, the threads make their calls when the standard input ends.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_barrier_t all;
static int zero;
static long calls;
static int allocates;

static void *work(void *arg)
{
	char byte;
	void *volatile memory = allocates ? malloc(100) : NULL;
	pthread_barrier_wait(&all);
	for (long i = 0; i < calls; i++)
		if (read(zero, &byte, 1) != 1)
			abort();
	pthread_barrier_wait(&all);
	free(memory);
	return arg;
}

static long number(int argc, char **argv, int i)
{
	return i < argc ? strtol(argv[i], NULL, 10) : 0;
}

int main(int argc, char **argv)
{
	long threads = number(argc, argv, 1), stack = number(argc, argv, 3) * 1024;
	pthread_attr_t attr;
	calls = number(argc, argv, 2);
	allocates = number(argc, argv, 4) == 1;
	zero = open("/dev/zero", O_RDONLY);
	pthread_barrier_init(&all, NULL, (unsigned)threads + 1);
	pthread_attr_init(&attr);
	if (number(argc, argv, 5) == 1 && mlockall(MCL_CURRENT | MCL_FUTURE)) {
		perror("crowd: mlockall");
		return 1;
	}
	if (stack && pthread_attr_setstacksize(&attr, (size_t)(stack < PTHREAD_STACK_MIN ? PTHREAD_STACK_MIN : stack)))
		return 1;
	pthread_t *all_threads = calloc((size_t)threads, sizeof(*all_threads));
	for (long i = 0; i < threads; i++) {
		int error = pthread_create(&all_threads[i], &attr, work, NULL);
		if (error) {
			fprintf(stderr, "crowd: thread %ld of %ld cannot be created: error %d\n", i + 1, threads,
				error);
			return 1;
		}
	}
	while (number(argc, argv, 6) == 1 && getchar() != EOF)
		;
	pthread_barrier_wait(&all);
	pthread_barrier_wait(&all);
	for (long i = 0; i < threads; i++)
		pthread_join(all_threads[i], NULL);
	return 0;
}
