/* Shows the registers that ptrace(2) reads and writes, and the addresses of registers in struct user. */
#include "decode/layout.h"
#include "decode/show.h"

#include <linux/audit.h>
#include <stdio.h>

/* struct user_regs_struct of x86-64 (sys/user.h) */
struct regs_x86 {
	uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax, rip, cs, eflags,
		rsp, ss, fs_base, gs_base, ds, es, fs, gs;
};
static LAYOUT(regs_x86, struct regs_x86, (r15, HEX), (r14, HEX), (r13, HEX), (r12, HEX), (rbp, HEX), (rbx, HEX),
	      (r11, HEX), (r10, HEX), (r9, HEX), (r8, HEX), (rax, HEX), (rcx, HEX), (rdx, HEX), (rsi, HEX), (rdi, HEX),
	      (orig_rax, HEX), (rip, HEX), (cs, HEX), (eflags, HEX), (rsp, HEX), (ss, HEX), (fs_base, HEX),
	      (gs_base, HEX), (ds, HEX), (es, HEX), (fs, HEX), (gs, HEX));

/* struct user_fpregs_struct of x86-64 (sys/user.h); strace has the same names */
struct fpregs_x86 {
	uint16_t cwd, swd, ftw, fop;
	uint64_t rip, rdp;
	uint32_t mxcsr, mxcr_mask, st_space[32], xmm_space[64], padding[24];
};
static LAYOUT(fpregs_x86, struct fpregs_x86, (cwd, HEX), (swd, HEX), (ftw, HEX), (fop, HEX), (rip, HEX), (rdp, HEX),
	      (mxcsr, HEX), (mxcr_mask, HEX), (st_space, FPREGS_ST, AT), (xmm_space, FPREGS_XMM, AT),
	      (padding, FPREGS_PADDING, AT));

/* struct user_pt_regs of aarch64 (asm/ptrace.h) */
struct regs_aarch64 {
	uint64_t regs[31], sp, pc, pstate;
};
static LAYOUT(regs_aarch64, struct regs_aarch64, (regs, REGS_AARCH64, AT), (sp, HEX), (pc, HEX), (pstate, HEX));

enum { GENERAL = 1, FLOATING = 2 }; /* NT_PRSTATUS and NT_FPREGSET (linux/elf.h) */

/* Returns this set of the registers of a tracee of the same architecture, or NULL if it is not described. */
static const struct layout *registers(const struct decode *d, uint32_t set)
{
	bool x86 = d->call->arch == AUDIT_ARCH_X86_64, aarch64 = d->call->arch == AUDIT_ARCH_AARCH64;
	if (decode_word(d) != 8)
		return NULL;
	return set == GENERAL && x86       ? &layout_regs_x86
	       : set == FLOATING && x86    ? &layout_fpregs_x86
	       : set == GENERAL && aarch64 ? &layout_regs_aarch64
					   : NULL;
}

static void show_registers(const struct decode *d, uint32_t set, uint64_t addr)
{
	const struct layout *l = registers(d, set);
	if (l)
		layout_emit(d, l, addr, l->size);
	else
		emit_ptr(d->out, addr);
}

/* PTRACE_GETREGS and PTRACE_SETREGS */
void show_user_regs(const struct decode *d, const struct value *x)
{
	show_registers(d, GENERAL, x->v);
}

/* PTRACE_GETFPREGS and PTRACE_SETFPREGS */
void show_user_fpregs(const struct decode *d, const struct value *x)
{
	show_registers(d, FLOATING, x->v);
}

/*
 * Returns true if a set of this many bytes can be shown. The kernel writes fewer for a 32-bit tracee (i386 and arm). A
 * set that contains arrays is shown only if it is complete.
 */
static bool is_described(const struct layout *l, uint64_t bytes)
{
	bool narrow = bytes == 17 * sizeof(uint32_t) || bytes == 18 * sizeof(uint32_t);
	return l && bytes && !narrow && (l == &layout_regs_x86 || bytes >= l->size);
}

/*
 * PTRACE_GETREGSET and PTRACE_SETREGSET: a struct iovec. The previous argument says which registers are meant. The
 * kernel sets iov_len to the number of bytes that it has written.
 */
void show_regset_buffer(const struct decode *d, const struct value *x)
{
	const struct layout *l = registers(d, (uint32_t)d->call->args[2]);
	uint64_t base, len;
	if (!decode_get_word(d, x->v, &base) || !decode_get_word(d, x->v + decode_word(d), &len)) {
		emit_ptr(d->out, x->v);
		return;
	}
	emit_open(d->out, '{');
	emit_field(d->out, "iov_base");
	if (is_described(l, len))
		layout_emit(d, l, base, len < l->size ? len : l->size);
	else
		emit_ptr(d->out, base);
	emit_field(d->out, "iov_len");
	decode_length(d, (uint32_t)len);
	emit_close(d->out, '}');
}

/* The offset in struct user of x86-64 (PTRACE_PEEKUSER): that of a register, 8*RAX, or of a debug register. */
void show_user_offset(const struct decode *d, const struct value *x)
{
	enum { DEBUG = 848, DEBUG_END = DEBUG + 8 * 8 }; /* offset of u_debugreg in struct user (sys/user.h) */
	static const char *const names[] = {"R15",     "R14",      "R13", "R12", "RBP",    "RBX", "R11",
					    "R10",     "R9",       "R8",  "RAX", "RCX",    "RDX", "RSI",
					    "RDI",     "ORIG_RAX", "RIP", "CS",  "EFLAGS", "RSP", "SS",
					    "FS_BASE", "GS_BASE",  "DS",  "ES",  "FS",     "GS"};
	char text[64];
	bool native = d->call->arch == AUDIT_ARCH_X86_64 && decode_word(d) == 8 && x->v % 8 == 0;
	if (native && x->v / 8 < sizeof(names) / sizeof(*names))
		snprintf(text, sizeof(text), "8*%s", names[x->v / 8]);
	else if (native && x->v >= DEBUG && x->v < DEBUG_END)
		snprintf(text, sizeof(text), "offsetof(struct user, u_debugreg)+%u", (unsigned)(x->v - DEBUG));
	else
		snprintf(text, sizeof(text), "%#llx", (unsigned long long)x->v);
	emit_sym(d->out, text, x->v);
}
