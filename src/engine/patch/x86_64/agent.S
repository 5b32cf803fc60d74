/* SPDX-License-Identifier: MIT */
/*
 * The agent (agent.h), at address AGENT_CODE. Below the red zone, it uses at most 56 bytes of the program's stack, and
 * 160 bytes at a clone3(2) that creates a thread.
 *
 * Entry: called by a stub with the program's registers, except rcx and r11, which a system call changes anyway.
 * Exit:  if ecx is 0, the call was made, rax is its result, and r11 holds the flags. If ecx is 1, nothing was done: the
 *        stub makes the call itself, which stops the thread. All other registers and the flags are the program's.
 *
 * When a signal is delivered, the tracer moves the thread out of this code (stepout.c). Each update of the slot is one
 * instruction with a label, and these instructions are executed in the order of their addresses. So the address of the
 * next instruction shows which updates were made.
 */
#include "engine/patch/code/agent.h"
#include "engine/patch/code/ring.h"

#include <asm/unistd.h>

/* Flags of clone(2) (linux/sched.h): those of a vfork-like call, and those of calls that the agent does not make. */
#define CLONE_VM       0x100
#define CLONE_SIGHAND  0x800
#define CLONE_VFORK    0x4000
#define CLONE_THREAD   0x10000
#define CLONE_UNTRACED 0x800000
#define CLONE_LIKE_VFORK (CLONE_VM | CLONE_VFORK)
#define CLONE_LIKE_THREAD (CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)
#define CLONE_SETTLS   0x80000
#define CLONE_LOOK     (CLONE_LIKE_VFORK | CLONE_SIGHAND | CLONE_THREAD | CLONE_UNTRACED)

	.macro	kernel call
	mov	$\call, %eax
	syscall
	.endm

	.macro	on call, to
	cmp	$\call, %eax
	je	\to
	.endm

/*
 * Restores the state that a thread had before the tracer moved it. This code is needed if the tracer has died, or if
 * the kernel refuses the requests by which the tracer would restore the state. \s is the suffix of the labels:
 * agent_masked_\s is after the only call, where the tracer stops the thread, and agent_back_\s is the struct agent_back
 * from which the state is restored. The stack pointer does not change.
 */
	.macro	back s
	.globl	agent_masked_\s, agent_back_\s
	lea	agent_back_\s + BACK_MASK(%rip), %rsi
	mov	$2, %edi		/* SIG_SETMASK */
	xor	%edx, %edx
	mov	$8, %r10d
	kernel	__NR_rt_sigprocmask
agent_masked_\s:
	lea	-128(%rsp), %rsp	/* the red zone */
	pushq	agent_back_\s + BACK_FLAGS(%rip)
	popf
	lea	128(%rsp), %rsp
	lea	agent_back_\s + 64(%rip), %rdi	/* so that all offsets fit into a byte */
	.set	.Lat, BACK_REGS
	.irp	reg, r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi
	mov	.Lat - 64(%rdi), %\reg
	.set	.Lat, .Lat + 8
	.endr
	jmp	*agent_back_\s + BACK_RIP(%rip)
agent_back_\s:
	.skip	BACK_SIZE, 0
	.endm

/* The memory at an address that is relative to the agent's. Only code in the agent's page can use it. */
#define HERE(address) .Lagent_base + ((address) - AGENT_CODE)(%rip)
/* Offsets in struct agent_data. Assertions in agent.h compare them with the structure. */
#define AT_WORDS   8
#define AT_SINGLE  16
#define AT_TAKEN   24
#define AT_NEXT    32
#define AT_WATCH   40
#define AT_FAULT   48
#define AT_BLOCKING 64
#define AT_MAP     72
#define AT_CODE    (AT_MAP + 4 * AGENT_CALLS)
#define AT_KEPT    (AT_CODE + 16 * (AGENT_RANGES + 2))
#define AT_RSEQ    DATA_RSEQ
#define DATA(offset) HERE(AGENT_DATA + (offset))
/* The byte that says whether frame number \index is in use, and word number \word of that frame. \data = AGENT_DATA. */
#define KEPT_TAKEN(data, index) AT_TAKEN - KEPT_FIRST(data, index)
#define KEPT_WORD(word, data, index) AT_KEPT + 8 * (KEPT_FRAMES * (word) - KEPT_FIRST)(data, index, 8)

/* SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH */
#define HARMLESS ((0x7f << 16) | (1 << 27))

/*
 * To jump forward to a global label, jump to a local label at the same address. For a global label, clang's assembler
 * always emits the long form of a forward jump, and then the agent would not fit into its page.
 */
	.section .rodata
	.balign 64
	.globl agent_begin, agent_end, agent_entry, agent_p1, agent_p2, agent_p3, agent_refuse, agent_r1, agent_other, agent_check
	.globl agent_plain_sys, agent_plain_after, agent_plain_ret, agent_plain_pushed, agent_plain_end
	.globl agent_own_call, agent_own_call_end
	.globl agent_pre_end, agent_exit, agent_remote, agent_allowed_end, agent_taken, agent_got
	.globl	agent_exec_taken, agent_exec_end, agent_go_shared, agent_sigreturn_counted, agent_sigreturn_sys, agent_sigreturn_bad
	.globl	agent_thread_saved, agent_thread_restored, agent_query_saved, agent_query_restored

#define RSEQ_CS 8 /* offset of rseq_cs in struct rseq (linux/rseq.h) */
#define TCB_SELF 16 /* offset of the second copy of its address in the control block (glibc's tcbhead_t.self) */

/*
 * Points the thread's rseq_cs at an empty critical section, unless it points at a section of the program. When the kernel
 * has given the CPU to another thread, or moved this one, or delivers a signal, it looks at rseq_cs. The thread is not in
 * that section, so the kernel sets rseq_cs to 0 (rseq(2), kernel/rseq.c). If the program has left a pointer to a section
 * of its own there, the kernel does the same with it, so that shows the same. Does nothing if the fs base is not that of a
 * thread of the C library, whose control block contains its own address twice. In: rcx = slot and flags; adds
 * SLOT_F_ARMED. Changes rdx, r11 and the flags.
 */
	.macro	arm
	and	$~SLOT_F_WAITED, %rcx
	mov	DATA(AT_RSEQ), %r11
	test	%r11, %r11
	jz	10f
	mov	%fs:0, %rdx
	test	%rdx, %rdx
	jz	10f
	cmp	%rdx, %fs:TCB_SELF
	jne	10f
	add	%rdx, %r11
	or	$SLOT_F_ARMED, %rcx
	cmpq	$0, (%r11)
	jne	10f
	lea	.Lagent_base(%rip), %rdx	/* AGENT_SECTION */
	mov	%rdx, (%r11)
10:
	.endm

/*
 * Stores the start of the call. In: rcx = the slot, and the call's flags in its low bits. \s is the suffix of the labels.
 * The frame is complete from agent_p6_\s on.
 */
	.macro	enter s, lock
	push	%rcx
agent_p4_\s:
	and	$-SLOT_ALIGN, %rcx
	\lock incq SLOT_ENTERED(%rcx)
agent_p5_\s:
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	mov	%rdx, SLOT_BEGAN(%rcx)
	push	%rdx
agent_p6_\s:
	.endm

/* Replaces a call's number by its row, as agent_row() does. Changes the flags. */
	.macro	row nr
	cmp	$AGENT_NUMBERS, \nr
	jb	20f
	and	$(AGENT_OTHERS - 1), \nr
	add	$AGENT_NUMBERS, \nr
20:
	.endm

/*
 * Counts a call that has failed. In: rcx = the slot, r11 = the call's flags, (%rsp) = its result. The row of the error is
 * found by comparing one row after the other, because programs get few different errors. Changes rax and r11.
 */
	.macro	add_error s
	lock incq SLOT_ERRORS(%rcx)
	test	$SLOT_F_EXEC, %r11b
	jz	agent_gave_\s
	mov	DATA(AT_WORDS), %rax
	movq	$0, (%rax)
agent_gave_\s:
	mov	(%rsp), %rax
	neg	%eax
	mov	40(%rsp), %r11d
	shl	$ERRNO_BITS, %r11
	or	%rax, %r11
	lea	HERE(AGENT_STATS + ERRNOS_AT), %rax
	cmp	%rax, %rcx
	cmovb	%rax, %rcx
	jb	13f
	or	$(LANE_SIZE - 1), %rcx	/* the slot is in a lane, at whose end the table is */
	sub	$(ERRNOS_SIZE - 1), %rcx
13:	mov	(%rcx), %rax
	cmp	%r11, %rax
	je	agent_add_errno_\s
	test	%rax, %rax
	jnz	14f
	lock cmpxchg %r11, (%rcx)
	jne	13b
	test	%cx, %cx
	jns	agent_add_errno_\s
	mov	40(%rsp), %rax		/* too many rows: the tracer sees the next call */
	row	%rax
	lea	DATA(AT_MAP), %r11
	movl	$0, (%r11,%rax,4)
	jmp	agent_add_errno_\s
14:	add	$16, %cx
	jnz	13b
	jmp	15f			/* the table is full */
agent_add_errno_\s:
	lock incq 8(%rcx)
15:	mov	16(%rsp), %rcx
	and	$-SLOT_ALIGN, %rcx
	.endm

/*
 * The code that makes a call and counts it. It exists in two variants. `single`: the image has one thread, and no other
 * image uses its slots, so updates need no lock. `shared`: others may update the same slots.
 */
	.macro	path s, lock
go_\s:
	arm
	enter	\s, \lock
	mov	16(%rsp), %rdx
	mov	32(%rsp), %rax
agent_sys_\s:
	syscall
agent_after_\s:
	push	%rax
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	sub	8(%rsp), %rdx
	mov	$0, %eax
	cmovb	%rax, %rdx		/* never below zero, even if the counters of processors differ */
	mov	16(%rsp), %rcx
	test	$SLOT_F_ARMED, %cl
	jz	agent_judged_\s
	mov	%fs:TCB_SELF, %rax
	add	DATA(AT_RSEQ), %rax
	cmpq	$0, (%rax)
	jne	7f
	or	$SLOT_F_WAITED, %rcx
	test	$SLOT_F_FORKS, %cl	/* the tracer has stopped the thread */
	jnz	8f
	mov	40(%rsp), %eax
	.irp	call, RELEASING_CALLS
	cmp	$\call, %eax
	je	8f
	.endr
	cmp	$__NR_close, %eax
	jne	6f
	testb	$WATCH_CLOSES, DATA(AT_WATCH)
	jz	6f
8:	and	$~SLOT_F_ARMED, %rcx
6:	mov	%rcx, 16(%rsp)
	jmp	agent_judged_\s
7:	cmpl	$(AGENT_SECTION & 0xffffffff), (%rax)
	jne	agent_judged_\s
	movq	$0, (%rax)
agent_judged_\s:
	mov	(%rsp), %rax
	test	$SLOT_F_FORKS, %cl
	jz	agent_timed_\s
	test	%rax, %rax
	jz	9f			/* the child: only the return in the parent is counted */
agent_timed_\s:				/* rdx = ticks, rcx = slot and flags, rax = result */
	mov	%ecx, %r11d
	and	$-SLOT_ALIGN, %rcx
agent_add_ticks_\s:
	\lock addq %rdx, SLOT_TICKS(%rcx)
	test	$SLOT_F_ARMED, %r11b
	jnz	11f
agent_add_unarmed_\s:
	\lock incq SLOT_UNARMED(%rcx)
	jmp	12f
11:	test	$SLOT_F_WAITED, %r11b
	jz	12f
agent_add_waits_\s:
	\lock incq SLOT_WAITS(%rcx)
agent_add_waited_\s:
	\lock addq %rdx, SLOT_WAITED(%rcx)
12:	cmp	$-4095, %rax
	jb	1f
agent_add_error_\s:
	.ifc	\s, single
	jmp	agent_add_error_shared
agent_gave_\s:
agent_add_errno_\s:
	.else
	add_error \s
	jmp	2f
	.endif
1:	test	$SLOT_F_BYTES, %r11b
	jz	2f
agent_add_bytes_\s:
	\lock addq %rax, SLOT_BYTES(%rcx)
2:	mov	%rcx, %r11
	mov	%rdx, %rcx
	or	$16, %rcx
	bsr	%rcx, %rcx
	sub	$4, %ecx
	mov	%rdx, %rax
	shr	%cl, %rax
	shl	$4, %ecx
	add	%ecx, %eax
	mov	$(SLOT_BUCKETS - 1), %ecx
	cmp	%ecx, %eax
	cmova	%ecx, %eax
agent_add_hist_\s:
	\lock incl SLOT_HIST(%r11,%rax,4)
	jns	3f
	mov	40(%rsp), %rax		/* a bucket is half full: the tracer empties all at the next call */
	row	%rax
	lea	DATA(AT_MAP), %rcx
	movl	$0, (%rcx,%rax,4)
3:	mov	SLOT_MAX(%r11), %rax
4:	cmp	%rax, %rdx
	jbe	5f
	lock cmpxchg %rdx, SLOT_MAX(%r11)
	jne	4b
