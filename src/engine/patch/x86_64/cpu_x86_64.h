/* SPDX-License-Identifier: MIT */
/* Registers, instructions and the signal frame of x86-64, as engine/patch/cpu.h describes. */
#ifndef SCTRACE_ENGINE_PATCH_X86_64_CPU_X86_64_H
#define SCTRACE_ENGINE_PATCH_X86_64_CPU_X86_64_H

#define CPU_CALL_SIZE      2                       /* syscall */
#define CPU_RED_ZONE       128                     /* System V ABI, 3.2.2 */
#define CPU_ARCH           AUDIT_ARCH_X86_64       /* linux/audit.h */
#define RSEQ_SIGNATURE     0x53053053              /* sys/rseq.h */
#define BELOW_PROGRAM      (CPU_RED_ZONE + 8 + 24) /* also the return address, and three registers */
#define UC_RESULT          144                     /* arch/x86/include/uapi/asm/ucontext.h: rax, */
#define UC_IP              168                     /* rip, */
#define UC_MASK            296                     /* and the signal mask */
#define CPU_RECORD_POP     2                       /* pop %r11 */
#define CPU_SAVED          6
#define CPU_FRAME_WORDS    2
#define CPU_JUMP_SIZE      5          /* jmp rel32 */
#define CPU_JUMPS_MIN      2          /* a short jump at the site, and a hop */
#define CPU_JUMP_REACH     0x7f000000 /* of rel32, 2 GiB */
#define CPU_STUBS_BELOW    (512ull << 20)
#define CPU_DISPATCHES     1
#define CPU_KNOCKS         0
#define CPU_PAGE_MOST      4096
#define CPU_OTHER_GETPID   (0x40000000 + 39) /* of x32 */
#define CPU_PAGES_VARY     0
#define CPU_JUDGES_WAITS   1
#define CPU_MARKS_WAITS    1
#define CPU_RESTARTS_EARLY 0
#define AGENT_CODE_SIZE    0x2000
#define AGENT_DATA_SIZE    AGENT_PAGE
#define RELEASING_CALLS    9, 11, 25, 31, 33, 67, 166, 292, 436, 334
#define CPU_TRAP                                                                                                       \
	{                                                                                                              \
		0xcc                                                                                                   \
	} /* int3 */
#define CPU_NOP                                                                                                        \
	{                                                                                                              \
		0x90                                                                                                   \
	} /* nop */

#define CPU_RESTORER                                                                                                   \
	{                                                                                                              \
		0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 /* mov $15,%rax; syscall */                                \
	}

#ifndef __ASSEMBLER__
#include "base/ptrace.h"
#include "engine/patch/x86_64/encode.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#define CPU_SET_THREAD_POINTER   SYS_arch_prctl
#define CPU_POINTER_NAME         "FS base (arch_prctl(2))"
#define CPU_READS_THREAD_POINTER "the instruction RDFSBASE"

/* asm/hwcap2.h */
#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE 2
#endif

#define cpu_regs           user_regs_struct
#define CPU_IP             rip
#define CPU_SP             rsp
#define CPU_THREAD_POINTER fs_base
#define CPU_NR             rax
#define CPU_RESULT         rax
#define CPU_ARG0           rdi
#define CPU_ARG1           rsi
#define CPU_ARG2           rdx
#define CPU_ARG3           r10
#define CPU_ARG4           r8
#define CPU_ARG5           r9
#define CPU_FLAGS          eflags
#define CPU_RESTARTED      orig_rax
#define CPU_NO_CALL        ((unsigned long long)-1)
#define CPU_REFUSED        rcx
#define CPU_SLOT           rcx
#define CPU_KIND           rcx
#define CPU_TICKS          rdx
#define CPU_KEPT           r9
#define CPU_SPARE          r11
#define CPU_MADE           rbx
#define CPU_BACK_LAST      rdi
#define CPU_SETUP_FLAGS    rbp
#define CPU_SETUP_STUBS    rbx
#define CPU_SETUP_FD       r12
#define CPU_SETUP_CODE     r13
#define CPU_SETUP_DATA     r14
#define CPU_SETUP_STATS    r15
#define CPU_SETUP_MARK     r9

#define CPU_ARGS(r)                                                                                                    \
	{                                                                                                              \
		(r)->rdi, (r)->rsi, (r)->rdx, (r)->r10, (r)->r8, (r)->r9                                               \
	}

static inline long cpu_get(pid_t tid, struct cpu_regs *r)
{
	return ptrace_retry(PTRACE_GETREGS, tid, NULL, r);
}

static inline long cpu_set(pid_t tid, const struct cpu_regs *r)
{
	return ptrace_retry(PTRACE_SETREGS, tid, NULL, r);
}

static inline long cpu_set_ip(pid_t tid, uint64_t ip)
{
	return ptrace_retry(PTRACE_POKEUSER, tid, offsetof(struct user, regs.rip), ip);
}

static inline void cpu_set_args(struct cpu_regs *r, const uint64_t args[6])
{
	r->rdi = args[0];
	r->rsi = args[1];
	r->rdx = args[2];
	r->r10 = args[3];
	r->r8 = args[4];
	r->r9 = args[5];
}

static inline void cpu_set_saved(struct cpu_regs *r, const uint64_t saved[CPU_SAVED])
{
	r->rbx = saved[0];
	r->rbp = saved[1];
	r->r12 = saved[2];
	r->r13 = saved[3];
	r->r14 = saved[4];
	r->r15 = saved[5];
}

/* As `syscall` leaves them (Intel SDM 2B, SYSCALL). */
static inline void cpu_return_to(struct cpu_regs *r, uint64_t ip)
{
	r->rip = ip;
	r->rcx = ip;
}

