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

static int regs(pid_t tid, enum __ptrace_request what, struct user_regs_struct *r)
{
	struct iovec iov = {r, sizeof(*r)};
	return ptrace(what, tid, (void *)NT_PRSTATUS, &iov) < 0 ? -errno : 0;
}

int arch_read_call(pid_t tid, struct call *c)
{
	struct user_regs_struct r;
	int err = regs(tid, PTRACE_GETREGSET, &r);
	if (err < 0)
		return err;
	c->arch = AUDIT_ARCH_AARCH64;
	c->nr = (int64_t)r.regs[8];
	for (int i = 0; i < 6; i++)
		c->args[i] = r.regs[i];
	c->ip = r.pc;
	c->sp = r.sp;
	return 0;
}

int arch_read_result(pid_t tid, struct call *c)
{
	struct user_regs_struct r;
	int err = regs(tid, PTRACE_GETREGSET, &r);
	if (err < 0)
		return err;
	c->result = (int64_t)r.regs[0];
	c->error = c->result < 0 && c->result >= -4095;
	c->err = c->error ? (int)-c->result : 0;
	return 0;
}

int arch_skip_call(pid_t tid)
{
	int nr = -1;
	struct iovec iov = {&nr, sizeof(nr)};
	return ptrace(PTRACE_SETREGSET, tid, (void *)NT_ARM_SYSTEM_CALL, &iov) < 0 ? -errno : 0;
}

int arch_set_first_arg(pid_t tid, uint64_t value)
{
	struct user_regs_struct r;
	int err = regs(tid, PTRACE_GETREGSET, &r);
	if (err < 0)
		return err;
	r.regs[0] = value;
	return regs(tid, PTRACE_SETREGSET, &r);
}

int arch_restore_first_arg(pid_t tid, uint64_t value)
{
	(void)tid, (void)value;
	return 0;
}

int arch_set_result(pid_t tid, int64_t result)
{
	struct user_regs_struct r;
	int err = regs(tid, PTRACE_GETREGSET, &r);
	if (err < 0)
		return err;
	r.regs[0] = (uint64_t)result;
	return regs(tid, PTRACE_SETREGSET, &r);
}

uint64_t arch_call_site(uint32_t arch, uint64_t ip)
{
	return arch == AUDIT_ARCH_AARCH64 ? ip - 4 : ip;
}

int arch_sigframe(uint32_t arch, const struct mem *m, uint64_t sp, uint64_t *ip, int64_t *result)
{
	/* arch/arm64/kernel/signal.c, struct rt_sigframe: siginfo, then the ucontext. */
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
	/* Arm ARM D2.8: control 0x1e5 = enabled, EL0, four bytes. */
	struct user_hwdebug_state s;
	memset(&s, 0, sizeof(s));
	s.dbg_regs[0].addr = addr;
	s.dbg_regs[0].ctrl = addr ? 0x1e5 : 0;
	struct iovec iov = {&s, offsetof(struct user_hwdebug_state, dbg_regs) + sizeof(s.dbg_regs[0])};
	return ptrace(PTRACE_SETREGSET, tid, (void *)NT_ARM_HW_BREAK, &iov) < 0 ? -errno : 0;
}

int arch_ip(pid_t tid, uint64_t *ip)
{
	struct user_regs_struct r;
	int err = regs(tid, PTRACE_GETREGSET, &r);
	*ip = err < 0 ? 0 : r.pc;
	return err;
}
