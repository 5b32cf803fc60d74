/* ptrace(2) that does not take one refusal for an answer, and remembers a lasting one. */
#ifndef SCTRACE_BASE_PTRACE_H
#define SCTRACE_BASE_PTRACE_H

#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>

/*
 * Of a task that is traced the kernel refuses nothing but for ESRCH and what a request itself cannot do (EIO, EINVAL,
 * EFAULT); but a program that is half changed cannot be left so because of a request that a sandbox, or who tests
 * us, refused once: EPERM, ENOMEM, EAGAIN and EINTR are asked again, twice. So is ESRCH where the task stands still all the
 * same. PTRACE_SEIZE's EPERM is an answer. Returns and fails as ptrace(2), but that ESRCH is told of tasks alone
 * that are not there, or do not stand still; else it is EPERM.
 */
long ptrace_again(int request, pid_t tid, uintptr_t addr, uintptr_t data);

/*
 * The first refusal that lasted since it was last asked for: its errno and whose task it was, or 0. Who refuses one request
 * leaves a task stopped that nobody can let run, so tracing is over then, whatever the request was.
 */
int ptrace_refused(pid_t *tid);

#define ptrace(request, tid, addr, data) ptrace_again((int)(request), tid, (uintptr_t)(addr), (uintptr_t)(data))

#endif
