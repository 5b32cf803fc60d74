/* SPDX-License-Identifier: MIT */
/*
 * The programs of waits.py. usage: waits CASE [FILE]
 *
 * Each case makes calls, and prints "switches N calls M ns T". N is how often the kernel has switched its threads off their
 * CPUs (getrusage(2), RUSAGE_THREAD), M is the number of calls during which it has done so at least once, and T the mean
 * CPU time of a call.
 *
 * The case `churn` makes all kinds of calls in several threads, with signals, until SIGTERM or, with a number of
 * milliseconds, until then. It exits with status 7. Without a number, it writes a byte when it is ready.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLEEPS = 1000, CALLS = 2000000, BLOCKS = 4096, BLOCK = 4096, TURNS = 5000, LARGE = 1 << 20 };

static char large[LARGE];
static const char *path;
static long made;            /* number of calls in the case */
static atomic_long switched; /* calls during which their thread was switched off its CPU */

static long switches(void)
{
	struct rusage u;
	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

#define WATCH(call)                                                                                                    \
	({                                                                                                             \
		long before_ = switches(), result_ = (call);                                                           \
		switched += switches() != before_;                                                                     \
		result_;                                                                                               \
	})

static void nap(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static long watched_nap(long us)
{
	struct timespec t = {.tv_nsec = us * 1000};
	return WATCH(nanosleep(&t, NULL));
}

static void sleeps(void)
{
	for (made = 0; made < SLEEPS; made++)
		watched_nap(100);
}

static void quick(void)
{
	for (made = 0; made < CALLS; made++)
		syscall(SYS_getppid);
}

/* Calls that take so long that almost every involuntary switch is within one of them. */
static void slow(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	for (made = 0; made < 10000; made++)
		if (WATCH(read(fd, large, LARGE)) != LARGE)
			exit(1);
	close(fd);
}

/* Reads blocks at distances that the kernel does not read ahead. */
static void blocks(bool cold)
{
	int fd = open(path, O_RDONLY);
	if (cold) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	}
	for (made = 0; made < BLOCKS; made++)
		if (WATCH(pread(fd, large, BLOCK, made * 7919 % BLOCKS * BLOCK)) != BLOCK)
			exit(1);
	close(fd);
}

static void cold(void)
{
	blocks(true);
}

static void warm(void)
{
	blocks(false);
}

static void turns(int in, int out)
{
	char c = 'x';
	for (int i = 0; i < TURNS; i++)
		if (read(in, &c, 1) != 1 || write(out, &c, 1) != 1)
			exit(1);
}

/* Two processes on one CPU send a byte back and forth. Only the parent is counted. */
static void pipes(void)
{
	int to[2], back[2];
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (pipe(to) || pipe(back))
		exit(1);
	pid_t child = fork();
	if (child == 0) {
		turns(to[0], back[1]);
		_exit(0);
	}
	if (write(to[1], "x", 1) != 1)
		exit(1);
	char c;
	for (made = 0; made < TURNS; made++)
		if (WATCH(read(back[0], &c, 1)) != 1 || (made < TURNS - 1 && WATCH(write(to[1], &c, 1)) != 1))
			exit(1);
	waitpid(child, NULL, 0);
}

static atomic_int lock; /* 0: free; 1: taken; 2: taken, and others wait (Drepper, Futexes Are Tricky) */

static void take(void)
{
	int was = 0;
	if (atomic_compare_exchange_strong(&lock, &was, 1))
		return;
	if (was != 2)
		was = atomic_exchange(&lock, 2);
	for (; was; was = atomic_exchange(&lock, 2))
		WATCH(syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0));
}

static void give(void)
{
	if (atomic_exchange(&lock, 0) == 2)
		WATCH(syscall(SYS_futex, &lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
}

static atomic_long others; /* switches of the other thread */

static void *contend(void *count)
{
	long from = switches();
	for (int i = 0; i < TURNS; i++) {
		take();
		watched_nap(10);
		give();
		WATCH(sched_yield());
	}
	if (count)
		*(atomic_long *)count = switches() - from;
	return NULL;
}

static void futexes(void)
{
	pthread_t one;
	pthread_create(&one, NULL, contend, &others);
	contend(NULL);
	pthread_join(one, NULL);
	made = 2 * TURNS;
}

static atomic_int ended;
static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	signals++;
	if (sig == SIGTERM)
		ended = 1;
	syscall(SYS_getppid);
}

static void *churns(void *seed)
{
	unsigned r = (unsigned)(size_t)seed;
	int ends[2];
	char c = 'x';
	if (pipe(ends))
		exit(1);
	while (!ended) {
		r = r * 1103515245u + 12345u;
		switch (r >> 16 & 7) {
		case 0:
			nap(r >> 20 & 63);
			break;
		case 1:
			sched_yield();
			break;
		case 2:
			if (write(ends[1], &c, 1) != 1 || read(ends[0], &c, 1) != 1)
				exit(1);
			break;
		case 3:
			munmap(mmap(NULL, BLOCK, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), BLOCK);
			break;
		case 4:
			for (unsigned n = r >> 20 & 1023; n; n--)
				r += n;
			break;
		default:
			for (int i = 0; i < 50; i++)
				syscall(SYS_getppid);
		}
	}
	return NULL;
}

static int churn(const char *ms)
{
	enum { THREADS = 3 };
	pthread_t threads[THREADS];
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	sigaction(SIGALRM, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 700}, {0, 700}}, NULL);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, churns, (void *)(i + 1));
	struct timespec from, now;
	clock_gettime(CLOCK_MONOTONIC, &from);
	if (!ms && write(1, "x", 1) != 1) /* it is ready */
		exit(1);
	while (!ended) {
		nap(1000);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (ms && (now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 >= atol(ms))
			ended = 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 7;
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {{"sleeps", sleeps}, {"quick", quick}, {"slow", slow},      {"cold", cold},
	     {"warm", warm},     {"pipes", pipes}, {"futexes", futexes}};

int main(int argc, char **argv)
{
	struct timespec begin, end;
	path = argc > 2 ? argv[2] : NULL;
	if (argc > 1 && strcmp(argv[1], "churn") == 0)
		return churn(path);
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(*cases); i++) {
		if (strcmp(cases[i].name, argv[1]) != 0)
			continue;
		memset(large, 1, sizeof(large));
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
		long from = switches();
		cases[i].run();
		long n = switches() - from + others;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
		double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
		printf("switches %ld calls %ld ns %.1f\n", n, (long)switched, ns / (double)made);
		return 0;
	}
	return 2;
}
