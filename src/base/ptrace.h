/* ptrace(2) that does not take one refusal for an answer. */
#ifndef SCTRACE_BASE_PTRACE_H
#define SCTRACE_BASE_PTRACE_H

#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>

/*
 * Of a task that is traced the kernel refuses nothing but for ESRCH and what a request itself cannot do (EIO, EINVAL,
 * EFAULT); but a program that is half changed cannot be left so because of a request that a sandbox, or who tests
 * us, refused once: EPERM, ENOMEM, EAGAIN and EINTR are asked again, twice. PTRACE_SEIZE's EPERM is an answer. Returns and
 * fails as ptrace(2).
 */
long ptrace_again(int request, pid_t tid, uintptr_t addr, uintptr_t data);

#define ptrace(request, tid, addr, data) ptrace_again((int)(request), tid, (uintptr_t)(addr), (uintptr_t)(data))

#endif
