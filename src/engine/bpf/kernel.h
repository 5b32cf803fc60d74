/* SPDX-License-Identifier: MIT */
/*
 * The few members of kernel structures that sctrace.bpf.c reads. These declarations are written by hand; a generated
 * vmlinux.h is not used. libbpf fills in the members' offsets at load time from the running kernel's type information
 * (BPF CO-RE), so only names and types matter here. Only the kernel half includes this file.
 */
#ifndef SCTRACE_ENGINE_BPF_KERNEL_H
#define SCTRACE_ENGINE_BPF_KERNEL_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct thread_info {
	unsigned long flags; /* arm64: TIF_* */
	unsigned int status; /* x86: TS_COMPAT */
};

struct percpu_counter {
	__s64 count;
};

struct mm_struct {
	unsigned long hiwater_rss;         /* pages */
	struct percpu_counter rss_stat[4]; /* since Linux 6.2; MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS, MM_SHMEMPAGES */
};

struct signal_struct {
	atomic_t live; /* threads that are not exiting */
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	int pid, tgid;
	int exit_code;
	unsigned long nvcsw, nivcsw; /* voluntary and involuntary context switches (getrusage(2)) */
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct signal_struct *signal;
	char comm[16];
};

struct bpf_iter_meta;
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct linux_binprm;
struct kernel_siginfo;

struct sigaction {
	void *sa_handler;
	unsigned long sa_flags;
};

struct k_sigaction {
	struct sigaction sa;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long orig_ax, ip, sp, di, si, dx, r10, r8, r9;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	unsigned long long regs[31], sp, pc;
	__s32 syscallno;
};
#endif

#pragma clang attribute pop

/* The definitions that differ between processors. */
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
