/* SPDX-License-Identifier: MIT */
/*
 * The agent for aarch64 (code/agent.h says what an agent is).
 *
 * It counts and records calls, also those with SLOT_F_CHECK if their arguments concern neither the engine's memory nor patched
 * code, and makes those with SLOT_F_PLAIN. It refuses all others: calls that create threads and processes, execve(2), and
 * rt_sigreturn(2).
 *
 * Entry: called by a stub (encode.h), which has stored x16 and x30 at the stack pointer. A system call changes only x0, so
 *        all other registers are kept, and so are the flags: no instruction of this file changes them.
 * Exit:  returns to the stub if the call was made; x0 is its result. Returns to the address REFUSED after that if nothing was
 *        done: the stub makes the call.
 *
 * Each update of the slot is one instruction with a label (in the variant `excl`, a store that may fail). So when a signal
 * comes, the address of the next instruction shows what remains to be done (resume.h). During the call, x9 is its start,
 * x10 the slot and the flags, x11 the slot, and x12 is as follows. They need no memory, because the kernel keeps them.
 *
 * Waits. As on x86-64, the agent points the thread's rseq_cs at an empty section before a call: if the kernel has given the
 * CPU to another thread meanwhile, it has set rseq_cs to 0 (rseq(2), kernel/rseq.c). The area of a thread is at the same
 * distance from the thread pointer in all threads. But a program can set the thread pointer by an instruction, and
 * create threads that have no area. So the agent uses an address only if it is in the table AREAS_AT, into which it enters each
 * area that rseq(2) has registered. It stores the section only over 0, and 0 only over the section, and both by an atomic
 * instruction, so a section of the program always remains, even if two threads have the same thread pointer. x12 is
 * - 1, if it will not be known whether the call waits;
 * - the address of rseq_cs, which points at the agent's section; or
 * - this address and UNUSUAL_BIT, if rseq_cs points at a section of the program, or if the call is rseq(2), which registers it.
 */
#include "engine/patch/aarch64/encode.h"
#include "engine/patch/code/agent.h"
#include "engine/patch/code/ring.h"

#include <asm/unistd.h>

#define DATA(offset) .Lagent_base + (AGENT_DATA - AGENT_CODE) + (offset)
#define AT_MAP 72 /* agent_data.map; an assertion in agent.h compares it with the structure */
#define AT_WORDS 8
#define AT_WATCH 40
#define AT_CODE (AT_MAP + 4 * AGENT_CALLS)
/* Bit 6 is 0 in the addresses of all slots, and 1 in agent_data.base, so it is 1 if the entry is 0. */
#define NO_ENTRY_BIT  6
#define SPECIAL_FLAGS (SLOT_F_FORKS | SLOT_F_CHECK | SLOT_F_EXEC | SLOT_F_RECORD | SLOT_F_PLAIN | 1 << NO_ENTRY_BIT)
#define UNUSUAL_BIT   1
#define RSEQ_CS       8 /* offset of rseq_cs in struct rseq (linux/rseq.h) */
#define REFUSED       (STUB_REFUSED - STUB_MADE)
#define BTI_C hint #34 /* an indirect call or jump may lead here; a no-op for processors without this extension */

	.arch	armv8-a+lse
/*
 * The updates of the slot at x11, in two variants. `lse`: the processor has the atomic instructions of ARMv8.1
 * (HWCAP_ATOMICS). `excl`: it has not. This one changes x13 and x14 as well. Both change x9.
 */
	.macro	add_lse value, offset, label
	.if	\offset
	add	x9, x11, #\offset
\label:
	stadd	\value, [x9]
	.else
\label:
	stadd	\value, [x11]
	.endif
	.endm

	.macro	add_excl value, offset, label
	add	x9, x11, #\offset
1:	ldxr	x13, [x9]
	add	x13, x13, \value
\label:
	stxr	w14, x13, [x9]
	cbnz	w14, 1b
	.endm

	.macro	most_lse value, offset, label
	add	x9, x11, #\offset
\label:
	stumax	\value, [x9]
	.endm

	.macro	most_excl value, offset, label	/* 0 means: none stored. The others differ by less than 2^63. */
	add	x9, x11, #\offset
1:	ldxr	x13, [x9]
	cbz	x13, \label
	sub	x14, x13, \value
	tbz	x14, #63, 2f
\label:
	stxr	w14, \value, [x9]
	cbnz	w14, 1b
2:	clrex
	.endm

	.macro	bucket_lse label	/* x9 = address of the bucket; w16 = its value before */
\label:
	ldadd	w12, w16, [x9]
	.endm

	.macro	bucket_excl label
1:	ldxr	w16, [x9]
	add	w13, w16, w12
\label:
	stxr	w14, w13, [x9]
	cbnz	w14, 1b
	.endm

	.macro	count_lse label
