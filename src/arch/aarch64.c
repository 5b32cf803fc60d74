/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"

#include "base/ptrace.h"

#include <asm/ptrace.h>
#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <ucontext.h>

/* A 32-bit task's registers (arch/arm/include/asm/ptrace.h): r0 to r15, cpsr, and r0 at the entry of the call. */
enum { ARM_R7 = 7, ARM_SP = 13, ARM_PC = 15, ARM_ORIG_R0 = 17, ARM_REGS };

/* The kernel writes the layout of a 32-bit or a 64-bit task. The returned length shows which of them it wrote. */
struct regs {
	union {
		struct user_regs_struct a64;
		uint32_t arm[ARM_REGS];
	};
	bool is_arm;
};

static int regs_get(pid_t tid, struct regs *r)
{
	struct iovec iov = {r, sizeof(r->a64)};
	if (ptrace_retry(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov) < 0)
		return -errno;
	r->is_arm = iov.iov_len == sizeof(r->arm);
	return 0;
}

int arch_read_call(pid_t tid, struct call *c)
{
	struct regs r;
	int err = regs_get(tid, &r);
	if (err < 0)
		return err;
	c->arch = r.is_arm ? AUDIT_ARCH_ARM : AUDIT_ARCH_AARCH64;
	c->nr = r.is_arm ? (int32_t)r.arm[ARM_R7] : (int64_t)r.a64.regs[8];
	for (int i = 0; i < 6; i++)
		c->args[i] = r.is_arm ? r.arm[i ? i : ARM_ORIG_R0] : r.a64.regs[i];
	c->ip = r.is_arm ? r.arm[ARM_PC] : r.a64.pc;
	c->sp = r.is_arm ? r.arm[ARM_SP] : r.a64.sp;
	return 0;
}

/* A 32-bit program can make only 32-bit calls, so a foreign call means a foreign program. */
bool arch_is_foreign(pid_t tid)
{
	(void)tid;
	return false;
}

int arch_read_result(pid_t tid, struct call *c)
{
	struct regs r;
	int err = regs_get(tid, &r);
	if (err < 0)
		return err;
	c->result = r.is_arm ? (int32_t)r.arm[0] : (int64_t)r.a64.regs[0];
	c->error = c->result < 0 && c->result >= -4095;
	c->err = c->error ? (int)-c->result : 0;
	return 0;
}

int arch_skip_call(pid_t tid)
{
	int nr = -1;
	struct iovec iov = {&nr, sizeof(nr)};
	return ptrace_retry(PTRACE_SETREGSET, tid, (void *)NT_ARM_SYSTEM_CALL, &iov) < 0 ? -errno : 0;
}

int arch_set_first_arg(pid_t tid, uint64_t value)
{
	struct regs r;
	int err = regs_get(tid, &r);
	if (err < 0)
		return err;
	if (r.is_arm)
		r.arm[0] = (uint32_t)value;
	else
		r.a64.regs[0] = value;
	struct iovec iov = {&r, r.is_arm ? sizeof(r.arm) : sizeof(r.a64)};
	return ptrace_retry(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &iov) < 0 ? -errno : 0;
}

int arch_restore_first_arg(pid_t tid, uint64_t value)
{
	(void)tid, (void)value;
	return 0;
}

/* The result is returned in the register of the first argument. */
int arch_set_result(pid_t tid, int64_t result)
{
	return arch_set_first_arg(tid, (uint64_t)result);
}

uint64_t arch_call_site(uint32_t arch, uint64_t ip)
{
	return arch == AUDIT_ARCH_AARCH64 ? ip - 4 : ip;
}

int arch_sigframe(uint32_t arch, const struct mem *m, uint64_t sp, uint64_t *ip, int64_t *result)
{
	/* The frame is a siginfo, followed by the ucontext (struct rt_sigframe in arch/arm64/kernel/signal.c). */
	ucontext_t uc;
	if (arch != AUDIT_ARCH_AARCH64)
		return -ENOSYS;
	size_t need = offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, pstate);
	int err = mem_get(m, sp + sizeof(siginfo_t), &uc, need);
	if (err < 0)
		return err;
	*ip = uc.uc_mcontext.pc;
	*result = (int64_t)uc.uc_mcontext.regs[0];
	return 0;
}

int arch_breakpoint(pid_t tid, uint64_t addr)
{
	/* Arm Architecture Reference Manual, D2.8: 0x1e5 enables the breakpoint at EL0 for four bytes. */
	struct user_hwdebug_state s;
	memset(&s, 0, sizeof(s));
	s.dbg_regs[0].addr = addr;
	s.dbg_regs[0].ctrl = addr ? 0x1e5 : 0;
	struct iovec iov = {&s, offsetof(struct user_hwdebug_state, dbg_regs) + sizeof(s.dbg_regs[0])};
	return ptrace_retry(PTRACE_SETREGSET, tid, (void *)NT_ARM_HW_BREAK, &iov) < 0 ? -errno : 0;
}

int arch_ip(pid_t tid, uint64_t *ip)
{
	struct regs r;
	int err = regs_get(tid, &r);
	*ip = err < 0 ? 0 : r.is_arm ? r.arm[ARM_PC] : r.a64.pc;
	return err;
}
