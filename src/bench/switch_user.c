/*
 * Mechanisms that switch between two stacks without the kernel's scheduler. Their cost shows which part of the cost of
 * a switch does not come from the scheduler.
 */
#include "bench/switch.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <ucontext.h>

#define STACK_BYTES (64 * 1024)

static void swap_back(unsigned here_high, unsigned here_low, unsigned there_high, unsigned there_low)
{
	/* makecontext(3) passes only arguments of type int, so each pointer was split into two of them. */
	ucontext_t *here = (ucontext_t *)((uintptr_t)here_high << 16 << 16 | here_low);
	ucontext_t *there = (ucontext_t *)((uintptr_t)there_high << 16 << 16 | there_low);
	for (;;)
		swapcontext(here, there);
}

void switch_ucontext_rounds(uint64_t n)
{
	ucontext_t a;
	ucontext_t b;
	void *stack = memory_get(STACK_BYTES);
	if (getcontext(&b) < 0)
		abort();
	b.uc_stack.ss_sp = stack;
	b.uc_stack.ss_size = STACK_BYTES;
	b.uc_link = NULL;
	uintptr_t pa = (uintptr_t)&a;
	uintptr_t pb = (uintptr_t)&b;
	makecontext(&b, (void (*)(void))swap_back, 4, (unsigned)(pb >> 16 >> 16), (unsigned)pb,
		    (unsigned)(pa >> 16 >> 16), (unsigned)pa);
	for (uint64_t i = 0; i < n; i++)
		swapcontext(&a, &b);
	free(stack);
}

/*
 * bare_switch(save, load): pushes the registers that a called function must preserve, stores the stack pointer in
 * *save, and continues on the stack `load`, which an earlier bare_switch() has saved.
 */
void bare_switch(void **save, void *load);

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".globl bare_switch\n"
	".hidden bare_switch\n"
	".type bare_switch, @function\n"
	"bare_switch:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n"
	"	ret\n"
	".size bare_switch, . - bare_switch\n"
	".popsection\n");
#define SAVED_WORDS  6 /* saved registers below the return address */
#define RETURN_INDEX 6
#define FRAME_WORDS  8 /* one more word aligns the stack as after a call instruction */
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	".globl bare_switch\n"
	".hidden bare_switch\n"
	".type bare_switch, %function\n"
	"bare_switch:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n	stp x21, x22, [sp, #16]\n	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n	stp x27, x28, [sp, #64]\n	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n	str x9, [x0]\n	mov sp, x1\n"
	"	ldp x19, x20, [sp, #0]\n	ldp x21, x22, [sp, #16]\n	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n	ldp x27, x28, [sp, #64]\n	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".size bare_switch, . - bare_switch\n"
	".popsection\n");
#define RETURN_INDEX 11
#define FRAME_WORDS  20
#endif

#ifdef FRAME_WORDS

/* Global, because the function on the second stack receives no arguments and needs both stack pointers. */
static __thread void *bare_here;
static __thread void *bare_there;

static void bare_back(void)
{
	for (;;)
		bare_switch(&bare_there, bare_here);
}

void switch_bare_rounds(uint64_t n)
{
	char *stack = aligned_alloc(16, STACK_BYTES);
	if (!stack)
		abort();
	void **top = (void **)(stack + STACK_BYTES) - FRAME_WORDS;
	for (size_t i = 0; i < FRAME_WORDS; i++)
		top[i] = NULL;
	top[RETURN_INDEX] = (void *)bare_back;
	bare_there = top;
	for (uint64_t i = 0; i < n; i++)
		bare_switch(&bare_here, bare_there);
	free(stack);
}

int switch_open_bare(struct switch_pair *p, struct buf *why)
{
	(void)p;
	(void)why;
	return 0;
}

#else

void switch_bare_rounds(uint64_t n)
{
	(void)n;
}

int switch_open_bare(struct switch_pair *p, struct buf *why)
{
	(void)p;
	buf_adds(why, "not available for this processor");
	return -ENOSYS;
}

#endif