static inline void cpu_after_call(struct cpu_regs *r, uint64_t ip)
{
	cpu_return_to(r, ip);
	r->r11 = r->eflags;
}

/* AH from lahf, AL from seto. */
static inline void cpu_set_flags(struct cpu_regs *r, uint64_t saved)
{
	r->eflags = (r->eflags & ~0x8d5ull) | (saved >> 8 & 0xd5) | (saved & 1) << 11;
}

/* The third argument and the flags. The arguments are set already. */
static inline void cpu_set_frame(struct cpu_regs *r, const uint64_t frame[CPU_FRAME_WORDS])
{
	cpu_set_flags(r, frame[1]);
}

/* The instruction pointer is after the breakpoint instruction already. */
static inline bool cpu_sets_number(const unsigned char *code)
{
	(void)code;
	return false;
}

static inline void cpu_leave_trap(struct cpu_regs *r)
{
	(void)r;
}

static inline bool cpu_exec_taken(const struct cpu_regs *r)
{
	const uint64_t zf = 0x40;
	return r->eflags & zf;
}

/* ELF_PLAT_INIT in the kernel's asm/elf.h. */
static inline struct cpu_regs cpu_first(const struct cpu_regs *r, uint64_t entry)
{
	const uint64_t arithmetic = 0x8d5;
	return (struct cpu_regs){.rip = entry,
				 .orig_rax = CPU_NO_CALL,
				 .rsp = r->rsp,
				 .cs = r->cs,
				 .ss = r->ss,
				 .ds = r->ds,
				 .es = r->es,
				 .fs = r->fs,
				 .gs = r->gs,
				 .fs_base = r->fs_base,
				 .gs_base = r->gs_base,
				 .eflags = r->eflags & ~arithmetic};
}

/* 512 to 547 are calls of x32, which older kernels also make without the bit of x32, 0x40000000 (syscall_64.tbl). */
static inline bool cpu_has_no_call(int64_t nr, bool only_native)
{
	return nr < 0 || (nr > (only_native ? 511 : 547) && nr < 0x40000000);
}

/* __USER_CS and __USER32_CS (arch/x86/include/asm/segment.h) */
static inline bool cpu_is_native(const struct cpu_regs *r)
{
	return r->cs == 0x33;
}

static inline bool cpu_is_compat(const struct cpu_regs *r)
{
	return r->cs == 0x23;
}

static inline bool cpu_reads_thread_pointer(void)
{
	return getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
}

static inline bool cpu_sets_thread_pointer(int64_t nr, const struct cpu_regs *r)
{
	return nr == SYS_arch_prctl && r->rdi == ARCH_SET_FS;
}

static inline long cpu_give_thread_pointer(pid_t tid, uint64_t value)
{
	(void)tid, (void)value;
	return -1; /* programs without thread-local storage are rare */
}

static inline bool cpu_is_call(const unsigned char code[CPU_CALL_SIZE])
{
	return code[0] == 0x0f && code[1] == 0x05;
}

static inline bool cpu_is_clock_read(const unsigned char code[CPU_CALL_SIZE])
{
	return code[0] == 0x0f && code[1] == 0x31; /* rdtsc */
}

/* The time stamp counter. __rdtsc() of x86intrin.h is the same, but that header takes long to compile. */
static inline __attribute__((always_inline)) uint64_t cpu_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* Intel SDM 3B, 17.17.1: CPUID 80000007H, EDX bit 8. */
static inline bool cpu_has_steady_ticks(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
}

static inline __attribute__((always_inline)) int64_t cpu_own_call(uint64_t at, int64_t nr, uint64_t a, uint64_t b,
								  uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	__asm__ volatile("call *%[at]"
			 : "+a"(nr)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9), [at] "b"(at)
			 : "rcx", "r11", "memory", "cc");
	return nr;
}

/* A word of the thread's control block (glibc's tcbhead_t). */
#define CPU_CONTROL_BLOCK(offset)                                                                                      \
	({                                                                                                             \
		uint64_t word_;                                                                                        \
		__asm__ volatile("movq %%fs:%c1, %0" : "=r"(word_) : "i"(offset));                                     \
		word_;                                                                                                 \
	})

static inline __attribute__((always_inline)) uint64_t cpu_note_area(uint64_t at)
{
	return at - CPU_CONTROL_BLOCK(0);
}

/* The block contains its own address twice, unless the fs base is not that of a thread of glibc. */
static inline __attribute__((always_inline)) uint64_t cpu_area(uint64_t rseq)
{
	const uint64_t self = CPU_CONTROL_BLOCK(0);
	return self && self == CPU_CONTROL_BLOCK(16) ? self + rseq : 0;
}

static inline __attribute__((always_inline)) uint64_t cpu_change_area(uint64_t at, uint64_t from, uint64_t to)
{
	volatile uint64_t *cs = (volatile uint64_t *)at;
	const uint64_t now = *cs;
	if (now == from)
		*cs = to;
	return now;
}

static inline __attribute__((always_inline)) bool cpu_releases(uint64_t nr)
{
	return (nr >= 56 && nr <= 58) || nr == 435 || nr == 9 || nr == 11 || nr == 25 || nr == 31 || nr == 33 ||
	       nr == 67 || nr == 166 || nr == 292 || nr == 436 || nr == 334;
}

/*
 * rdtsc does not wait for the instructions before it (Intel SDM, volume 2, RDTSC). lfence waits for these instructions,
 * but not until the values that they have stored reach the cache; mfence waits for the stores.
 */
static inline __attribute__((always_inline)) void cpu_wait_loads(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

static inline __attribute__((always_inline)) void cpu_wait_all(void)
{
	__asm__ volatile("mfence\n\tlfence" : : : "memory");
}
#endif

#endif
