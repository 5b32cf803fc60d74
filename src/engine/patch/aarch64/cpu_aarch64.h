/* SPDX-License-Identifier: MIT */
/* Registers, instructions and the signal frame of aarch64, as engine/patch/cpu.h describes. */
#ifndef SCTRACE_ENGINE_PATCH_AARCH64_CPU_AARCH64_H
#define SCTRACE_ENGINE_PATCH_AARCH64_CPU_AARCH64_H

#include "engine/patch/aarch64/encode.h"

#define CPU_CALL_SIZE      4                  /* svc #0 */
#define CPU_JUMP_SIZE      4                  /* b */
#define CPU_JUMPS_MIN      1                  /* a site is a single branch */
#define CPU_JUMP_REACH     0x7f00000          /* C6.2, B: 128 MiB */
#define CPU_STUBS_BELOW    (64 << 20)         /* half of that is left for libraries, above and below the stubs */
#define CPU_RED_ZONE       RED_ZONE           /* of Go (encode.h) */
#define CPU_ARCH           AUDIT_ARCH_AARCH64 /* linux/audit.h */
#define CPU_DISPATCHES     0
#define CPU_KNOCKS         1
#define CPU_PAGE_MOST      16384 /* as on the Raspberry Pi 5; the addresses of all memory of the agent are multiples of it */
#define CPU_OTHER_GETPID   -1 /* no call has this number: 64-bit programs have only one ABI */
#define CPU_PAGES_VARY     1
#define CPU_JUDGES_WAITS   1
#define CPU_MARKS_WAITS    0 /* it would take too many instructions at each call */
#define CPU_RESTARTS_EARLY 1
#define KNOCK_SIGNAL       28               /* SIGWINCH, which programs ignore by default */
#define KNOCK_VALUE        0x7c5a6b6e6f636b /* si_value */
#define RSEQ_SIGNATURE     0xd428bc00       /* sys/rseq.h: brk #0x45e0 */
#define RELEASING_CALLS                                                                                                \
	__NR_mmap, __NR_munmap, __NR_mremap, __NR_shmctl, __NR_shmdt, __NR_umount2, __NR_dup3, __NR_close_range,       \
		__NR_rseq
/* The agent's data: struct agent_data, and after it a table of addresses of rseq_cs, whose buckets have 8 rows (agent.S). */
#define AGENT_CODE_SIZE 0x4000
#define AGENT_DATA_SIZE 0x14000
#define AREAS_AT        (AGENT_DATA + 0x1000)
#define AREA_MIX        0x9e37
#define BELOW_PROGRAM   (CPU_RED_ZONE + FRAME_SIZE)
#define UC_RESULT       (128 + 184) /* asm/ucontext.h: after the siginfo_t, uc_mcontext.regs[0], */
#define UC_IP           (128 + 440) /* pc, */
#define UC_MASK         (128 + 40)  /* and the signal mask */
#define CPU_RECORD_POP  0           /* the first instruction after the call stores the result */
#define CPU_SAVED       16
#define CPU_FRAME_WORDS 6
#define CPU_TRAP                                                                                                       \
	{                                                                                                              \
		0, 0, 0x20, 0xd4                                                                                       \
	} /* brk #0 */
#define CPU_NOP                                                                                                        \
	{                                                                                                              \
		0x1f, 0x20, 0x03, 0xd5                                                                                 \
	} /* nop */
#define CPU_RESTORER                                                                                                   \
	{                                                                                                              \
		0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4                                                               \
	} /* mov x8, #139; svc #0 */

#ifndef __ASSEMBLER__
#include "base/ptrace.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* Calls that this processor lacks. */
#define SYS_access     (-1)
#define SYS_dup2       (-1)
#define SYS_epoll_wait (-1)
#define SYS_fork       (-1)
#define SYS_poll       (-1)
#define SYS_select     (-1)
#define SYS_vfork      (-1)
#define SYS_link       (-1)
#define SYS_rename     (-1)
#define SYS_rmdir      (-1)
#define SYS_unlink     (-1)
#define __NR_dup2      UINT64_MAX
#define __NR_poll      UINT64_MAX
#define __NR_select    UINT64_MAX

