/* SPDX-License-Identifier: MIT */
/* Call sites for test_patch_aarch64.c, and code that sets and reads all registers around one of them. */
#define STATE_SP   248	/* offsets in struct state */
#define STATE_NZCV 256
#define STATE_FPSR 264
#define STATE_Q    272
#define SAVED_X30  256	/* from the stack pointer at the site */
	.altmacro
	.macro	each_pair instruction, letter, from, last, base
	.set	.Lat, \from
	.rept	(\last + 1 - \from) / 2
	pair	\instruction, \letter, %.Lat, %(.Lat + 1), \base
	.set	.Lat, .Lat + 2
	.endr
	.endm
	.macro	pair instruction, letter, i, j, base
	.ifc	\letter, q
	\instruction q\i, q\j, [\base, #(STATE_Q + 16 * \i)]
	.else
	\instruction x\i, x\j, [\base, #(8 * \i)]
	.endif
	.endm

	.text
	.balign	65536			/* pages of their own, which the test guards (BTI) */
	.globl	rig_run, rig_site, rig_call, rig_call_site
rig_run:				/* x0 = state before the call, x1 = state after it */
	stp	x29, x30, [sp, #-160]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	adrp	x9, rig_kept
	add	x9, x9, :lo12:rig_kept
	mov	x10, sp
	stp	x10, x1, [x9]
	mov	x30, x0
	each_pair ldp, q, 0, 31, x30
	ldp	x9, x10, [x30, #STATE_NZCV]
	msr	nzcv, x9
	msr	fpsr, x10
	ldr	x9, [x30, #STATE_SP]
	mov	sp, x9
	each_pair ldp, x, 0, 29, x30
	ldr	x30, [x30, #240]
rig_site:
	svc	#0
	str	x30, [sp, #SAVED_X30]
	adrp	x30, rig_kept
	ldr	x30, [x30, :lo12:rig_kept + 8]
	each_pair stp, x, 0, 29, x30
	ldr	x9, [sp, #SAVED_X30]
	str	x9, [x30, #240]
	mov	x9, sp
	str	x9, [x30, #STATE_SP]
	mrs	x9, nzcv
	mrs	x10, fpsr
	stp	x9, x10, [x30, #STATE_NZCV]
	each_pair stp, q, 0, 31, x30
	adrp	x9, rig_kept
	ldr	x9, [x9, :lo12:rig_kept]
	mov	sp, x9
	ldp	d14, d15, [sp, #144]
	ldp	d12, d13, [sp, #128]
	ldp	d10, d11, [sp, #112]
	ldp	d8, d9, [sp, #96]
	ldp	x27, x28, [sp, #80]
	ldp	x25, x26, [sp, #64]
	ldp	x23, x24, [sp, #48]
	ldp	x21, x22, [sp, #32]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #160
	ret

rig_call:				/* x0 = argument, x1 = number of the call */
	mov	x8, x1
rig_call_site:
	svc	#0
	ret
	.balign	65536

	.bss
	.balign	16
rig_kept:
	.skip	16
	.section .note.GNU-stack, "", @progbits
