/* SPDX-License-Identifier: MIT */
#include "decode/layout.h"
#include "decode/show.h"
#include "syscall/call_table.h"

#include <linux/audit.h>
#include <stdio.h>

/* Shows the arguments of ptrace(2), which depend on the request: numbers, structures, and registers. */

/* PTRACE_TRACEME (0) has no arguments after the request. */
enum when when_ptrace_pid(const struct decode *d, int i)
{
	(void)i;
	return (uint32_t)d->call->args[0] ? WHEN_ENTERING : WHEN_NEVER;
}

STRUCTURE_SAME(peek_signals, M64(off, ULONG), M32(flags, PEEK_SIGNALS_FLAGS), M32(nr, INT));

static void one_siginfo(const struct decode *d, uint64_t addr, void *ctx)
{
	(void)ctx;
	show_kind(d, K_SIGINFO, addr, -1);
}

/* The result is the number of elements. */
void show_siginfos(const struct decode *d, const struct value *x)
{
	decode_array(d, x->v, decode_returned(d), 128 /* sizeof(siginfo_t) */, one_siginfo, NULL);
}

/* struct ptrace_syscall_info (linux/ptrace.h) */
struct stop_info {
	uint8_t op, pad[3];
	uint32_t arch;
	uint64_t ip, sp;
	union {
		struct {
			uint64_t nr, args[6];
			uint32_t ret_data; /* only at a seccomp stop */
		} entry;
		struct {
			int64_t rval;
			uint8_t is_error;
		} exit;
	};
};
enum { STOP_NONE, STOP_ENTRY, STOP_EXIT, STOP_SECCOMP };

static void entry_info(const struct decode *d, const struct stop_info *s, uint64_t addr)
{
	const struct syscall_desc *desc = syscall_lookup(s->arch, (int64_t)s->entry.nr);
	char name[80];
	emit_field(d->out, s->op == STOP_ENTRY ? "entry" : "seccomp");
	emit_open(d->out, '{');
	emit_field(d->out, "nr");
	snprintf(name, sizeof(name), "__NR_%s", desc ? desc->name : "");
	if (desc)
		emit_sym(d->out, name, s->entry.nr);
	else
		emit_hex(d->out, s->entry.nr);
	emit_field(d->out, "args");
	decode_numbers(d, addr + offsetof(struct stop_info, entry.args), 6, sizeof(uint64_t), K_HEX);
	if (s->op == STOP_SECCOMP)
		show_field(d, "ret_data", K_HEX, s->entry.ret_data);
	emit_close(d->out, '}');
}

static void exit_info(const struct decode *d, const struct stop_info *s)
{
	emit_field(d->out, "exit");
	emit_open(d->out, '{');
	show_field(d, "rval", s->exit.is_error ? K_NEGATIVE_ERRNO : K_LONG, (uint64_t)s->exit.rval);
	show_field(d, "is_error", K_UINT, s->exit.is_error);
	emit_close(d->out, '}');
}

/* PTRACE_GET_SYSCALL_INFO writes no more bytes than the previous argument says. */
void show_syscall_info(const struct decode *d, const struct value *x)
{
	struct stop_info s = {0};
	uint64_t room = d->call->args[2];
	if (room < offsetof(struct stop_info, entry) || !decode_get(d, x->v, &s, room < sizeof(s) ? room : sizeof(s))) {
		emit_ptr(d->out, x->v);
		return;
	}
	emit_open(d->out, '{');
	show_field(d, "op", K_SYSCALL_INFO_OP, s.op);
	show_field(d, "arch", K_AUDIT_ARCH, s.arch);
	show_field(d, "instruction_pointer", K_PTR, s.ip);
	show_field(d, "stack_pointer", K_PTR, s.sp);
	if (room < sizeof(s))
		emit_more(d->out);
	else if (s.op == STOP_ENTRY || s.op == STOP_SECCOMP)
		entry_info(d, &s, x->v);
	else if (s.op == STOP_EXIT)
		exit_info(d, &s);
	emit_close(d->out, '}');
}

/* struct user_regs_struct of x86-64 (sys/user.h) */
static STRUCTURE(regs_x86, M64(r15, HEX), M64(r14, HEX), M64(r13, HEX), M64(r12, HEX), M64(rbp, HEX), M64(rbx, HEX),
		 M64(r11, HEX), M64(r10, HEX), M64(r9, HEX), M64(r8, HEX), M64(rax, HEX), M64(rcx, HEX), M64(rdx, HEX),
		 M64(rsi, HEX), M64(rdi, HEX), M64(orig_rax, HEX), M64(rip, HEX), M64(cs, HEX), M64(eflags, HEX),
		 M64(rsp, HEX), M64(ss, HEX), M64(fs_base, HEX), M64(gs_base, HEX), M64(ds, HEX), M64(es, HEX),
		 M64(fs, HEX), M64(gs, HEX));

/* struct user_fpregs_struct of x86-64 (sys/user.h); strace has the same names */
static STRUCTURE(fpregs_x86, M16(cwd, HEX), M16(swd, HEX), M16(ftw, HEX), M16(fop, HEX), M64(rip, HEX), M64(rdp, HEX),
		 M32(mxcsr, HEX), M32(mxcr_mask, HEX), ARRAY(uint32_t, st_space, 32, FPREGS_ST),
		 ARRAY(uint32_t, xmm_space, 64, FPREGS_XMM), ARRAY(uint32_t, padding, 24, FPREGS_PADDING));

/* struct user_pt_regs of aarch64 (asm/ptrace.h) */
static STRUCTURE(regs_aarch64, ARRAY(uint64_t, regs, 31, REGS_AARCH64), M64(sp, HEX), M64(pc, HEX), M64(pstate, HEX));

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

/* PTRACE_GETREGS and PTRACE_SETREGS, which 64-bit programs for Arm cannot use */
void show_user_regs(const struct decode *d, const struct value *x)
{
	show_registers(d, d->call->arch == AUDIT_ARCH_AARCH64 ? 0 : GENERAL, x->v);
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