/* The loader sets the thread pointer by an instruction. Directly after that, it makes this call. */
#define CPU_SET_THREAD_POINTER   SYS_set_tid_address
#define CPU_POINTER_NAME         "thread pointer (TPIDR_EL0)"
#define CPU_READS_THREAD_POINTER "code of sctrace for aarch64"

/* The kernel does not give the last two members with the others (asm/ptrace.h, struct user_pt_regs). */
struct cpu_regs {
	uint64_t regs[31], sp, pc, pstate;
	uint64_t call; /* NT_ARM_SYSTEM_CALL */
	uint64_t tls;  /* NT_ARM_TLS */
};
#define CPU_GIVEN (34 * sizeof(uint64_t))
_Static_assert(offsetof(struct cpu_regs, call) == CPU_GIVEN, "as in struct user_pt_regs");

#define CPU_IP             pc
#define CPU_SP             sp
#define CPU_THREAD_POINTER tls
#define CPU_NR             regs[8]
#define CPU_RESULT         regs[0]
#define CPU_ARG0           regs[0]
#define CPU_ARG1           regs[1]
#define CPU_ARG2           regs[2]
#define CPU_ARG3           regs[3]
#define CPU_ARG4           regs[4]
#define CPU_ARG5           regs[5]
#define CPU_FLAGS          pstate
#define CPU_RESTARTED      call
#define CPU_NO_CALL        ((uint64_t)-1)
#define CPU_SLOT           regs[10]
#define CPU_KIND           regs[10]
#define CPU_TICKS          regs[16]
#define CPU_KEPT           regs[13]
#define CPU_SPARE          regs[16]
#define CPU_MADE           regs[19]
#define CPU_BACK_LAST      regs[14]
#define CPU_SETUP_STUBS    regs[19]
#define CPU_SETUP_FD       regs[20]
#define CPU_SETUP_CODE     regs[21]
#define CPU_SETUP_DATA     regs[22]
#define CPU_SETUP_STATS    regs[23]
#define CPU_SETUP_MARK     regs[24]
#define CPU_SETUP_FLAGS    regs[25]

#define CPU_ARGS(r)                                                                                                    \
	{                                                                                                              \
		(r)->regs[0], (r)->regs[1], (r)->regs[2], (r)->regs[3], (r)->regs[4], (r)->regs[5]                     \
	}

#define CPU_COMPAT_BIT 0x10 /* PSTATE.nRW: the thread runs 32-bit code */
#define CPU_NZCV       0xf0000000
#define CPU_BTYPE      0xc00 /* PSTATE.BTYPE: the last instruction was an indirect branch */

/* For a 32-bit thread, only pstate is set: the kernel gives its registers in another layout (compat_gpr_get()). */
static inline long cpu_get(pid_t tid, struct cpu_regs *r)
{
	int call = -1;
	struct iovec all = {r, CPU_GIVEN}, nr = {&call, sizeof(call)}, tls = {&r->tls, sizeof(r->tls)};
	memset(r, 0, sizeof(*r));
	if (ptrace_retry(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &all) < 0)
		return -1;
	if (all.iov_len != CPU_GIVEN)
		*r = (struct cpu_regs){.pstate = CPU_COMPAT_BIT};
	else if (ptrace_retry(PTRACE_GETREGSET, tid, (void *)NT_ARM_SYSTEM_CALL, &nr) < 0 ||
		 ptrace_retry(PTRACE_GETREGSET, tid, (void *)NT_ARM_TLS, &tls) < 0)
		return -1;
	r->call = (uint64_t)(int64_t)call;
	return 0;
}

/* The thread pointer is not written: only cpu_give_thread_pointer() changes it. */
static inline long cpu_set(pid_t tid, const struct cpu_regs *r)
{
	int call = (int)r->call;
	struct iovec all = {(void *)r, CPU_GIVEN}, nr = {&call, sizeof(call)};
	if (r->pstate & CPU_COMPAT_BIT || ptrace_retry(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &all) < 0)
		return -1;
	return ptrace_retry(PTRACE_SETREGSET, tid, (void *)NT_ARM_SYSTEM_CALL, &nr);
}

static inline long cpu_set_ip(pid_t tid, uint64_t ip)
{
	struct cpu_regs r;
	if (cpu_get(tid, &r) < 0)
		return -1;
	r.pc = ip;
	return cpu_set(tid, &r);
}

static inline void cpu_set_args(struct cpu_regs *r, const uint64_t args[6])
{
	memcpy(r->regs, args, 6 * sizeof(*args));
}

/* x6, x7, x17, the flags, and x19 to x29 (record.S.inc). */
static inline void cpu_set_saved(struct cpu_regs *r, const uint64_t saved[CPU_SAVED])
{
	memcpy(&r->regs[6], saved, 2 * sizeof(*saved));
	r->regs[17] = saved[2];
	r->pstate = (r->pstate & ~(uint64_t)(CPU_NZCV | CPU_BTYPE)) | (saved[3] & CPU_NZCV);
	memcpy(&r->regs[19], saved + 4, 11 * sizeof(*saved));
}

/* x16, x30, and x9 to x12 (encode.h). */
static inline void cpu_set_frame(struct cpu_regs *r, const uint64_t frame[CPU_FRAME_WORDS])
{
	r->regs[16] = frame[FRAME_X16 / 8];
	r->regs[30] = frame[FRAME_X30 / 8];
	memcpy(&r->regs[9], frame + FRAME_X9 / 8, 4 * sizeof(*frame));
}

static inline void cpu_return_to(struct cpu_regs *r, uint64_t ip)
{
	r->pc = ip;
	r->pstate &= ~(uint64_t)CPU_BTYPE;
}

static inline void cpu_after_call(struct cpu_regs *r, uint64_t ip)
{
	cpu_return_to(r, ip);
}

static inline void cpu_set_flags(struct cpu_regs *r, uint64_t saved)
{
	(void)r, (void)saved; /* the agent does not change the flags */
}

/* Does the instruction set x8: movz, mov (orr), an addition, an extension, a shift, or a load (ldr, ldur)? */
static inline bool cpu_sets_number(const unsigned char *code)
{
	uint32_t word;
	memcpy(&word, code, sizeof(word));
	const uint32_t kind = word & 0x7f800000;
	return (word & 0x1f) == 8 &&
	       (kind == 0x52800000 || kind == 0x2a000000 || kind == 0x11000000 || kind == 0x13000000 ||
		kind == 0x53000000 || (word & 0xbfc00000) == 0xb9400000 || (word & 0xbfc00000) == 0xb8400000);
}

static inline void cpu_leave_trap(struct cpu_regs *r)
{
	r->pc += CPU_CALL_SIZE;
}

static inline bool cpu_exec_taken(const struct cpu_regs *r)
{
	(void)r;
	return false;
}

static inline struct cpu_regs cpu_first(const struct cpu_regs *r, uint64_t entry)
{
	return (struct cpu_regs){.pc = entry, .sp = r->sp, .call = CPU_NO_CALL, .pstate = r->pstate, .tls = r->tls};
}

static inline bool cpu_is_compat(const struct cpu_regs *r)
{
	return r->pstate & CPU_COMPAT_BIT;
}

static inline bool cpu_has_no_call(int64_t nr, bool only_native)
{
	(void)only_native;
	return nr < 0 || nr >= 512;
}

static inline bool cpu_is_native(const struct cpu_regs *r)
{
	return !cpu_is_compat(r);
}

