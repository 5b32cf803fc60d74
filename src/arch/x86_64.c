/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"

#include "base/ptrace.h"

#include <errno.h>
#include <linux/audit.h>
#include <stddef.h>
#include <sys/user.h>
#include <ucontext.h>

/* __USER32_CS of the kernel: the code segment of 32-bit code. An int 0x80 in 64-bit code cannot be recognised here. */
#define USER32_CS 0x23

static int get_regs(pid_t tid, struct user_regs_struct *r)
{
	return ptrace_retry(PTRACE_GETREGS, tid, NULL, r) < 0 ? -errno : 0;
}

int arch_read_call(pid_t tid, struct call *c)
{
	struct user_regs_struct r;
	int err = get_regs(tid, &r);
	if (err < 0)
		return err;
	bool i386 = r.cs == USER32_CS;
	c->arch = i386 ? AUDIT_ARCH_I386 : AUDIT_ARCH_X86_64;
	c->nr = (int64_t)r.orig_rax;
	const uint64_t native[6] = {r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9};
	const uint64_t compat[6] = {r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp};
	for (int i = 0; i < 6; i++)
		c->args[i] = i386 ? (uint32_t)compat[i] : native[i];
	c->ip = r.rip;
	c->sp = r.rsp;
	return 0;
}

bool arch_is_foreign(pid_t tid)
{
	errno = 0;
	long cs = ptrace_retry(PTRACE_PEEKUSER, tid, offsetof(struct user_regs_struct, cs), NULL);
	return !errno && cs != USER32_CS;
}

int arch_read_result(pid_t tid, struct call *c)
{
	errno = 0;
	long rax = ptrace_retry(PTRACE_PEEKUSER, tid, offsetof(struct user_regs_struct, rax), NULL);
	if (rax == -1 && errno)
		return -errno;
	c->result = c->arch == AUDIT_ARCH_I386 ? (int32_t)rax : rax;
	c->error = c->result < 0 && c->result >= -4095;
	c->err = c->error ? (int)-c->result : 0;
	return 0;
}

static int poke(pid_t tid, size_t offset, uint64_t value)
{
	return ptrace_retry(PTRACE_POKEUSER, tid, offset, value) < 0 ? -errno : 0;
}

int arch_skip_call(pid_t tid)
{
	return poke(tid, offsetof(struct user_regs_struct, orig_rax), (uint64_t)-1);
}

int arch_set_first_arg(pid_t tid, uint64_t value)
{
	return poke(tid, offsetof(struct user_regs_struct, rdi), value);
}

int arch_restore_first_arg(pid_t tid, uint64_t value)
{
	return arch_set_first_arg(tid, value);
}

int arch_set_result(pid_t tid, int64_t result)
{
	return poke(tid, offsetof(struct user_regs_struct, rax), (uint64_t)result);
}

uint64_t arch_call_site(uint32_t arch, uint64_t ip)
{
	(void)arch; /* syscall, sysenter and int 0x80 are each two bytes long */
	return ip - 2;
}

int arch_sigframe(uint32_t arch, const struct mem *m, uint64_t sp, uint64_t *ip, int64_t *result)
{
	/* arch/x86/include/asm/sigframe.h: `ret` has popped `pretcode`, so sp points at the ucontext. */
	gregset_t g;
	if (arch != AUDIT_ARCH_X86_64)
		return -ENOSYS;
	int err = mem_get(m, sp + offsetof(ucontext_t, uc_mcontext.gregs), &g, sizeof(g));
	if (err < 0)
		return err;
	*ip = (uint64_t)g[REG_RIP];
	*result = g[REG_RAX];
	return 0;
}

int arch_breakpoint(pid_t tid, uint64_t addr)
{
	/*
	 * Intel SDM vol. 3, 17.2: bit 0 of DR7 enables breakpoint DR0 for this task. If the length and type bits of DR0
	 * are zero, the breakpoint stops the task when it executes `addr`.
	 */
	size_t regs = offsetof(struct user, u_debugreg);
	int err = addr ? poke(tid, regs, addr) : 0;
	return err < 0 ? err : poke(tid, regs + 7 * sizeof(long), addr ? 1 : 0);
}

int arch_ip(pid_t tid, uint64_t *ip)
{
	struct user_regs_struct r;
	int err = get_regs(tid, &r);
	*ip = err < 0 ? 0 : r.rip;
	return err;
}
