/* SPDX-License-Identifier: MIT */
/* Registers and system calls: what differs between processors. Each architecture has one file for this header. */
#ifndef SCTRACE_ARCH_ARCH_H
#define SCTRACE_ARCH_ARCH_H

#include "event.h"
#include "tracee/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Fills in arch, nr, args, ip and sp at a syscall-enter-stop, for kernels before 5.3. Returns 0 or -errno. */
int arch_read_call(pid_t tid, struct call *c);
/* The task is making a call of a foreign architecture: does its program belong to that one as well? */
bool arch_is_foreign(pid_t tid);
/* Fills in result, error and err from the registers of a task in a syscall-exit-stop. Returns 0 or -errno. */
int arch_read_result(pid_t tid, struct call *c);
/* At a syscall-enter-stop: makes the kernel skip the call. Returns 0 or -errno. */
int arch_skip_call(pid_t tid);
/* At a syscall-enter-stop: sets the first argument to `value`. Returns 0 or -errno. */
int arch_set_first_arg(pid_t tid, uint64_t value);
/*
 * At a syscall-exit-stop, or at the first stop of a child: restores the first argument that arch_set_first_arg()
 * changed. Does nothing if the result is returned in the register of the first argument (aarch64). Returns 0 or -errno.
 */
int arch_restore_first_arg(pid_t tid, uint64_t value);
/* At a syscall-exit-stop: sets the result that the program sees. Returns 0 or -errno. */
int arch_set_result(pid_t tid, int64_t result);
/* Returns the address of the instruction whose call returns to `ip`. A restarted call begins there. */
uint64_t arch_call_site(uint32_t arch, uint64_t ip);
/*
 * Reads the signal frame at stack pointer `sp`, at the entry of rt_sigreturn(2). Sets *ip to the address where the
 * interrupted program continues, and *result to the value that its result register will have. Returns 0, or -errno if
 * the frame cannot be read or its layout is unknown.
 */
int arch_sigframe(uint32_t arch, const struct mem *m, uint64_t sp, uint64_t *ip, int64_t *result);
/* Sets a hardware breakpoint at `addr`, or clears it if 0. Returns -errno if no register is available. */
int arch_breakpoint(pid_t tid, uint64_t addr);
/* Reads the instruction pointer of the stopped task. Returns 0 or -errno. */
int arch_ip(pid_t tid, uint64_t *ip);

/* Tells the processor that this is a spin loop (x86 PAUSE, aarch64 YIELD). */
static inline void arch_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Makes a system call directly, not through the C library. The call has no arguments, and its result is ignored. */
static inline void arch_bare_call(long nr)
{
#if defined(__x86_64__)
	__asm__ volatile("syscall" : "+a"(nr) : : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long number __asm__("x8") = nr;
	register long result __asm__("x0");
	__asm__ volatile("svc 0" : "=r"(result) : "r"(number) : "memory");
#endif
}

#endif