static inline bool cpu_reads_thread_pointer(void)
{
	return true;
}

static inline bool cpu_sets_thread_pointer(int64_t nr, const struct cpu_regs *r)
{
	(void)nr, (void)r;
	return false;
}

static inline long cpu_give_thread_pointer(pid_t tid, uint64_t value)
{
	struct iovec tls = {&value, sizeof(value)};
	return ptrace_retry(PTRACE_SETREGSET, tid, (void *)NT_ARM_TLS, &tls);
}

static inline bool cpu_is_call(const unsigned char code[CPU_CALL_SIZE])
{
	const uint32_t call = SITE_CALL;
	return memcmp(code, &call, sizeof(call)) == 0;
}

static inline bool cpu_is_clock_read(const unsigned char code[CPU_CALL_SIZE])
{
	uint32_t instruction;
	memcpy(&instruction, code, sizeof(instruction));
	return (instruction & ~0x1fu) == 0xd53be040; /* mrs xN, cntvct_el0 */
}

/* The virtual counter, whose frequency is cntfrq_el0: 1 GHz on new processors, and often 24 or 54 MHz. */
static inline uint64_t cpu_ticks(void)
{
	uint64_t now;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
}

/* Arm Architecture Reference Manual, D11.1.2: the system counter. */
static inline bool cpu_has_steady_ticks(void)
{
	return true;
}

#define AREA_BUCKET(at) ((volatile uint64_t *)(AREAS_AT + ((at)*AREA_MIX >> 22 & 1023) * 64))

static inline __attribute__((always_inline)) uint64_t cpu_note_area(uint64_t at)
{
	uint64_t own;
	__asm__("mrs %0, tpidr_el0" : "=r"(own));
	volatile uint64_t *row = AREA_BUCKET(at);
	for (int i = 1; i < 8 && *row && *row != at; i++)
		row++;
	*row = at;
	return at - own;
}

static inline __attribute__((always_inline)) uint64_t cpu_area(uint64_t rseq)
{
	uint64_t at;
	__asm__("mrs %0, tpidr_el0" : "=r"(at));
	at += rseq;
	for (const volatile uint64_t *row = AREA_BUCKET(at), *end = row + 8; row < end; row++)
		if (*row == at)
			return at;
	return 0;
}

/* Atomic, as in agent.S: two threads may have the same thread pointer. */
static inline __attribute__((always_inline)) uint64_t cpu_change_area(uint64_t at, uint64_t from, uint64_t to)
{
	__atomic_compare_exchange_n((uint64_t *)at, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return from; /* is what was there, if it was not `from` */
}

static inline __attribute__((always_inline)) bool cpu_releases(uint64_t nr)
{
	return nr == SYS_mmap || nr == SYS_munmap || nr == SYS_mremap || nr == SYS_shmctl || nr == SYS_shmdt ||
	       nr == SYS_umount2 || nr == SYS_dup3 || nr == SYS_close_range || nr == SYS_rseq || nr == SYS_clone ||
	       nr == SYS_clone3;
}

static inline __attribute__((always_inline)) int64_t cpu_own_call(uint64_t at, int64_t nr, uint64_t a, uint64_t b,
								  uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d;
	register uint64_t x4 __asm__("x4") = e, x5 __asm__("x5") = f;
	register int64_t x8 __asm__("x8") = nr;
	__asm__ volatile("blr %[at]"
			 : "+r"(x0)
			 : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8), [at] "r"(at)
			 : "x30", "memory", "cc");
	return (int64_t)x0;
}

static inline __attribute__((always_inline)) void cpu_wait_loads(void)
{
	__asm__ volatile("isb" : : : "memory");
}

static inline __attribute__((always_inline)) void cpu_wait_all(void)
{
	__asm__ volatile("dsb sy\n\tisb" : : : "memory");
}
#endif

#endif