5:	not	%rdx
	mov	SLOT_MIN_NOT(%r11), %rax
6:	cmp	%rax, %rdx
	jbe	9f
	lock cmpxchg %rdx, SLOT_MIN_NOT(%r11)
	jne	6b
9:	mov	32(%rsp), %rax
	mov	24(%rsp), %rdx
	mov	$0, %ecx
	add	$0x7f, %al		/* restores OF from the byte that seto stored */
	sahf
	mov	(%rsp), %rax
	lea	48(%rsp), %rsp
agent_ret_\s:
	pushf				/* the flags go to r11, as after `syscall` */
agent_pushed_\s:
	pop	%r11
	ret
agent_end_\s:
	.pushsection .data.rel.ro, "aw"	/* struct agent_path */
	.quad	agent_p4_\s, agent_p5_\s, agent_p6_\s, agent_sys_\s, agent_after_\s, agent_judged_\s, agent_timed_\s
	.quad	agent_add_ticks_\s, agent_add_unarmed_\s, agent_add_waits_\s, agent_add_waited_\s
	.quad	agent_add_error_\s, agent_gave_\s, agent_add_errno_\s, agent_add_bytes_\s, agent_add_hist_\s, agent_ret_\s, agent_pushed_\s
	.quad	agent_end_\s
	.popsection
	.endm

/* Ends a path whose rest, after the call, is that of the path `shared`. */
	.macro	join s
	jmp	agent_after_shared
agent_end_\s:
	.pushsection .data.rel.ro, "aw"	/* struct agent_path */
	.quad	agent_p4_\s, agent_p5_\s, agent_p6_\s, agent_sys_\s, agent_after_\s
	.rept	14
	.quad	agent_end_\s
	.endr
	.popsection
	.endm

/*
 * Makes a vfork-like call. In: r11 = number of the place for the frame in agent_data.kept. rsp points to the frame. rax,
 * rdx and the other arguments are set for the call. The child shares the caller's memory and, in most cases, its stack, so
 * it can overwrite the frame. Therefore this code copies the frame to agent_data.kept before the call. The child copies it
 * back when it starts, and the parent when the call returns. If the child has a stack of its own, it copies the frame to
 * that stack. r9 holds the number across the call: the call changes r11, and does not use r9. \s is the prefix of the
 * labels, \sys and \after are the labels at the call, and \words are the words of the frame that are needed. Changes rcx
 * and r11.
 */
	.macro	keeping s, sys, after, words:vararg
	.globl	\s\()_marked, \s\()_lowered, \s\()_released, \s\()_loaded
	lea	DATA(0), %rcx
	mov	%r9, KEPT_WORD(KEPT_SAVED, %rcx, %r11)
	mov	%r11, %r9
\s\()_marked:
	lea	DATA(0), %r11
	.irp	i, \words
	mov	8 * \i(%rsp), %rcx
	mov	%rcx, KEPT_WORD(\i, %r11, %r9)
	.endr
	lea	(48 + 128)(%rsp), %rsp
\sys:
	syscall
\after:
	lea	-(48 + 128)(%rsp), %rsp
\s\()_lowered:
	lea	DATA(0), %r11
	.irp	i, \words
	mov	KEPT_WORD(\i, %r11, %r9), %rcx
	mov	%rcx, 8 * \i(%rsp)
	.endr
	mov	%r11, %rcx
	mov	KEPT_WORD(KEPT_SAVED, %r11, %r9), %r11
	test	%rax, %rax
	jz	.L\s\()_released
	movb	$0, KEPT_TAKEN(%rcx, %r9)
\s\()_released:
.L\s\()_released:
	mov	%r11, %r9
\s\()_loaded:
	.endm

	.section .data.rel.ro, "aw"
	.balign	8
	.globl	agent_paths
agent_paths:				/* filled in by the uses of `path` and `join` */
	.section .rodata

agent_begin:
.Lagent_base:				/* AGENT_SECTION: struct rseq_cs (linux/rseq.h), a section of one byte without code */
	.long	0, 0			/* version, flags */
	.quad	AGENT_DATA, 1, AGENT_CODE + 40
	.long	0, RSEQ_SIGNATURE	/* the signature is before the abort address, which is never used */
	.balign	64
agent_entry:
	push	%rax
agent_p1:
	lahf				/* saves flags that change; pushf and popf would take ten times as long */
	seto	%al
	push	%rax
agent_p2:
	push	%rdx
agent_p3:
	mov	16(%rsp), %rax
	cmp	$(AGENT_NUMBERS - 1), %rax
	ja	agent_other
	lea	DATA(AT_MAP), %rcx
	mov	(%rcx,%rax,4), %ecx
agent_entry_found:
	test	%ecx, %ecx
	jz	agent_refuse
	add	DATA(0), %rcx
	js	agent_apart
agent_mapped:
	test	$SLOT_F_CHECK, %cl
	jnz	agent_check
	test	$(SLOT_F_RECORD | SLOT_F_PLAIN), %cl
	jnz	agent_special
	cmpb	$0, DATA(AT_SINGLE)
	je	go_shared
	path	single
agent_go_shared:
	path	shared, lock

agent_special:
	test	$SLOT_F_PLAIN, %cl
	jz	agent_record
	test	$SLOT_F_RECORD, %cl
	jnz	agent_lane
agent_plain_sys:			/* a call that is neither counted nor recorded; rax and rdx are still the program's */
	syscall
agent_plain_after:
	mov	%rax, 16(%rsp)
	mov	8(%rsp), %rax
	mov	$0, %ecx
	add	$0x7f, %al
	sahf
	mov	16(%rsp), %rax
	lea	24(%rsp), %rsp
agent_plain_ret:
	pushf
agent_plain_pushed:
	pop	%r11
	ret
agent_plain_end:

agent_refuse:
	mov	8(%rsp), %rax
	add	$0x7f, %al
	sahf
	mov	16(%rsp), %rax
	mov	$1, %ecx
	lea	24(%rsp), %rsp
agent_r1:
	ret

agent_other:				/* rax is a number that no call has */
	mov	%eax, %ecx
	and	$(AGENT_OTHERS - 1), %ecx
	lea	DATA(DATA_OTHERS), %r11
	movslq	(%r11,%rcx,4), %r11
	cmp	%r11, %rax
	jne	agent_refuse
	lea	DATA(AT_MAP + 4 * AGENT_NUMBERS), %r11
	mov	(%r11,%rcx,4), %ecx
	jmp	agent_entry_found

