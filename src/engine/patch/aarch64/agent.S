/*
 * The agent for aarch64 (code/agent.h says what an agent is). This folder is not part of sctrace yet: nothing above it
 * uses it, and the patch engine still refuses this architecture. Only tests/unit/test_patch_aarch64.c runs it.
 *
 * It counts calls that have no flag, or only SLOT_F_BYTES, and it makes calls with SLOT_F_PLAIN. It refuses all others:
 * calls whose arguments must be checked, calls that create threads and processes, and calls to be recorded. It does not find
 * out whether calls wait, so it counts all of them in SLOT_UNARMED.
 *
 * Entry: called by a stub (encode.h), which has stored x16 and x30 at the stack pointer. A system call changes only x0, so
 *        all other registers are kept, and so are the flags: no instruction of this file changes them.
 * Exit:  if x16 is 0, the call was made, and x0 is its result. If it is 1, nothing was done: the stub makes the call.
 *
 * Each update of the slot is one instruction with a label (in the variant `excl`, a store that may fail). So when a signal
 * comes, the address of the next instruction shows what remains to be done (resume.h). During the call, x9 is its start,
 * x10 the slot and the flags, x11 the slot, and x12 is 1. They need no memory, because the kernel keeps them.
 */
#include "engine/patch/aarch64/encode.h"
#include "engine/patch/code/agent.h"

#include <asm/unistd.h>

#define DATA(offset) .Lagent_base + (AGENT_DATA - AGENT_CODE) + (offset)
#define AT_MAP 72 /* agent_data.map; an assertion in agent.h compares it with the structure */
#define CHECKED_FLAGS (SLOT_F_FORKS | SLOT_F_CHECK | SLOT_F_EXEC | SLOT_F_RECORD)
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

/* Makes a call. \v is the variant and the suffix of the labels. */
	.macro	path v
agent_entry_\v:
	BTI_C
	save_\v
agent_saved_\v:
	lsr	x9, x8, #9		/* is it at least AGENT_CALLS? */
	cbnz	x9, agent_refuse_\v
	adr	x9, DATA(AT_MAP)
	ldr	w10, [x9, x8, lsl #2]
	cbz	w10, agent_refuse_\v
	ldur	x11, [x9, #-AT_MAP]	/* agent_data.base */
	add	x10, x10, x11
	tbnz	x10, #BASE_APART, agent_refuse_\v
	and	w11, w10, #(CHECKED_FLAGS | SLOT_F_PLAIN)
	cbnz	w11, agent_special_\v
	and	x11, x10, #-SLOT_ALIGN
	mov	x12, #1
	add_\v	x12, SLOT_ENTERED, agent_add_entered_\v
	mrs	x9, cntvct_el0
agent_sys_\v:
	svc	#0
agent_after_\v:
	mrs	x16, cntvct_el0
	sub	x16, x16, x9
	bic	x16, x16, x16, asr #63	/* never below zero, even if the counters of processors differ */
agent_timed_\v:
	add_\v	x16, SLOT_TICKS, agent_add_ticks_\v
	add_\v	x12, SLOT_UNARMED, agent_add_unarmed_\v
	most_\v	x16, SLOT_MAX, agent_add_max_\v
	mvn	x12, x16
agent_inverted_\v:
	most_\v	x12, SLOT_MIN_NOT, agent_add_min_not_\v
	lsr	x9, x16, #39		/* longer calls belong to the last bucket */
	cbnz	x9, agent_long_\v
4:	orr	x9, x16, #16		/* shift = 59 - clz; see struct agent_slot */
	clz	x9, x9
	lsl	x16, x16, x9
	lsr	x16, x16, #59		/* ticks >> shift */
	sub	x9, x11, x9, lsl #6
	add	x9, x9, x16, lsl #2
	add	x9, x9, #(SLOT_HIST + 4 * 16 * 59)
	mov	x12, #1
agent_bucket_\v:
	bucket_\v agent_add_hist_\v
	tbnz	w16, #31, agent_half_\v
7:	tbnz	x0, #63, agent_negative_\v
	tbz	w10, #0, agent_restore_\v	/* SLOT_F_BYTES */
	add_\v	x0, SLOT_BYTES, agent_add_bytes_\v
agent_restore_\v:
	restore_\v
	mov	x16, #0
	ret
agent_negative_\v:
	add	x9, x0, #4095
	tbnz	x9, #63, agent_restore_\v	/* not an error, but a result below -4095 */
	add_\v	x12, SLOT_ERRORS, agent_add_error_\v
agent_restore_error_\v:
	restore_\v
	mov	x16, #0
	ret
agent_long_\v:
	mov	x16, #0x7fffffffff
	b	4b
agent_half_\v:				/* a bucket is half full: the tracer empties all at the next call */
	adr	x9, DATA(AT_MAP)
	str	wzr, [x9, x8, lsl #2]
	b	7b

agent_special_\v:
	and	w11, w10, #CHECKED_FLAGS
	cbnz	w11, agent_refuse_\v
	restore_\v
agent_plain_sys_\v:			/* a call that is neither counted nor recorded */
	svc	#0
	mov	x16, #0
	ret
agent_refuse_\v:
	restore_\v
	mov	x16, #1
	ret

agent_exit_\v:				/* exit(2): uses no stack, because the thread may no longer have one */
	BTI_C
	mov	x8, #__NR_exit
	adr	x9, DATA(AT_MAP)
	ldr	w10, [x9, x8, lsl #2]
	ldur	x11, [x9, #-AT_MAP]
	cbz	w10, agent_trap
	and	w12, w10, #(SLOT_ALIGN - 1)
	cbnz	w12, agent_trap
	add	x11, x10, x11
	tbnz	x11, #BASE_APART, agent_trap
	mov	x12, #1
	add_\v	x12, SLOT_ENTERED, agent_exit_counts_\v
	svc	#0
	brk	#0
agent_end_\v:
	.pushsection .data.rel.ro, "aw"	/* struct agent_labels */
	.quad	agent_entry_\v, agent_saved_\v, agent_add_entered_\v, agent_sys_\v, agent_after_\v
	.quad	agent_timed_\v, agent_add_ticks_\v, agent_add_unarmed_\v, agent_add_max_\v, agent_inverted_\v
	.quad	agent_add_min_not_\v, agent_bucket_\v, agent_add_hist_\v, agent_add_bytes_\v, agent_restore_\v
	.quad	agent_negative_\v, agent_add_error_\v, agent_restore_error_\v, agent_long_\v, agent_half_\v
	.quad	agent_special_\v, agent_plain_sys_\v, agent_refuse_\v, agent_exit_\v, agent_exit_counts_\v
	.quad	agent_end_\v
	.popsection
	.endm

	.section .rodata
	.balign	64
	.globl	agent_labels, agent_begin, agent_end, agent_allowed_end, agent_trap
	.pushsection .data.rel.ro, "aw"
	.balign	8
agent_labels:				/* filled in by the uses of `path` */
	.popsection
agent_begin:
.Lagent_base:
	path	lse
	path	excl
agent_allowed_end:
agent_trap:				/* always stops, because it is after agent_allowed_end */
	svc	#0
	brk	#0
agent_end:
	.section .note.GNU-stack, "", @progbits