\label:
	stadd	x12, [x9]
	.endm

	.macro	count_excl label
1:	ldxr	x13, [x9]
	add	x13, x13, x12
\label:
	stxr	w14, x13, [x9]
	cbnz	w14, 1b
	.endm

	.macro	if_zero_lse old, value, at	/* stores \value at \at if \old, which is 0, is there; \old = what was there */
	cas	\old, \value, [\at]
	.endm

	.macro	if_zero_excl old, value, at
1:	ldxr	\old, [\at]
	cbnz	\old, 6f
	stxr	w14, \value, [\at]
	cbnz	w14, 1b
6:	clrex
	.endm

	.macro	if_section_lse		/* stores 0 at x12 if x9 is there; x9 = what was there */
	cas	x9, xzr, [x12]
	.endm

	.macro	if_section_excl
1:	ldxr	x13, [x12]
	sub	x14, x13, x9
	cbnz	x14, 6f
	stxr	w14, xzr, [x12]
	cbnz	w14, 1b
6:	clrex
	mov	x9, x13
	.endm

	.macro	save_lse
	stp	x9, x10, [sp, #FRAME_X9]
	stp	x11, x12, [sp, #FRAME_X11]
	.endm

	.macro	save_excl
	save_lse
	stp	x13, x14, [sp, #FRAME_X13]
	.endm

	.macro	restore_lse
	ldp	x9, x10, [sp, #FRAME_X9]
	ldp	x11, x12, [sp, #FRAME_X11]
	.endm

	.macro	restore_excl
	ldp	x13, x14, [sp, #FRAME_X13]
	restore_lse
	.endm

	.macro	on call, to
	sub	x11, x8, #\call
	cbz	x11, \to
	.endm

/* The memory at an address that is relative to the agent's, which is at the beginning of a page here, too. */
#define PAGE(address) .Lagent_base + ((address) - AGENT_CODE)

/* Sets x16 to the thread's scratch memory. Jumps to \none if the thread has none. Changes x9, x11 and x12. */
	.macro	find_scratch none
	mrs	x9, tpidr_el0
	movz	x11, #(THREAD_MIX & 0xffff)
	movk	x11, #(THREAD_MIX >> 16), lsl #16
	mul	x11, x9, x11
	ubfx	x11, x11, #32, #10	/* a bucket has 256 bytes */
	adrp	x12, PAGE(THREADS_AT)
	add	x11, x12, x11, lsl #8
1:	ldp	x12, x16, [x11], #16
	sub	x12, x12, x9
	cbz	x12, 2f
	and	x12, x11, #0xff
	cbnz	x12, 1b
	b	\none
2:	cbz	x16, \none
	ldr	w9, [x16, #SCRATCH_BUSY]
	cbnz	w9, \none		/* SCRATCH_IDLE is 0 */
	.endm

/* Sets \to to the bucket of AREAS_AT for the address \area, as cpu_note_area() does. Changes \tmp. */
	.macro	area_bucket to, area, tmp
	mov	\tmp, #AREA_MIX
	mul	\tmp, \area, \tmp
	ubfx	\tmp, \tmp, #22, #10
	adr	\to, PAGE(AREAS_AT)
	add	\to, \to, \tmp, lsl #6
	.endm

/* Sets \to to the row of the call, as agent_row() does. Changes \tmp. */
	.macro	row to, tmp
	mov	\to, x8
	lsr	\tmp, x8, #9
	cbz	\tmp, 30f
	and	\to, x8, #(AGENT_OTHERS - 1)
	add	\to, \to, #AGENT_NUMBERS
30:
	.endm

/* Makes a call. \v is the variant and the suffix of the labels. */
	.macro	path v
agent_entry_\v:
	BTI_C
	save_\v
agent_saved_\v:
	lsr	x9, x8, #9		/* is it at least AGENT_NUMBERS? */
	cbnz	x9, .Lother_\v
	adr	x9, DATA(AT_MAP)
	ldr	w10, [x9, x8, lsl #2]
.Lentry_\v:
	ldur	x11, [x9, #-AT_MAP]	/* agent_data.base */
	add	x10, x10, x11
	tbnz	x10, #BASE_APART, agent_refuse_\v
	and	w11, w10, #SPECIAL_FLAGS
	cbnz	w11, agent_special_\v
.Lmake_\v:
	and	x11, x10, #-SLOT_ALIGN
	mov	x12, #1
	add_\v	x12, SLOT_ENTERED, agent_add_entered_\v
	ldr	x9, DATA(DATA_RSEQ)
	cbz	x9, .Lready_\v
	mrs	x16, tpidr_el0
	add	x12, x9, x16
	area_bucket x16, x12, x9
	ldr	x9, [x16]
	sub	x9, x9, x12
	cbnz	x9, .Lmore_areas_\v
.Lhas_area_\v:
	adr	x16, .Lagent_base		/* AGENT_SECTION */
	if_zero_\v x9, x16, x12
	cbnz	x9, .Lforeign_\v
.Lready_\v:
	mrs	x9, cntvct_el0
agent_sys_\v:
	svc	#0
agent_after_\v:
	mrs	x16, cntvct_el0
	sub	x16, x16, x9
	bic	x16, x16, x16, asr #63	/* never below zero, even if the counters of processors differ */
agent_timed_\v:
	add_\v	x16, SLOT_TICKS, agent_add_ticks_\v
	tbz	x12, #0, .Larmed_\v
.Lunarmed_\v:
	add_\v	x12, SLOT_UNARMED, agent_add_unarmed_\v
.Ljudged_\v:
	most_\v	x16, SLOT_MAX, agent_add_max_\v
	lsr	x9, x16, #39
	cbnz	x9, agent_long_\v
	mvn	x16, x16
agent_inverted_\v:
	most_\v	x16, SLOT_MIN_NOT, agent_add_min_not_\v
4:	and	x9, x16, #~16		/* the inverted time has x9 + 1 leading ones, and shift = 58 - x9; see struct agent_slot */
	cls	x9, x9
agent_shift_\v:				/* resume.c knows these instructions */
	lsl	x16, x16, x9
	ubfx	x16, x16, #58, #5	/* 31 - (ticks >> shift) */
	sub	x9, x11, x9, lsl #6
	sub	x9, x9, x16, lsl #2
	add	x9, x9, #(SLOT_HIST + BUCKET_AT)
agent_bucket_\v:
	bucket_\v agent_add_hist_\v
	tbnz	w16, #31, agent_half_\v
7:	tbnz	x0, #63, agent_negative_\v
	tbz	w10, #0, agent_restore_\v	/* SLOT_F_BYTES */
	add_\v	x0, SLOT_BYTES, agent_add_bytes_\v
agent_restore_\v:
	restore_\v
	ret
agent_negative_\v:			/* most calls with a number that fail have the same error */
	ldr	x9, [x11, #SLOT_FAILED]
	sub	x9, x9, x0
	cbnz	x9, agent_other_error_\v
5:	add_\v	x12, SLOT_FAILS, agent_add_fails_\v
agent_restore_fail_\v:
	restore_\v
	ret
agent_other_error_\v:
	add	x9, x0, #4095
	tbnz	x9, #63, agent_restore_\v	/* not an error, but a result below -4095 */
	ldr	x9, [x11, #SLOT_FAILED]
	cbnz	x9, 26f
	add	x16, x11, #SLOT_FAILED
	if_zero_\v x9, x0, x16
	cbz	x9, 5b
	b	agent_negative_\v	/* another thread has stored its error */
26:	add_\v	x12, SLOT_ERRORS, agent_add_error_\v
	neg	w16, w0			/* agent_errno.key; the row is found by comparing one row after the other */
	bfi	x16, x8, #ERRNO_BITS, #32
	adrp	x9, PAGE(AGENT_STATS + ERRNOS_AT)
	sub	x10, x11, x9
	tbz	x10, #63, 25f
21:	ldr	x10, [x9]
	cbz	x10, 23f
	sub	x10, x10, x16
	cbz	x10, 24f
	add	x9, x9, #16
	and	x10, x9, #(ERRNOS_SIZE - 1)
	cbnz	x10, 21b
	b	agent_restore_error_\v	/* the table is full */
25:	orr	x9, x11, #(LANE_SIZE - 1)	/* the slot is in a lane, at whose end the table is */
	and	x9, x9, #-ERRNOS_SIZE
	b	21b
23:	if_zero_\v x10, x16, x9
	cbnz	x10, 21b			/* another thread has written to the row */
	tbz	x9, #15, 24f
	row	x16, x10
	adr	x10, DATA(AT_MAP)	/* too many rows: the tracer sees the next call */
	str	wzr, [x10, x16, lsl #2]
24:	add	x9, x9, #8
	count_\v agent_add_errno_\v
agent_restore_error_\v:
	restore_\v
	ret
agent_long_\v:				/* longer calls belong to the last bucket */
	mvn	x16, x16
agent_long_inverted_\v:
	most_\v	x16, SLOT_MIN_NOT, agent_add_long_\v
agent_longest_\v:
	mov	x16, #~0x7fffffffff
	b	4b
agent_half_\v:				/* a bucket is half full: the tracer empties all at the next call */
	row	x16, x9
	adr	x9, DATA(AT_MAP)
	str	wzr, [x9, x16, lsl #2]
	b	7b

agent_unusual_\v:
	and	x12, x12, #~(1 << UNUSUAL_BIT)
	sub	x9, x8, #__NR_rseq
	cbz	x9, 1f
	ldr	x9, [x12]
	b	2f
1:	cbnz	x0, 3f
	mrs	x9, tpidr_el0
	sub	x9, x12, x9
	adr	x11, DATA(DATA_RSEQ)
	str	x9, [x11]
	area_bucket x11, x12, x9
4:	ldr	x9, [x11]
	cbz	x9, 5f
	sub	x9, x9, x12
	cbz	x9, 5f
	add	x11, x11, #8
	and	x9, x11, #63
	cbnz	x9, 4b
	sub	x11, x11, #64		/* no room: another thread loses its row, and its waits are not known any more */
5:	str	x12, [x11]
3:	and	x11, x10, #-SLOT_ALIGN
	mov	x12, #1
	b	.Lunarmed_\v
.Larmed_\v:
	tbnz	x12, #UNUSUAL_BIT, agent_unusual_\v
	adr	x9, .Lagent_base
	if_section_\v
2:	mov	x12, #1
	cbnz	x9, .Ljudged_\v
	.irp	call, RELEASING_CALLS
	sub	x9, x8, #\call
	cbz	x9, .Lunarmed_\v
	.endr
	sub	x9, x8, #__NR_close
	cbnz	x9, 3f
	ldr	x9, DATA(AT_WATCH)
	tbnz	x9, #5, .Lunarmed_\v	/* WATCH_CLOSES */
3:	add_\v	x12, SLOT_WAITS, agent_add_waits_\v
	add_\v	x16, SLOT_WAITED, agent_add_waited_\v
	b	.Ljudged_\v

agent_special_\v:
	sub	w11, w11, #SLOT_F_RECORD
	cbz	w11, .Lrecord_\v		/* no other flag is set */
	tbnz	x10, #NO_ENTRY_BIT, agent_refuse_\v
	tbnz	x10, #4, 9f		/* SLOT_F_RECORD */
	tbnz	x10, #5, .Lplain_\v	/* SLOT_F_PLAIN */
10:	tbnz	x10, #1, agent_refuse_\v	/* SLOT_F_FORKS */
	tbnz	x10, #3, agent_refuse_\v	/* SLOT_F_EXEC */
	on	__NR_mmap, 1f
	on	__NR_mremap, 2f
	on	__NR_rt_sigaction, 3f
	on	__NR_prctl, 4f
	on	__NR_rt_sigprocmask, .Lchecked_\v
	on	__NR_rseq, .Lrseq_\v
	on	__NR_set_tid_address, 11f
	on	__NR_mprotect, 13f
	on	__NR_pkey_mprotect, 13f
	.irp	call, __NR_rt_sigreturn, __NR_shmat
	on	\call, agent_refuse_\v
	.endr
5:	orr	x11, x0, x1		/* mprotect etc.: refused if the range [x0, x12) overlaps this frame or patched code */
	lsr	x11, x11, #55
	cbnz	x11, agent_refuse_\v
	add	x12, x0, x1
	add	x11, sp, #(RED_ZONE + FRAME_SIZE)
	sub	x11, x0, x11
	tbz	x11, #63, 6f
	mov	x11, sp
	sub	x11, x11, x12
	tbnz	x11, #63, agent_refuse_\v
6:	adr	x16, DATA(AT_CODE)
7:	ldr	x11, [x16]
	cbz	x11, .Lchecked_\v
	sub	x11, x11, x12
	tbz	x11, #63, 8f
	ldr	x11, [x16, #8]
	sub	x11, x0, x11
	tbnz	x11, #63, agent_refuse_\v
8:	add	x16, x16, #16
	b	7b
1:	tbnz	x2, #2, 14f		/* PROT_EXEC */
15:	cbz	x0, .Lchecked_\v		/* check the range only if an address is requested */
	b	5b
13:	tbz	x2, #2, 5b
14:	unless_knocking 11, 16f		/* the tracer must see new code, whose calls it patches */
	b	agent_refuse_\v
16:	sub	x11, x8, #__NR_mmap
	cbz	x11, 15b
	b	5b
2:	tbnz	x3, #1, agent_refuse_\v	/* the tracer must see MREMAP_FIXED */
	b	5b
4:	.irp	option, 21, 22, 59, 26	/* PR_GET_SECCOMP, PR_SET_SECCOMP, PR_SET_SYSCALL_USER_DISPATCH, PR_SET_TSC */
	sub	w11, w0, #\option
	cbz	w11, agent_refuse_\v
	.endr
	b	.Lchecked_\v
3:	cbz	x1, .Lchecked_\v
	.irp	sig, 7, 11, 31		/* the tracer must see actions for SIGBUS, SIGSEGV and SIGSYS, */
	sub	w11, w0, #\sig
	cbz	w11, agent_refuse_\v
	.endr
	ldr	x11, [x1, #8]
	tbnz	x11, #31, agent_refuse_\v	/* and SA_RESETHAND */
	ldur	x11, [x9, #(AT_WORDS - AT_MAP)]
	cbz	x11, .Lchecked_\v
	mov	x12, #1
	add_\v	x12, 8, .Lnoted_\v	/* agent_words.actions, before the call: the tracer uses no old actions */
	b	.Lchecked_\v
11:	tbz	x10, #4, agent_refuse_\v	/* set_tid_address(2) is where sctrace looks at the libraries (image/visit.c) */
	b	.Lrecord_\v
9:	tbnz	x10, #5, .Llane_\v	/* SLOT_F_LANE */
	and	w11, w10, #(SLOT_F_FORKS | SLOT_F_CHECK | SLOT_F_EXEC)
	cbnz	w11, 10b
.Lrecord_\v:
	.ifc	\v, excl
	ldp	x13, x14, [sp, #FRAME_X13]
	.endif
	b	agent_record
.Lchecked_\v:
	tbnz	x10, #4, .Lrecord_\v
	b	.Lmake_\v
.Llane_\v:				/* counts the call in the thread's lane, if it has one */
	adrp	x9, PAGE(TAIL_SELECTOR)
	ldrb	w9, [x9, #(TAIL_RECORDS - TAIL_SELECTOR)]
	cbz	w9, .Lrecord_\v
	find_scratch .Lrecord_\v
	ldr	x9, [x16, #SCRATCH_LANE]
	cbz	x9, .Lrecord_\v
	and	x10, x10, #~(SLOT_F_RECORD | SLOT_F_PLAIN)
	add	x10, x10, x9
	b	.Lmake_\v
.Lother_\v:				/* x8 is a number that no call has */
	and	x10, x8, #(AGENT_OTHERS - 1)
	adr	x9, DATA(DATA_OTHERS)
	ldrsw	x11, [x9, x10, lsl #2]
	sub	x11, x11, x8
	cbnz	x11, agent_refuse_\v
	add	x10, x10, #AGENT_NUMBERS
	adr	x9, DATA(AT_MAP)
	ldr	w10, [x9, x10, lsl #2]
	b	.Lentry_\v
.Lplain_\v:
	restore_\v
agent_plain_sys_\v:			/* a call that is neither counted nor recorded */
	svc	#0
	ret
agent_refuse_\v:
	restore_\v
	add	x30, x30, #REFUSED
	ret

/*
 * The C library registers the area of a thread. The tracer must see areas at other distances and other signatures, and areas
 * that the program no longer registers.
 */
.Lrseq_\v:
	ldr	x11, DATA(AT_WATCH)
	tbz	x11, #4, .Lchecked_\v	/* WATCH_WAITS */
	and	x11, x0, #31		/* then the call fails */
	cbnz	x11, .Lchecked_\v
	cbnz	w2, agent_refuse_\v	/* flags */
	movz	x11, #(RSEQ_SIGNATURE & 0xffff)
	movk	x11, #(RSEQ_SIGNATURE >> 16), lsl #16
	sub	w11, w3, w11
	cbnz	w11, agent_refuse_\v
	mrs	x12, tpidr_el0
	sub	x12, x0, x12
	add	x12, x12, #RSEQ_CS
	ldr	x11, DATA(DATA_RSEQ)
	cbz	x11, 1f
	sub	x11, x11, x12
	cbnz	x11, agent_refuse_\v
1:	tbnz	x10, #4, .Lrecord_\v
	and	x11, x10, #-SLOT_ALIGN
	mov	x12, #1
	add_\v	x12, SLOT_ENTERED, agent_add_rseq_\v
	add	x12, x0, #(RSEQ_CS + (1 << UNUSUAL_BIT))
	b	.Lready_\v
.Lmore_areas_\v:			/* the other rows of the bucket */
	add	x16, x16, #8
	and	x9, x16, #63
	cbz	x9, 1f
	ldr	x9, [x16]
	sub	x9, x9, x12
	cbnz	x9, .Lmore_areas_\v
	b	.Lhas_area_\v
1:	mov	x12, #1
	b	.Lready_\v
.Lforeign_\v:
	orr	x12, x12, #(1 << UNUSUAL_BIT)
	b	.Lready_\v

agent_exit_\v:				/* exit(2): uses no stack, because the thread may no longer have one */
	BTI_C
	mov	x8, #__NR_exit
	ldr	x9, DATA(DATA_RSEQ)	/* the memory of the thread's area may get another use */
	mrs	x10, tpidr_el0
	add	x9, x9, x10
	area_bucket x10, x9, x11
1:	ldr	x11, [x10]
	sub	x11, x11, x9
	cbz	x11, 2f
	add	x10, x10, #8
	and	x11, x10, #63
	cbnz	x11, 1b
	b	3f
2:	str	xzr, [x10]
3:	adr	x9, DATA(AT_MAP)
	ldr	w10, [x9, x8, lsl #2]
	ldur	x11, [x9, #-AT_MAP]
	cbz	w10, agent_knock_exit
	and	w12, w10, #(SLOT_ALIGN - 1)
	cbnz	w12, agent_knock_exit
	add	x11, x10, x11
	tbnz	x11, #BASE_APART, agent_knock_exit
	mov	x12, #1
	add_\v	x12, SLOT_ENTERED, agent_exit_counts_\v
	svc	#0
	brk	#0
agent_end_\v:
	.pushsection .data.rel.ro, "aw"	/* struct agent_labels */
	.quad	agent_entry_\v, agent_saved_\v, agent_add_entered_\v, agent_sys_\v, agent_after_\v
	.quad	agent_timed_\v, agent_add_ticks_\v, agent_add_unarmed_\v, agent_add_max_\v, agent_inverted_\v
	.quad	agent_add_min_not_\v, agent_shift_\v, agent_bucket_\v, agent_add_hist_\v, agent_add_bytes_\v, agent_restore_\v
	.quad	agent_negative_\v, agent_add_fails_\v, agent_restore_fail_\v, agent_other_error_\v
	.quad	agent_add_error_\v, agent_add_errno_\v, agent_restore_error_\v
	.quad	agent_long_\v, agent_long_inverted_\v, agent_add_long_\v, agent_longest_\v, agent_half_\v
	.quad	agent_unusual_\v, agent_add_waits_\v, agent_add_waited_\v
	.quad	agent_special_\v, agent_plain_sys_\v, agent_refuse_\v, agent_add_rseq_\v, agent_exit_\v
	.quad	agent_exit_counts_\v
	.quad	agent_end_\v
	.popsection
	.endm

	.macro	kernel call
	mov	x8, #\call
	svc	#0
	.endm

/*
 * Calls for the tracer, in a process to which sctrace has attached: nothing makes its calls stop. The thread sends itself a
 * signal, which the tracer recognises by its value (stepout_knock()), and lets it pass although the program may block it. The
 * tracer moves the thread on. Without a tracer, nothing happens, because programs ignore this signal by default. Changes x0 to
 * x4 and x8.
 */
	.macro	knock
	kernel	__NR_getpid
	mov	x4, x0
	kernel	__NR_gettid
	mov	x1, x0
	mov	x0, x4
	mov	x2, #KNOCK_SIGNAL
	adr	x3, .Lknock_info
	kernel	__NR_rt_tgsigqueueinfo
	mov	x0, #0
	mov	x1, #0
	adr	x2, .Lknock_time
	adr	x3, .Lknock_mask
	mov	x4, #8
	kernel	__NR_ppoll
	.endm

/* Jumps to \to if nothing needs to call for the tracer. Changes \reg. */
	.macro	unless_knocking reg, to
	adrp	x\reg, PAGE(TAIL_SELECTOR)
	ldrb	w\reg, [x\reg]
	cbz	w\reg, \to
	.endm

	.macro	number reg, value
	movz	\reg, #((\value) & 0xffff)
	movk	\reg, #((\value) >> 16 & 0xffff), lsl #16
	movk	\reg, #((\value) >> 32 & 0xffff), lsl #32
	.endm

#define MAP_ANON_AT   0x100022	/* MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE */
#define MAP_SHARED_AT 0x100001	/* MAP_SHARED | MAP_FIXED_NOREPLACE */
	.macro	map addr, size, prot, flags, fd
	number	x0, \addr
	map_here \size, \prot, \flags, \fd
	.endm

	.macro	map_here size, prot, flags, fd
	number	x1, \size
	map_sized \prot, \flags, \fd
	.endm

	.macro	map_sized prot, flags, fd
	mov	x2, #\prot
	number	x3, \flags
	mov	x4, \fd
	mov	x5, #0
	kernel	__NR_mmap
	.endm

/* Adds \flag to x25 if the memory could not be mapped. */
	.macro	map_or_flag addr, size, prot, flag
	map	(\addr), (\size), \prot, MAP_ANON_AT, -1
	number	x9, (\addr)
	orr	x10, x25, #\flag
	cmp	x0, x9
	csel	x25, x25, x10, eq
	.endm

/*
 * Restores the mask that a thread had before the tracer moved it. agent_masked_\s is after the only call, where the tracer
 * stops the thread and restores its registers.
 */
	.macro	back s
	.globl	agent_masked_\s, agent_back_\s
	mov	x0, #2			/* SIG_SETMASK */
	adr	x1, agent_back_\s + BACK_MASK
	mov	x2, #0
	mov	x3, #8
	kernel	__NR_rt_sigprocmask
agent_masked_\s:
	brk	#0
	.balign	8
agent_back_\s:
	.skip	BACK_SIZE, 0
	.endm

	.macro	absent label
	.globl	\label
	.set	\label, agent_end
	.endm

	.section .rodata
	.balign	AGENT_PAGE		/* for adrp */
	.globl	agent_labels, agent_begin, agent_end, agent_allowed_end, agent_trap
	.globl	agent_remote, agent_own_call, agent_own_call_end, agent_call, agent_call_end
	.globl	agent_knock, agent_knock_saved, agent_knock_idle, agent_knock_exit, agent_knock_exit_saved, agent_knock_end
	.pushsection .data.rel.ro, "aw"
	.balign	8
agent_labels:				/* filled in by the uses of `path` */
	.popsection
agent_begin:
.Lagent_base:				/* AGENT_SECTION: struct rseq_cs (linux/rseq.h), a section of one byte without code */
	.long	0, 0			/* version, flags */
	.quad	AGENT_DATA, 1, AGENT_CODE + 40
	.long	0, RSEQ_SIGNATURE	/* the signature is before the abort address, which is never used */
	.balign	64
	path	lse
	path	excl
#include "engine/patch/aarch64/record.S.inc"

agent_remote:				/* makes a call for the tracer */
	svc	#0
	brk	#0
agent_own_call:
	svc	#0
	ret
agent_own_call_end:
/* Makes a call for the tracer and restores the thread's mask. It also works at another address. Out: x19 = result. */
agent_call:
	svc	#0
	mov	x19, x0
	back	call
agent_call_end:
agent_knock:				/* called by a stub; x16 is free. The frame contains nothing but x16 and x30. */
	BTI_C
	unless_knocking 16, 1f
	stp	x0, x1, [sp, #FRAME_X9]
	stp	x2, x3, [sp, #FRAME_X11]
	stp	x4, x8, [sp, #FRAME_X13]
agent_knock_saved:
	knock
	ldp	x4, x8, [sp, #FRAME_X13]
	ldp	x2, x3, [sp, #FRAME_X11]
	ldp	x0, x1, [sp, #FRAME_X9]
	ret
agent_knock_idle:
1:	ret
agent_knock_exit:			/* before exit(2), without a stack */
	unless_knocking 9, agent_trap
	mov	x9, x0
agent_knock_exit_saved:
	knock
	mov	x0, x9
	mov	x8, #__NR_exit
	b	agent_trap
agent_knock_end:
	.balign	8
.Lknock_info:				/* siginfo_t, of which the kernel reads 128 bytes at most */
	.long	KNOCK_SIGNAL, 0, -1, 0	/* SI_QUEUE */
	.long	0, 0			/* si_pid, si_uid */
	.quad	KNOCK_VALUE
	.skip	96, 0
.Lknock_time:
	.quad	0, 0
.Lknock_mask:
	.quad	~(1 << (KNOCK_SIGNAL - 1))
agent_allowed_end:
agent_trap:				/* always stops, because it is after agent_allowed_end */
	svc	#0
	brk	#0
agent_announce:				/* always stops, so that sctrace reports the beginning of the call (record/step.c) */
	svc	#0
	b	agent_announced
agent_knock_announce:
	unless_knocking 9, agent_announce
	knock
	mov	x8, #AGENT_ASK
	b	agent_announce
agent_announce_end:
agent_ask:				/* always stops, so that sctrace completes the record (record/step.c) */
	svc	#0
	b	agent_ask_after
agent_knock_ask:
	unless_knocking 9, agent_ask
	knock
	mov	x8, #AGENT_ASK
	b	agent_ask
agent_ask_end:
agent_end:

/*
 * Labels of code that only the agent of x86-64 has. No thread is ever at this address, and ranges between two of them are
 * empty.
 */
	.irp	label, entry, p1, p2, p3, refuse, r1, check, pre_end, exit, sigsys, sigsys_restorer, taken, got, marked, lowered, released, loaded
	absent	agent_\label
	.endr
	.irp	label, marked, lowered, released, loaded, flagged, given, special
	absent	agent_record_\label
	.endr
	.irp	label, return_bad, vfork_sys, vfork_after, thread_sys, thread_after, vfork, settled, child, child_up
	absent	agent_record_\label
	.endr
	.irp	label, exec_taken, exec_end, go_shared, sigreturn_counted, sigreturn_sys, sigreturn_bad
	absent	agent_\label
	.endr
	.irp	label, plain_sys, plain_after, plain_ret, plain_pushed, plain_end
	absent	agent_\label
	.endr
	.irp	label, thread_saved, thread_restored, query_saved, query_restored
	absent	agent_\label
	.endr
	.irp	label, code, armed, data, code_end
	absent	unattended_\label
	.endr
	.pushsection .data.rel.ro, "aw"
	.balign	8
	.globl	agent_paths
agent_paths:
	.rept	AGENT_PATHS * AGENT_PATH_LABELS
	.quad	agent_end
	.endr
	.popsection

/*
 * Maps memory for the agent. Runs once in a new image, at an address that the tracer chooses.
 *
 * In: x19 = the address that the stubs must get. x20 = the smallest allowed address-space limit; if it is 0, the limit is not
 * checked, and nothing is written below the stack pointer. x25 = flags: with SETUP_POOLED, the counters are the file whose
 * name the tracer has written to setup_path, otherwise a memfd that this code creates.
 *
 * With SETUP_RECORDS, memory for records is mapped as well.
 *
 * Out: x20 = descriptor of the counters, or -errno (-E2BIG if the limit is too small). x21, x22, x23 and x19 = addresses of
 * the agent's code, its data, the slots and the stubs, or -errno. x24 = the mark in the file (struct agent_tail). x25 has
 * SETUP_NO_* added.
 *
 * With a memfd, the code stops at the first brk, where the tracer opens the memfd, and closes the descriptor before the
 * second brk. With a file, the code closes the descriptor without the first stop.
 */
	.globl	setup_begin, setup_path, setup_end, setup_trap1, setup_trap2, setup_closed, setup_back_end
setup_begin:
	cbz	x20, 1f
	mov	x0, #0
	mov	x1, #9			/* RLIMIT_AS */
	mov	x2, #0
	sub	x3, sp, #(16 + RED_ZONE)
	kernel	__NR_prlimit64
	ldr	x9, [x3]
	stp	xzr, xzr, [x3]		/* restores the zeros that execve(2) left below the stack */
	cmp	x9, x20
	mov	x20, #-7		/* -E2BIG */
	b.lo	setup_closed
1:	tbz	x25, #0, 2f		/* SETUP_POOLED */
	mov	x0, #-100		/* AT_FDCWD */
	adr	x1, setup_path
	number	x2, 0x80002		/* O_RDWR | O_CLOEXEC */
	kernel	__NR_openat
	b	3f
2:	adr	x0, .Lname
	mov	x1, #3			/* MFD_CLOEXEC | MFD_ALLOW_SEALING */
	kernel	__NR_memfd_create
3:	mov	x20, x0
	tbnz	x0, #63, setup_closed
	map	AGENT_CODE, AGENT_CODE_SIZE, 5, MAP_ANON_AT, -1
	mov	x21, x0
	map	AGENT_DATA, AGENT_DATA_SIZE, 3, MAP_ANON_AT, -1
	mov	x22, x0
	number	x0, AGENT_STATS
	number	x1, STATS_SIZE
	number	x9, RING_ROOM_AT_FIRST
	add	x9, x1, x9
	tst	x25, #SETUP_RECORDS
	csel	x1, x1, x9, eq
	map_sized 3, MAP_SHARED_AT, x20
	mov	x23, x0
	tbz	x25, #1, 5f		/* SETUP_RECORDS */
	map_or_flag RECORDER_CODE, RECORDER_ROOM + RECIPES_ROOM, 5, SETUP_NO_RECORDER
	map_or_flag THREADS_AT, THREADS_ROOM, 3, SETUP_NO_THREADS
	map_or_flag SCRATCHES_AT, SCRATCH_ROOM_AT_FIRST, 3, SETUP_NO_SCRATCHES
5:	mov	x0, x19
	map_here STUB_AREA, 5, MAP_ANON_AT, -1
	mov	x19, x0
	tbz	x25, #0, setup_trap1
	number	x9, AGENT_STATS
	sub	x9, x9, x23
	cbnz	x9, 4f
	number	x9, TAIL_AT + 8
	ldr	x24, [x23, x9]		/* agent_tail.mark */
	b	4f
setup_trap1:
	brk	#0
4:	mov	x0, x20
	kernel	__NR_close
setup_closed:
setup_trap2:
	brk	#0
	b	.Lsetup_back
.Lname:	.asciz	"sctrace"
setup_path:
	.skip	SETUP_PATH, 0
	.balign	4
setup_end:
.Lsetup_back:
	back	setup
setup_back_end:

/* Maps only new counters, for a process that shared its counters with its parent. Out: x20, x23 as for setup_begin. */
	.globl	region_begin, region_end, region_trap1, region_trap2, region_closed, region_back_end
region_begin:
	adr	x0, .Lname2
	mov	x1, #3
	kernel	__NR_memfd_create
	mov	x20, x0
	tbnz	x0, #63, region_closed
	map	AGENT_STATS, STATS_SIZE, 3, 0x11, x20	/* MAP_SHARED | MAP_FIXED */
	mov	x23, x0
region_trap1:
	brk	#0
	mov	x0, x20
	kernel	__NR_close
region_closed:
region_trap2:
	brk	#0
	b	.Lregion_back
.Lname2: .asciz	"sctrace"
	.balign	4
region_end:
.Lregion_back:
	back	region
region_back_end:
	.section .note.GNU-stack, "", @progbits