/* A short jump to a `jmp agent_refuse` nearby takes 4 bytes less than a jump to agent_refuse. */
agent_check:				/* rcx = slot; handles calls with arguments to check, and calls that fork */
	on	__NR_fork, 17f
	on	__NR_clone, 1f		/* to the tracer if the child would use this frame or be untraced */
	on	__NR_vfork, agent_vfork
	on	__NR_rt_sigreturn, agent_sigreturn
	on	__NR_clone3, 4f		/* its structure begins with the flags */
	on	__NR_rt_sigaction, 2f	/* the tracer must see new actions for SIGSYS */
	on	__NR_rt_sigprocmask, 3f	/* the tracer must see new masks with SIGSYS */
	on	__NR_rseq, agent_rseq	/* the first one tells where the areas of threads are */
	on	__NR_prctl, 5f		/* the tracer must see four of its operations */
	on	__NR_arch_prctl, 9f	/* only ARCH_SET_FS has no memory to record */
	on	__NR_execve, 8f		/* one at a time unless recorded; its start time is stored in the region */
	cmp	$__NR_shmat, %eax	/* the tracer must see all requests for an address, because the size is not known */
	jne	10f
	test	%rsi, %rsi
	jnz	27f
	jmp	7f
10:	cmp	$__NR_mmap, %eax	/* check the range only if an address is requested */
	jne	6f
	test	%rdi, %rdi
	jz	7f
6:	cmp	$__NR_mremap, %eax	/* the tracer must see MREMAP_FIXED, a fixed new address */
	jne	agent_ranges
	test	$2, %r10b
	jnz	27f
agent_ranges:				/* mprotect etc.: refused if the range overlaps this frame or patched code */
	lea	31(%rsp), %rdx		/* the last byte of this frame, of 56 bytes, 24 not pushed yet */
	sub	%rdi, %rdx
	lea	55(%rsi), %rax
	cmp	%rax, %rdx
	jb	14f
	lea	(%rdi, %rsi), %rax	/* the end of the range, to compare with the ranges of patched code */
	lea	DATA(AT_CODE), %r11
11:	mov	(%r11), %rdx
	test	%rdx, %rdx
	jz	12f
	cmp	%rax, %rdx
	jae	13f
	cmp	8(%r11), %rdi
	jb	14f
13:	lea	16(%r11), %r11
	jmp	11b
12:	mov	(%rsp), %rdx
	jmp	7f
14:	mov	(%rsp), %rdx
27:	jmp	agent_refuse
7:	test	$SLOT_F_RECORD, %cl
	jnz	agent_record
	cmpb	$0, DATA(AT_SINGLE)
	je	go_shared
	jmp	go_single
1:	mov	%edi, %r11d
	and	$(CLONE_LOOK | CLONE_SETTLS), %r11d
	cmp	$CLONE_LIKE_VFORK, %r11d	/* a child with another fs base is not recognised */
	je	agent_vfork
	and	$CLONE_LOOK, %r11d
	cmp	$CLONE_LIKE_THREAD, %r11d
	je	agent_thread
	test	$(CLONE_UNTRACED | CLONE_VM | CLONE_VFORK), %r11d
	jnz	23f
	test	%rsi, %rsi		/* the tracer must see a child with a stack of its own */
	jnz	23f
17:	test	$SLOT_F_RECORD, %cl
	jnz	agent_record
	jmp	go_shared
4:	mov	(%rdi), %r11d
	and	$(CLONE_LOOK | CLONE_SETTLS), %r11d
	cmp	$CLONE_LIKE_VFORK, %r11d
	je	agent_vfork
	and	$CLONE_LOOK, %r11d
	cmp	$CLONE_LIKE_THREAD, %r11d
	je	agent_thread
23:	jmp	agent_refuse
2:	lea	DATA(AT_FAULT), %r11
	cmp	$11, %edi		/* SIGSEGV */
	je	18f
	add	$8, %r11
	cmp	$7, %edi		/* SIGBUS */
	je	18f
	cmp	$31, %edi
	jne	15f
	/* While the action of SIGSYS is the default, the agent may make calls that read it or set it to the default. */
	testb	$WATCH_SIGSYS, DATA(AT_WATCH)
	jnz	22f
	test	%rsi, %rsi
	jz	7b
	cmpq	$0, (%rsi)		/* SIG_DFL */
	je	7b
	jmp	24f
22:	testb	$WATCH_DEFAULT, DATA(AT_WATCH)
	jz	24f
	test	%rsi, %rsi
	jz	agent_query
	cmpq	$0, (%rsi)		/* SIG_DFL */
	je	agent_query
24:	jmp	agent_refuse
18:	test	%rsi, %rsi		/* the agent notes the new handler, but only for the process that owns the memory */
	jz	7b
	mov	(%rsi), %rdx
	or	(%r11), %rdx
	mov	(%rsp), %rdx
	jz	7b			/* it was the default, and stays the default */
	cmpq	$0, DATA(AT_TAKEN)
	jne	21f
	testb	$WATCH_FAULTS, DATA(AT_WATCH)
	jnz	24b
	cmp	$8, %r10
	jne	24b
	mov	24(%rsi), %rdx		/* if the end of the action is not readable, the call fails, and nothing is noted */
	mov	(%rsi), %rdx
	mov	%rdx, (%r11)
	mov	(%rsp), %rdx
	jmp	15f
21:	cmpq	$0, (%rsi)		/* SIG_DFL in a child of vfork(2) does not change its parent's handler, which stays noted */
	jne	24b
15:	test	%rsi, %rsi		/* the tracer must see SA_RESETHAND, and handlers that block SIGSYS or did so */
	jz	7b
	lea	-1(%rdi), %r11d
	and	$63, %r11d
	bt	%r11, DATA(AT_BLOCKING)
	jc	28f
29:	testl	$0x80000000, 8(%rsi)	/* SA_RESETHAND */
	jnz	24b
	cmpq	$0, DATA(AT_TAKEN)		/* a child of vfork(2) changes only its own actions, not the image's */
	jne	16f
	mov	DATA(AT_WORDS), %r11
	test	%r11, %r11
	jz	16f
	lock incq 8(%r11)		/* agent_words.actions, before the call: the tracer uses no old actions */
16:	cmpq	$0, (%rsi)		/* the mask matters only for handlers */
	je	7b
	lea	24(%rsi), %r11
20:	testl	$(1 << 30), (%r11)	/* SIGSYS */
	jz	7b
	cmpl	$MASK_HIGH, 4(%r11)
	jb	25f
	mov	(%r11), %r11d
	or	$MASK_EITHER, %r11d
	not	%r11d
	test	%r11d, %r11d
	jz	7b
