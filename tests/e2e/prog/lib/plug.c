/* A library with a system call of its own, built twice: the code is alike, the answers differ (PLUG). */
#include <stdint.h>
#include <sys/syscall.h>

long plug_call(long nr);
long plug_call(long nr)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(0) : "rcx", "r11", "memory");
	return result;
}

int plug_id(void);
#if PLUG == 2
__attribute__((aligned(64)))
#endif
int plug_id(void)
{
	return PLUG;
}
