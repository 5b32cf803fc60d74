/* SPDX-License-Identifier: MIT */
/* A library that makes a system call. It is built twice, with equal code and different results (PLUG). */
#include <stdint.h>
#include <sys/syscall.h>

long plug_call(long nr);
long plug_call(long nr)
{
#ifdef __aarch64__
	register long result __asm__("x0") = 0, x8 __asm__("x8") = nr;
	__asm__ volatile("svc #0" : "+r"(result) : "r"(x8) : "memory");
#else
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(0) : "rcx", "r11", "memory");
#endif
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
#ifdef __aarch64__
#define MAKE_CALL "mov x8, x0; mov x0, #0; svc #0; add x0, x0, #\\i; ret\n"
#else
#define MAKE_CALL "mov %edi, %eax; xor %edi, %edi; syscall; add $\\i, %rax; ret\n"
#endif
__asm__(".text\n"
	".globl crowd_0, crowd_1\n"
	".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n"
	".p2align 5\n"
	"crowd_\\i: .cfi_startproc\n" MAKE_CALL ".cfi_endproc\n"
	".endr\n"
	".p2align 5\n");