25:	jmp	agent_refuse
28:	cmpq	$0, DATA(AT_TAKEN)		/* the same if SIG_DFL ends the process */
	je	25b
	bt	%r11, agent_harmless(%rip)
	jc	25b
	cmpq	$0, (%rsi)
	je	29b
	jmp	agent_refuse
3:	test	%rsi, %rsi		/* the tracer must see new masks with SIGSYS, except masks of all signals */
	jz	7b
	mov	%rsi, %r11
	jmp	20b
5:	.irp	option, 21, 22, 59, 26	/* PR_GET_SECCOMP, PR_SET_SECCOMP, PR_SET_SYSCALL_USER_DISPATCH, PR_SET_TSC */
	cmp	$\option, %edi
	je	26f
	.endr
	jmp	7b
9:	cmp	$0x1002, %edi		/* ARCH_SET_FS */
	jne	1f
	cmpq	$0, DATA(AT_RSEQ)	/* then the tracer must see that a thread gets another fs base */
	je	7b
	jmp	26f
1:	test	$SLOT_F_RECORD, %cl
	jz	7b
26:	jmp	agent_refuse
8:	test	$SLOT_F_RECORD, %cl
	jnz	agent_record
	mov	DATA(AT_WORDS), %r11
	test	%r11, %r11
	jz	26b
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	xor	%eax, %eax
	lock cmpxchg %rdx, (%r11)
agent_exec_taken:			/* this thread has set the exec word if ZF is set */
	mov	(%rsp), %rdx
	jne	26b
	jmp	go_shared
agent_exec_end:
/*
 * rt_sigreturn sets all registers. The signal frame is at the program's rsp. If the handler returns to an instruction that
 * has moved into a stub, it returns to the stub.
 */
agent_sigreturn:
	lea	DATA(DATA_FOLLOWED), %r11
	mov	(BELOW_PROGRAM + UC_IP)(%rsp), %rdx
	mov	$AGENT_FOLLOWED, %eax
1:	cmp	(%r11), %rdx
	je	2f
	add	$16, %r11
	dec	%eax
	jnz	1b
	jmp	3f
2:	mov	8(%r11), %rdx
	mov	%rdx, (BELOW_PROGRAM + UC_IP)(%rsp)
3:	mov	$__NR_rt_sigreturn, %eax
	mov	$KIND_RETURN, %r11d
	test	$SLOT_F_RECORD, %cl
	cmovnz	%r11, %rcx
	jnz	agent_record_flagged
	and	$-SLOT_ALIGN, %rcx
	lock incq SLOT_ENTERED(%rcx)
agent_sigreturn_counted:
	lea	(32 + 128)(%rsp), %rsp
agent_sigreturn_sys:
	syscall
agent_sigreturn_bad:			/* reached only if the signal frame is invalid */
	ud2
agent_harmless:				/* signals that do not end a process by default (signal(7)) */
	.quad	HARMLESS
agent_vfork:				/* reserves memory that the child does not write, for the frame */
	mov	$(KEPT_FIRST + KEPT_FRAMES - 1), %r11d
	lea	DATA(0), %rax
1:	mov	$1, %dl
	xchg	%dl, KEPT_TAKEN(%rax, %r11)
agent_taken:
	test	%dl, %dl
	jz	.Lagent_got
	dec	%r11d
	cmp	$KEPT_FIRST, %r11d
	jae	1b
	mov	(%rsp), %rdx
	jmp	26b
agent_got:
.Lagent_got:
	mov	%rsp, KEPT_WORD(KEPT_THREAD, %rax, %r11)	/* no thread has this fs base */
	test	$SLOT_F_RECORD, %cl
	cmovnz	%r11, %rcx		/* the number of the frame is also the kind of the call */
	jnz	agent_record_flagged

/* The path `vfork`: a child will run in the caller's memory, and on its stack, until it calls execve(2) or exits. */
	enter	vfork, lock
	mov	16(%rsp), %rdx
	mov	32(%rsp), %rax
	keeping	agent, agent_sys_vfork, agent_after_vfork, 0, 1, 2, 3, 4, 5
	join	vfork

/*
 * The path `thread`: the call creates a thread. Like its parent, the new thread begins after the call, but on its own
 * stack. So the agent copies its frame to that stack, and passes a lower stack pointer to the kernel: the thread leaves
 * the agent by itself. The kernel gets a copy of the structure of clone3(2), which is below the parent's frame, so that
 * no other thread can change its flags.
 */
#define THREAD_ROOM (16 + 48 + 128) /* rdi and rsi, the frame, and the red zone */
#define CLONE_ARGS_MIN 64	/* smallest and largest size of struct clone_args (linux/sched.h) that the agent handles */
#define CLONE_ARGS_MAX 88
#define ARGS_STACK 40		/* offsets of its members stack and stack_size */
#define ARGS_SIZE  48
#define ARGS_COPY  (32 + 96)	/* the copy is this many bytes below rsp, and 32 bytes will be pushed */
agent_thread:
	testb	$WATCH_THREADS, DATA(AT_WATCH)
	jnz	agent_refuse
	mov	%rsi, %r11
	cmp	$__NR_clone, %eax
	je	2f
	lea	-CLONE_ARGS_MIN(%rsi), %rdx
	cmp	$(CLONE_ARGS_MAX - CLONE_ARGS_MIN), %rdx
	ja	4f
	test	$7, %sil
	jnz	4f
	xor	%edx, %edx
1:	mov	(%rdi, %rdx), %rax
	mov	%rax, -ARGS_COPY(%rsp, %rdx)
	add	$8, %edx
	cmp	%rsi, %rdx
	jb	1b
	mov	-ARGS_COPY(%rsp), %edx
	and	$CLONE_LOOK, %edx
	cmp	$CLONE_LIKE_THREAD, %edx
	jne	4f
	mov	ARGS_SIZE - ARGS_COPY(%rsp), %r11
	cmp	$AGENT_PAGE, %r11
	jb	4f
	add	ARGS_STACK - ARGS_COPY(%rsp), %r11
	subq	$THREAD_ROOM, ARGS_SIZE - ARGS_COPY(%rsp)
	jmp	5f
2:	test	%dil, %dil		/* with SIGCHLD, the kernel would report a fork(2) */
	jnz	4f
	test	%rsi, %rsi
	jz	4f
