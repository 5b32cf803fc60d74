/* Registers and calls: what differs from one processor to the next. One file an architecture implements this. */
#ifndef SCTRACE_ARCH_ARCH_H
#define SCTRACE_ARCH_ARCH_H

#include "event.h"
#include "tracee/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Fills arch, nr, args, ip, sp of a task in a syscall-enter-stop from its registers (kernels before 5.3); 0 or -errno.
 */
int arch_read_call(pid_t tid, struct call *c);
/* The stopped task makes a call that is not of the native architecture: is its program of the native one all the same? */
bool arch_is_foreign(pid_t tid);
/* Fills result, error, err of a task in a syscall-exit-stop from its registers; 0 or -errno. */
int arch_read_result(pid_t tid, struct call *c);
/* At a syscall-enter-stop: the kernel skips the call. 0 or -errno. */
int arch_skip_call(pid_t tid);
/* At a syscall-enter-stop: its first argument is `value` from now on. 0 or -errno. */
int arch_set_first_arg(pid_t tid, uint64_t value);
/*
 * At a syscall-exit-stop or a child's first: what arch_set_first_arg() changed is as the program had it. Where the result
 * lies in the first argument's register (aarch64) there is nothing to do. 0 or -errno.
 */
int arch_restore_first_arg(pid_t tid, uint64_t value);
/* At a syscall-exit-stop: the program sees `result`. 0 or -errno. */
int arch_set_result(pid_t tid, int64_t result);
/* The address of the instruction that made the call whose return address is `ip`: where a restarted call resumes. */
uint64_t arch_call_site(uint32_t arch, uint64_t ip);
/*
 * At the entry of rt_sigreturn(2) with stack pointer `sp`: where the interrupted program goes on (*ip) and what its
 * result register will hold. 0, or -errno where the frame cannot be read or its layout is not known.
 */
int arch_sigframe(uint32_t arch, const struct mem *m, uint64_t sp, uint64_t *ip, int64_t *result);
/* Sets (or, with 0, clears) a hardware breakpoint of the stopped task at `addr`; -errno where there is none to be had.
 */
int arch_breakpoint(pid_t tid, uint64_t addr);
/* The stopped task's instruction pointer; 0 or -errno. */
int arch_ip(pid_t tid, uint64_t *ip);

/* Tells the processor that this is a loop that waits (x86 PAUSE, aarch64 YIELD). */
static inline void arch_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif
