/* The definitions that differ between processors. Only the kernel half includes this file. */
#ifndef SCTRACE_ENGINE_BPF_ARCH_BPF_H
#define SCTRACE_ENGINE_BPF_ARCH_BPF_H

#include "kernel.h"

#include <bpf/bpf_helpers.h>

#if defined(__TARGET_ARCH_x86)
#define TS_COMPAT          2 /* arch/x86/include/asm/thread_info.h */
#define NR_RT_SIGRETURN    15
#define NR_RESTART_SYSCALL 219
#define NR_EXECVE          59
#define NR_EXECVEAT        322
#elif defined(__TARGET_ARCH_arm64)
#define TIF_32BIT          22 /* arch/arm64/include/asm/thread_info.h */
#define NR_RT_SIGRETURN    139
#define NR_RESTART_SYSCALL 128
#define NR_EXECVE          221
#define NR_EXECVEAT        281
#endif
/* Numbers of the 32-bit architectures (arch/x86/entry/syscalls/syscall_32.tbl, arch/arm/tools/syscall.tbl). */
#define NR32_RT_SIGRETURN    173
#define NR32_SIGRETURN       119
#define NR32_RESTART_SYSCALL 0

static __always_inline unsigned int is_compat(struct task_struct *task)
{
#if defined(__TARGET_ARCH_x86)
	return (task->thread_info.status & TS_COMPAT) != 0;
#else
	return (task->thread_info.flags >> TIF_32BIT) & 1;
#endif
}

static __always_inline long long regs_nr(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return (int)regs->orig_ax;
#else
	return regs->syscallno;
#endif
}

static __always_inline unsigned long long regs_ip(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return regs->ip;
#else
	return regs->pc;
#endif
}

/* Stores the arguments of a call of the native architecture, at its entry. */
static __always_inline void regs_args(struct pt_regs *regs, unsigned long long args[6])
{
#if defined(__TARGET_ARCH_x86)
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
#else
	for (int i = 0; i < 6; i++)
		args[i] = regs->regs[i];
#endif
}

static __always_inline bool is_restart_syscall(long long nr, unsigned int compat)
{
	return nr == (compat ? NR32_RESTART_SYSCALL : NR_RESTART_SYSCALL);
}

static __always_inline bool is_sigreturn(long long nr, unsigned int compat)
{
	return compat ? nr == NR32_RT_SIGRETURN || nr == NR32_SIGRETURN
		      : (nr & ~0x40000000ll) == NR_RT_SIGRETURN || nr == (0x40000000ll | 513);
}

#endif