5:	mov	%rdi, -THREAD_ROOM(%r11)	/* r11 = the thread's stack pointer */
	mov	%rsi, 8 - THREAD_ROOM(%r11)
	mov	%rcx, 24 - THREAD_ROOM(%r11)
	.irp	i, 0, 8, 16, 24
	mov	\i(%rsp), %rdx
	mov	%rdx, 32 + \i - THREAD_ROOM(%r11)
	.endr
	mov	$KIND_THREAD, %r11d
	test	$SLOT_F_RECORD, %cl
	cmovnz	%r11, %rcx
	jnz	agent_record_flagged
	enter	thread, lock
	mov	%rdi, -16(%rsp)
	mov	%rsi, -8(%rsp)
	lea	16 - ARGS_COPY(%rsp), %rcx
	lea	-THREAD_ROOM(%rsi), %r11
	mov	16(%rsp), %rdx
	mov	32(%rsp), %rax
	lea	-16(%rsp), %rsp
agent_thread_saved:
	cmp	$__NR_clone, %eax
	cmove	%r11, %rsi
	cmovne	%rcx, %rdi
agent_sys_thread:
	syscall
agent_after_thread:
	mov	(%rsp), %rdi
	mov	8(%rsp), %rsi
	lea	16(%rsp), %rsp
agent_thread_restored:
	join	thread
4:	mov	(%rsp), %rdx
	jmp	agent_refuse

/*
 * The path `query`: rt_sigaction(2) reads the action of SIGSYS, which is that of sctrace. The program must see the default
 * action, so the agent reads that of SIGKILL, which is always the default. The program may also set the default action,
 * which changes nothing except the flags and the mask of an action that has no handler. Children of posix_spawn(3) do
 * both, and those of node and ruby set it, while all signals are blocked, when a stop by SIGSYS would end the child if
 * sctrace died.
 */
agent_query:
	mov	$KIND_QUERY, %r11d
	test	$SLOT_F_RECORD, %cl
	cmovnz	%r11, %rcx
	jnz	.Lagent_record_flagged
	enter	query, lock
	mov	16(%rsp), %rdx
	mov	32(%rsp), %rax
	push	%rsi
agent_query_saved:
	xor	%esi, %esi
	mov	$9, %edi		/* SIGKILL */
agent_sys_query:
	syscall
agent_after_query:
	pop	%rsi
agent_query_restored:
	mov	$31, %edi		/* SIGSYS */
	join	query

/*
 * The path `rseq`: the C library registers the restartable-sequence area of a thread. The distance of the area from the
 * fs base is the same in all threads, so the first call tells it. The tracer must see areas at other distances and other
 * signatures, and areas that the program no longer registers.
 */
agent_rseq:
	testb	$WATCH_WAITS, DATA(AT_WATCH)
	jz	7b
	mov	(%rsp), %rdx
	test	%edx, %edx		/* flags */
	jnz	26b
	cmp	$RSEQ_SIGNATURE, %r10d
	jne	26b
	rdfsbase %rdx
	sub	%rdi, %rdx
	neg	%rdx
	add	$RSEQ_CS, %rdx
	mov	DATA(AT_RSEQ), %r11
	cmp	%rdx, %r11
	mov	(%rsp), %rdx
	je	7b
	test	%r11, %r11
	jnz	26b
	test	$SLOT_F_RECORD, %cl
	jnz	agent_record
	enter	rseq, lock
	mov	16(%rsp), %rdx
	mov	32(%rsp), %rax
agent_sys_rseq:
	syscall
agent_after_rseq:
	test	%eax, %eax
	jnz	1f
	rdfsbase %rcx
	sub	%rdi, %rcx
	neg	%rcx
	add	$RSEQ_CS, %rcx
	mov	%rcx, DATA(AT_RSEQ)
1:	join	rseq

/*
 * BASE_APART is set: a child of a vfork-like call runs in the memory of its parent, and its calls must not be counted. It
 * has the fs base of its parent, and the parent waits in its call. So a call with this fs base comes from the child. The
 * agent does not make such a call, and the stub makes it without a stop, because dispatch is off in the child.
 */
agent_apart:
	btr	$BASE_APART, %rcx
	rdfsbase %rdx
	mov	$(KEPT_FIRST + KEPT_FRAMES - 1), %eax
	lea	DATA(0), %r11
1:	cmp	%rdx, KEPT_WORD(KEPT_THREAD, %r11, %rax)
	jne	2f
	cmpb	$0, KEPT_TAKEN(%r11, %rax)
	jne	4b
2:	dec	%eax
	cmp	$KEPT_FIRST, %eax
	jae	1b
	mov	(%rsp), %rdx
	mov	16(%rsp), %rax
	jmp	agent_mapped
#include "engine/patch/x86_64/record.S.inc"
agent_pre_end:

/*
 * The handler of SIGSYS in an attached process. It runs only if the tracer has died. If dispatch is still on, calls raise
 * SIGSYS; the handler turns dispatch off, ends recording, and repeats the call. It also repeats a call whose SIGSYS the
 * tracer could not handle (sigkill_guard.c). Any other SIGSYS goes to the program's own handler. The definitions are
 * offsets in siginfo_t and ucontext_t (sigaction(2)).
 */
	.globl agent_sigsys, agent_sigsys_restorer
#define SI_CODE      8
#define SI_CALL_ADDR 16
#define SI_SYSCALL   24
#define USER_DISPATCH 2
agent_sigsys:
	mov	UC_IP(%rdx), %rax
	cmpl	$AGENT_AGAIN, SI_CODE(%rsi)
	je	8f
	cmpl	$USER_DISPATCH, SI_CODE(%rsi)
	jne	1f
	movw	$0, HERE(TAIL_SELECTOR)	/* and the byte after it, TAIL_RECORDS */
	cmp	%rax, SI_CALL_ADDR(%rsi)	/* if they differ, the tracer has already moved the thread */
	jne	9f
	movslq	SI_SYSCALL(%rsi), %rax
	mov	%rax, UC_RESULT(%rdx)
	subq	$2, UC_IP(%rdx)
9:	ret
8:	cmpw	$0x050f, -2(%rax)	/* a syscall instruction; rax holds the call's number again */
	jne	9b
	subq	$2, UC_IP(%rdx)
	ret
1:	mov	DATA(AT_NEXT), %rax
	test	%rax, %rax
	jz	2f
	jmp	*%rax
2:	lea	3f(%rip), %rsi		/* no handler: sets the default action, and sends the signal again */
	mov	$31, %edi
	xor	%edx, %edx
	mov	$8, %r10d
	kernel	__NR_rt_sigaction
	kernel	__NR_getpid
	mov	%eax, %edi
	kernel	__NR_gettid
	mov	%eax, %esi
	mov	$31, %edx
	kernel	__NR_tgkill
	ret
