/* SPDX-License-Identifier: MIT */
/*
 * Uses restartable sequences (rseq(2)) as librseq and tcmalloc do, and in ways that natively fail: sctrace finds out by
 * rseq_cs whether a call has waited, and the program must not notice that.
 */
#include "e2e.h"

#ifdef __x86_64__
#include <asm/prctl.h>
#endif
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

/* Of the C library. */
#ifdef __x86_64__
#define SIGNATURE 0x53053053
#else
#define SIGNATURE 0xd428bc00
#endif

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

static long switches(void)
{
	struct rusage now;
	getrusage(RUSAGE_THREAD, &now);
	return now.ru_nvcsw + now.ru_nivcsw;
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
		long before;
		do { /* a slow processor does not give up the CPU before the time is over */
			area()->cs = (uint64_t)(uintptr_t)&section;
			before = switches();
			pause_shortly();
		} while (switches() == before);
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

static struct timespec shortly = {.tv_nsec = 100000};

/* Makes calls with another thread pointer: the fs base or TPIDR_EL0. */
#ifdef __x86_64__
static long call(long nr, long a, long b)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "0"(nr), "D"(a), "S"(b) : "rcx", "r11", "memory");
	return result;
}

__attribute__((optimize("no-stack-protector"))) static void call_with(char *base)
{
	unsigned long before;
	CHECK(call(SYS_arch_prctl, ARCH_GET_FS, (long)&before) == 0);
	call(SYS_arch_prctl, ARCH_SET_FS, (long)base);
	call(SYS_getppid, 0, 0);
	call(SYS_nanosleep, (long)&shortly, 0);
	call(SYS_arch_prctl, ARCH_SET_FS, (long)before);
}
#else
static long call(long nr, long a, long b)
{
	register long x0 __asm__("x0") = a, x1 __asm__("x1") = b, x8 __asm__("x8") = nr;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x8) : "memory");
	return x0;
}

static void call_with(char *base)
{
	unsigned long before;
	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(before));
	__asm__ volatile("msr tpidr_el0, %0" : : "r"(base) : "memory");
	call(SYS_getppid, 0, 0);
	call(SYS_nanosleep, (long)&shortly, 0);
	__asm__ volatile("msr tpidr_el0, %0" : : "r"(before) : "memory");
}
#endif

/* The thread gets another thread pointer for a while, as in emulators. There is no memory after the two words of its block. */
static void other_base(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(munmap(pages + 4096, 4096) == 0);
	for (int i = 0; i < 100; i++)
		call_with(pages + 4096 - 64);
	for (int i = 0; i < 4096; i++)
		CHECK(pages[i] == 0);
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
	const long before = switches();
	for (int i = 0; i < 500; i++)
		pause_shortly();
	for (int i = 0; i < 20000; i++)
		syscall(SYS_getppid);
	printf("switches %ld\n", switches() - before);
}

static const struct test tests[] = {
	{"stale", stale}, {"rubbish", rubbish}, {"own", own},       {"base", other_base},
	{"jumps", jumps}, {"births", births},   {"sleeps", sleeps},
};
TEST_MAIN(tests)
