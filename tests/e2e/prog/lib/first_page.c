/* SPDX-License-Identifier: MIT */
/*
 * A program without a library. Its headers and its code are in the first page of its file, but in two segments, as lld and
 * the linker of Zig arrange small programs. So this page is mapped twice.
 */
#include <sys/syscall.h>

static long call(long nr, long a, const void *b, long c)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}

void _start(void);
void _start(void)
{
	static const char calls[] = "calls getppid 2000 0\n";
	for (int i = 0; i < 2000; i++)
		call(SYS_getppid, 0, 0, 0);
	call(SYS_exit_group, call(SYS_write, 1, calls, sizeof(calls) - 1) < 0, 0, 0);
}