3:	.quad	0, 0, 0, 0
agent_sigsys_restorer:
	mov	$15, %rax
	syscall

/*
 * Makes a call for the tracer and restores the thread's state. It also works at another address. Out: rbx = result.
 */
	.globl	agent_call, agent_call_end
agent_call:
	syscall
	mov	%rax, %rbx
	back	call
agent_call_end:

agent_exit:				/* exit(2): uses no stack, because the thread may no longer have one */
	mov	DATA(AT_MAP + 4 * 60), %ecx	/* the entry of exit has no flags */
	jrcxz	trap
	add	DATA(0), %rcx
	js	trap			/* BASE_APART */
	lock incq SLOT_ENTERED(%rcx)
	syscall
	ud2

agent_remote:				/* makes a call for the tracer */
	syscall
	int3
agent_own_call:				/* makes a call of the recorder, which is called like a C function */
	syscall
	ret
agent_own_call_end:
agent_allowed_end:
trap:	syscall				/* always stops, because it is after agent_allowed_end */
	ud2
agent_announce:				/* always stops, so that sctrace reports the beginning of the call (record/step.c) */
	syscall
	jmp	agent_announced
agent_announce_end:
agent_ask:				/* always stops, so that sctrace completes the record (record/step.c) */
	syscall
	jmp	agent_ask_after
agent_ask_end:
agent_end:

/*
 * Maps memory for the agent. Runs once in a new image, at an address that the tracer chooses.
 *
 * In: rbx = the address that the stubs must get. r12 = the smallest allowed address-space limit; if it is 0, the limit
 * is not checked, and nothing is written below the stack pointer. rbp = flags: with SETUP_POOLED, the counters are the
 * file whose name the tracer has written to setup_path, otherwise a memfd that this code creates; with SETUP_RECORDS,
 * memory for records is mapped as well.
 *
 * Out: r12 = descriptor of the counters, or -errno (-E2BIG if the limit is too small). r13, r14, r15 and rbx =
 * addresses of the agent's code, its data, the slots and the stubs, or -errno. r9 = the mark in the file (struct
 * agent_tail). rbp has SETUP_NO_* added.
 *
 * With a memfd, the code stops at the first int3, where the tracer opens the memfd, and closes the descriptor before
 * the second int3. With a file, the code closes the descriptor without the first stop. In an attached process, both
 * int3 are no-ops, the code after them restores the thread's state, and the tracer stops the thread at the code's
 * calls.
 */
	.globl setup_begin, setup_path, setup_end, setup_trap1, setup_trap2, setup_closed, setup_back_end
#define MAP_ANON_AT   0x100022	/* MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE */
#define MAP_SHARED_AT 0x100001	/* MAP_SHARED | MAP_FIXED_NOREPLACE */
#define MAP_PRIVATE_AT 0x100002	/* MAP_PRIVATE | MAP_FIXED_NOREPLACE */
	.macro	map addr, size, prot, flags, fd
	mov	\addr, %rdi
	mov	\size, %rsi
	mov	$\prot, %edx
	mov	$\flags, %r10d
	mov	\fd, %r8
	xor	%r9d, %r9d
	kernel	__NR_mmap
	.endm
setup_begin:
	test	%r12, %r12
	jz	6f
	xor	%edi, %edi
	mov	$9, %esi		/* RLIMIT_AS */
	xor	%edx, %edx
	lea	-(16 + 128)(%rsp), %r10
	kernel	__NR_prlimit64
	cmp	%r12, -(16 + 128)(%rsp)
	movq	$0, -(16 + 128)(%rsp)	/* restores the zeros that execve(2) left below the stack */
	movq	$0, -(8 + 128)(%rsp)
	mov	$-7, %r12		/* -E2BIG */
	jb	1f
6:	lea	setup_path(%rip), %rdi
	mov	$0x80002, %esi		/* O_RDWR | O_CLOEXEC */
	mov	$2, %eax		/* open */
	test	$SETUP_POOLED, %ebp
	jnz	2f
	lea	name(%rip), %rdi
	mov	$3, %esi		/* MFD_CLOEXEC | MFD_ALLOW_SEALING */
	mov	$319, %eax		/* memfd_create */
2:	syscall
	mov	%rax, %r12
	test	%rax, %rax
	js	1f
	map	$AGENT_CODE, $AGENT_CODE_SIZE, 5, MAP_ANON_AT, $-1
	mov	%rax, %r13
	map	$AGENT_DATA, $AGENT_PAGE, 3, MAP_ANON_AT, $-1
	mov	%rax, %r14
	mov	$STATS_SIZE, %ecx
	test	$SETUP_RECORDS, %ebp
	jz	4f
	mov	$(STATS_SIZE + RING_ROOM_AT_FIRST), %ecx
4:	map	$AGENT_STATS, %rcx, 3, MAP_SHARED_AT, %r12
	mov	%rax, %r15
	test	$SETUP_RECORDS, %ebp
	jz	5f
	map	$RECORDER_CODE, $(RECORDER_ROOM + RECIPES_ROOM), 5, MAP_ANON_AT, $-1
	lea	SETUP_NO_RECORDER(%rbp), %rcx
	cmp	%rdi, %rax
	cmovne	%rcx, %rbp
	map	$THREADS_AT, $THREADS_ROOM, 3, MAP_ANON_AT, $-1
	lea	SETUP_NO_THREADS(%rbp), %rcx
	cmp	%rdi, %rax
	cmovne	%rcx, %rbp
	map	$SCRATCHES_AT, $SCRATCH_ROOM_AT_FIRST, 3, MAP_ANON_AT, $-1
	lea	SETUP_NO_SCRATCHES(%rbp), %rcx
	cmp	%rdi, %rax
	cmovne	%rcx, %rbp
5:	map	%rbx, $STUB_AREA, 5, MAP_ANON_AT, $-1
	mov	%rax, %rbx
	test	$SETUP_POOLED, %ebp
	jz	setup_trap1
	mov	$AGENT_STATS, %rcx
	cmp	%rcx, %r15
	jne	3f
	mov	TAIL_AT + 8(%r15), %r9	/* agent_tail.mark */
	jmp	3f
setup_trap1:
	int3
3:	mov	%r12, %rdi
	kernel	__NR_close
setup_closed:
1:
setup_trap2:
	int3
	jmp	setup_back
name:	.asciz	"sctrace"
setup_path:
	.skip	SETUP_PATH, 0
setup_end:
setup_back:
	back	setup
setup_back_end:

