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

#endif
