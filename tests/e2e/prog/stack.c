/* SPDX-License-Identifier: MIT */
/* For -k and --stacks: makes one call, which no other code makes, from main through `outer` and `inner`. */
#include <sys/syscall.h>
#include <unistd.h>

static volatile long sink;

static __attribute__((noinline)) void inner(void)
{
	sink = syscall(SYS_getppid);
}

static __attribute__((noinline)) void outer(void)
{
	inner();
	sink++; /* otherwise the compiler would make a jump of the call */
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		outer();
	sink++;
	return 0;
}