/*
 * Unattended setup (image/unattended.c): maps memory for the agent in a new image whose loader is known, without a
 * stop. sctrace has written this code to unused bytes after the loader's code, and struct agent_unattended after it.
 * The work area on the stack contains the bytes that the code copies: the agent, its data, and the stubs. The code arms
 * the thread. Then it jumps to the program's first instruction, with the registers and the stack that execve(2) has set
 * up.
 *
 * In: rbx = the address for the stubs; rbp = 0, or if the image will record, SETUP_RECORDS and all SETUP_NO_*; all other
 * registers are 0. If the code fails, it stops at the int3, with r12 to r15, rbx and rbp as after setup_begin.
 */
	.globl unattended_code, unattended_armed, unattended_data, unattended_code_end
#define UNATTENDED(member) unattended_data + UNATTENDED_##member(%rip)
unattended_code:
	mov	$9, %esi		/* RLIMIT_AS */
	mov	UNATTENDED(WORK), %r10
	kernel	__NR_prlimit64
	mov	$-7, %r12		/* -E2BIG */
	cmpq	$ROOM_MIN, (%r10)
	jb	unattended_trap
	lea	UNATTENDED(PATH), %rdi
	mov	$0x80002, %esi		/* O_RDWR | O_CLOEXEC */
	kernel	__NR_open
	mov	%rax, %r12
	test	%rax, %rax
	js	unattended_trap
	map	$AGENT_CODE, $(AGENT_CODE_SIZE + AGENT_PAGE), 3, MAP_ANON_AT, $-1
	cmp	%rdi, %rax
	jne	1f
	mov	%rax, %r13
	lea	AGENT_CODE_SIZE(%rax), %r14
	map	$AGENT_STATS, UNATTENDED(STATS), 3, MAP_SHARED_AT, %r12
	mov	%rax, %r15
1:	mov	%r12, %rdi
	kernel	__NR_close
	mov	$AGENT_STATS, %rcx
	cmp	%rcx, %r15
	jne	unattended_trap
	map	%rbx, $STUB_AREA, 3, MAP_ANON_AT, $-1
	xchg	%rax, %rbx
	cmp	%rax, %rbx
	jne	unattended_trap
	mov	TAIL_AT + 8(%r15), %rax	/* agent_tail.mark */
	cmp	UNATTENDED(MARK), %rax
	jne	unattended_trap
	test	%ebp, %ebp
	jz	2f
	lea	UNATTENDED(RECORDER), %rdi
	mov	$0x80000, %esi		/* O_RDONLY | O_CLOEXEC */
	kernel	__NR_open
	mov	%rax, %r12
	test	%rax, %rax
	js	unattended_trap
	map	$RECORDER_CODE, $(RECORDER_ROOM + RECIPES_ROOM), 5, MAP_PRIVATE_AT, %r12
	mov	%rax, %r8
	mov	%rdi, %r9
	mov	%r12, %rdi
	kernel	__NR_close
	cmp	%r9, %r8
	jne	unattended_trap
	and	$~SETUP_NO_RECORDER, %ebp
	map	$THREADS_AT, $THREADS_ROOM, 3, MAP_ANON_AT, $-1
	cmp	%rdi, %rax
	jne	unattended_trap
	and	$~SETUP_NO_THREADS, %ebp
	mov	UNATTENDED(SCRATCH), %rdx
	mov	%rdx, 8(%rax)		/* the row of fs base 0: agent_thread.scratch */
	map	$SCRATCHES_AT, $SCRATCH_ROOM_AT_FIRST, 3, MAP_ANON_AT, $-1
	cmp	%rdi, %rax
	jne	unattended_trap
	and	$~SETUP_NO_SCRATCHES, %ebp
	mov	UNATTENDED(SCRATCH), %rdx
	mov	UNATTENDED(RING), %rcx
	mov	%rcx, SCRATCH_RING(%rdx)
2:	mov	UNATTENDED(WORK), %rsi
	mov	UNATTENDED_WORK_STUBS(%rsi), %r9
	lea	UNATTENDED_WORK_HEAD(%rsi), %rsi
	mov	%r13, %rdi
	mov	$(agent_end - agent_begin), %ecx
	rep movsb
	mov	%r14, %rdi
	mov	$UNATTENDED_DATA, %ecx
	rep movsb
	mov	%rbx, %rdi
	mov	%r9, %rcx
	rep movsb
	mov	UNATTENDED(WORK), %rdi	/* restores the zeros of the work area */
	mov	%rsi, %rcx
	sub	%rdi, %rcx
	xor	%eax, %eax
	rep stosb
	mov	%r13, %rdi
	mov	$AGENT_CODE_SIZE, %esi
	mov	$5, %edx		/* PROT_READ | PROT_EXEC */
	kernel	__NR_mprotect
	test	%eax, %eax
	jnz	unattended_trap
	mov	%rbx, %rdi
	mov	$STUB_AREA, %esi
	kernel	__NR_mprotect
	test	%eax, %eax
	jnz	unattended_trap
	mov	$59, %edi		/* PR_SET_SYSCALL_USER_DISPATCH */
	mov	$1, %esi		/* PR_SYS_DISPATCH_ON */
	mov	%r13, %rdx
	mov	$(agent_allowed_end - agent_begin), %r10d
	xor	%r8d, %r8d
	kernel	__NR_prctl
	test	%eax, %eax
	jnz	unattended_trap
unattended_armed:
	xor	%eax, %eax
	inc	%eax			/* clears the flags */
	.irp	reg, eax, ebx, ecx, edx, esi, edi, ebp, r8d, r9d, r10d, r11d, r12d, r13d, r14d, r15d
	mov	$0, %\reg
	.endr
	jmp	*UNATTENDED(ENTRY)
unattended_trap:
	int3
	.balign	8
unattended_data:
	.skip	UNATTENDED_SIZE, 0
unattended_code_end:

/* Maps only new counters, for a process that shared its counters with its parent. Out: r12, r15 as for setup_begin. */
	.globl region_begin, region_end, region_trap1, region_trap2, region_closed, region_back_end
region_begin:
	lea	name2(%rip), %rdi
	mov	$3, %esi
	kernel	__NR_memfd_create
	mov	%rax, %r12
	test	%rax, %rax
	js	1f
	map	$AGENT_STATS, $STATS_SIZE, 3, 0x11, %r12	/* MAP_SHARED | MAP_FIXED */
	mov	%rax, %r15
region_trap1:
	int3
	mov	%r12, %rdi
	kernel	__NR_close
region_closed:
1:
region_trap2:
	int3
	jmp	region_back
name2:	.asciz	"sctrace"
region_end:
region_back:
	back	region
region_back_end:
	.section .note.GNU-stack, "", @progbits
