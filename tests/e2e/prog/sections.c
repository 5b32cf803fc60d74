/* SPDX-License-Identifier: MIT */
/*
 * Uses restartable sequences (rseq(2)) as librseq and tcmalloc do, and in ways that natively fail: sctrace finds out by
 * rseq_cs whether a call has waited, and the program must not notice that.
 */
#include "e2e.h"

#include <asm/prctl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

#define SIGNATURE 0x53053053 /* of the C library on x86 */

struct area {
	uint32_t cpu_id_start, cpu_id;
	volatile uint64_t cs;
	uint32_t flags, node, mm_cid, pad;
} __attribute__((aligned(32)));

static struct section {
	uint32_t version, flags;
	uint64_t start, length, abort;
} section __attribute__((aligned(32))) = {.length = 1};
static const uint32_t abort_at[2] = {SIGNATURE, 0};

static struct area *area(void)
{
	return (struct area *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* A stale pointer to a section of the program stays until the thread loses its CPU, and nothing else appears. */
static void stale(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	section.start = (uint64_t)(uintptr_t)&section;
	section.abort = (uint64_t)(uintptr_t)(abort_at + 1);
	for (int i = 0; i < 200; i++) {
		area()->cs = (uint64_t)(uintptr_t)&section;
		for (int k = 0; k < 20; k++) {
			syscall(SYS_getppid);
			uint64_t now = area()->cs;
			CHECK(now == 0 || now == (uint64_t)(uintptr_t)&section);
		}
		area()->cs = (uint64_t)(uintptr_t)&section;
		pause_shortly();
		CHECK(area()->cs == 0);
	}
}

/* The kernel kills a program whose rseq_cs is rubbish. */
static void rubbish(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	area()->cs = 0x1000;
	for (int i = 0; i < 1000; i++)
		pause_shortly();
}

/* The program registers an area of its own, at another distance from the fs base and with another signature. */
static void own(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	static struct area mine = {.cpu_id = (uint32_t)-1};
	CHECK(syscall(SYS_rseq, area(), __rseq_size < 32 ? 32 : __rseq_size, 1 /* unregister */, SIGNATURE) == 0);
	for (int i = 0; i < 20; i++)
		pause_shortly();
	CHECK(syscall(SYS_rseq, &mine, 32, 0, 0x12345678) == 0);
	for (int i = 0; i < 200; i++) {
		pause_shortly();
		CHECK(mine.cs == 0 && (int32_t)mine.cpu_id >= 0);
	}
	CHECK(syscall(SYS_rseq, &mine, 32, 1, 0x12345678) == 0);
}

static long call(long nr, long a, long b)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "0"(nr), "D"(a), "S"(b) : "rcx", "r11", "memory");
	return result;
}

/* The thread gets another fs base for a while, as in emulators. There is no memory after the two words of its block. */
__attribute__((optimize("no-stack-protector"))) static void other_base(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	static struct timespec shortly = {.tv_nsec = 100000};
	unsigned long before;
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(munmap(pages + 4096, 4096) == 0);
	CHECK(call(SYS_arch_prctl, ARCH_GET_FS, (long)&before) == 0);
	for (int i = 0; i < 100; i++) {
		call(SYS_arch_prctl, ARCH_SET_FS, (long)(pages + 4096 - 64));
		call(SYS_getppid, 0, 0);
		call(SYS_nanosleep, (long)&shortly, 0);
		call(SYS_arch_prctl, ARCH_SET_FS, (long)before);
	}
	for (int i = 0; i < 64; i++)
		CHECK(pages[4096 - 64 + i] == 0);
}

static sigjmp_buf out;

static void leave(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

/* A handler leaves a call that waits. */
static void jumps(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	struct itimerval soon = {.it_value = {.tv_usec = 500}};
	volatile int left = 0;
	signal(SIGALRM, leave);
	for (volatile int i = 0; i < 50; i++)
		if (sigsetjmp(out, 1) == 0) {
			setitimer(ITIMER_REAL, &soon, NULL);
			for (;;)
				pause();
		} else {
			left++;
			pause_shortly();
		}
	printf("%d jumps\n", left);
}

static void *sleeper(void *arg)
{
	for (int i = 0; i < 20; i++)
		pause_shortly();
	return arg;
}

/* Threads, and children of fork(2) and vfork(2), each with calls that wait. */
static void births(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 20; i++) {
		pthread_t t;
		int status;
		CHECK(pthread_create(&t, NULL, sleeper, NULL) == 0 && pthread_join(t, NULL) == 0);
		pid_t pid = fork();
		if (pid == 0) {
			sleeper(NULL);
			_exit(3);
		}
		CHECK(waitpid(pid, &status, 0) == pid && status == 3 << 8);
		pid = vfork();
		if (pid == 0) {
			pause_shortly();
			execl("/bin/true", "true", (char *)NULL);
			_exit(4);
		}
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		pause_shortly();
	}
}

static void sleeps(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	struct rusage before, after;
	getrusage(RUSAGE_THREAD, &before);
	for (int i = 0; i < 500; i++)
		pause_shortly();
	for (int i = 0; i < 20000; i++)
		syscall(SYS_getppid);
	getrusage(RUSAGE_THREAD, &after);
	printf("switches %ld\n", after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw);
}

static const struct test tests[] = {
	{"stale", stale}, {"rubbish", rubbish}, {"own", own},       {"base", other_base},
	{"jumps", jumps}, {"births", births},   {"sleeps", sleeps},
};
TEST_MAIN(tests)
