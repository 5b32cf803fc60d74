/* SPDX-License-Identifier: MIT */
/* Makes calls with unusual numbers and, on x86-64, through other entry points. */
#include "e2e.h"

#include <sys/mman.h>

#ifdef __x86_64__
static long int80(long nr, long a, long b, long c)
{
	long result;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

static long raw(long nr, long a)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(a) : "rcx", "r11", "memory");
	return result;
}

#else /* aarch64 */
static long raw(long nr, long a)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8) : "memory");
	return x0;
}
#endif

#ifdef __x86_64__
/* A 64-bit program uses the 32-bit entry point, which has other call numbers. Checks results and errors. */
static void test_int80(int argc, char **argv)
{
	int n = number(argc, argv, 0, 200);
	for (int i = 0; i < n; i++) {
		CHECK(int80(20, 0, 0, 0) == getpid()); /* getpid */
		CHECK(int80(64, 0, 0, 0) == getppid());
		CHECK(int80(132, 0, 0, 0) == getpgrp()); /* getpgid */
		CHECK(int80(6, -1, 0, 0) == -EBADF);     /* close */
	}
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	CHECK(low != MAP_FAILED);
	strcpy(low, "by the other door\n");
	CHECK(int80(4, 1, (long)low, 18) == 18); /* write */
	CHECK(int80(5000, 0, 0, 0) == -ENOSYS);
	CHECK(int80(-1, 0, 0, 0) == -ENOSYS);
	puts("answered");
}

/* Makes calls of the x32 ABI, whose numbers have bit 30 set. The kernels of the tests do not support this ABI. */
static void test_x32(int argc, char **argv)
{
	int n = number(argc, argv, 0, 20);
	for (int i = 0; i < n; i++)
		CHECK(raw(0x40000000 + 39, 0) == -ENOSYS);
	puts("no such ABI");
}
#endif

/* Uses numbers that belong to no call. */
static void test_numbers(int argc, char **argv)
{
	int n = number(argc, argv, 0, 20);
	for (int i = 0; i < n; i++) {
		CHECK(raw(-1, 0) == -ENOSYS);
		CHECK(raw(1000000, 0) == -ENOSYS);
		CHECK(raw(0x7fffffff, 0) == -ENOSYS);
		CHECK(raw(-2147483647 - 1, 0) == -ENOSYS);
		CHECK(raw(340, 0) == -ENOSYS);
		CHECK(raw(777, 0) == -ENOSYS);
		CHECK(raw((1L << 32) + SYS_getppid, 0) == getppid() || raw((1L << 32) + SYS_getppid, 0) == -ENOSYS);
	}
	puts("no such calls");
}

/* Uses three such numbers again and again; "same N NUMBER": the third one. */
static void test_same(int argc, char **argv)
{
	int n = number(argc, argv, 0, 20), third = number(argc, argv, 1, 777);
	for (int i = 0; i < n; i++)
		CHECK(raw(-1, 0) == -ENOSYS && raw(1000000, 0) == -ENOSYS && raw(third, 0) == -ENOSYS);
	puts("no such calls");
}

/* Reading the clock through the vDSO makes no call. Reading it by syscall(2) makes one. */
static void test_vdso(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	struct timespec t;
	for (int i = 0; i < 1000; i++)
		CHECK(clock_gettime(CLOCK_MONOTONIC, &t) == 0 && time(NULL) > 0);
	for (int i = 0; i < 100; i++)
		CHECK(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t) == 0);
	calls("time", 0, 0);
}

static const struct test tests[] = {
#ifdef __x86_64__
	{"int80", test_int80},     {"x32", test_x32},
#endif
	{"numbers", test_numbers}, {"same", test_same}, {"vdso", test_vdso},
};
TEST_MAIN(tests)
