/* A library that makes a system call. It is built twice, with equal code and different results (PLUG). */
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

/*
 * Functions that make one call each, close together, with padding between them. Each function adds its number to the
 * result, so that the caller can identify it.
 */
__asm__(".text\n"
	".globl crowd_0, crowd_1\n"
	".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n"
	".p2align 5\n"
	"crowd_\\i: .cfi_startproc\n"
	"mov %edi, %eax; xor %edi, %edi; syscall; add $\\i, %rax; ret\n"
	".cfi_endproc\n"
	".endr\n"
	".p2align 5\n");
