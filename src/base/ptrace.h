/* SPDX-License-Identifier: MIT */
/* Repeats ptrace(2) requests that fail although the kernel would not refuse them: a sandbox or a test refused them. */
#ifndef SCTRACE_BASE_PTRACE_H
#define SCTRACE_BASE_PTRACE_H

#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>

/*
 * Like ptrace(2), but repeats a refused request twice. The kernel itself refuses a request for a traced task only with
 * ESRCH, or because the request is impossible (EIO, EINVAL, EFAULT). Other errors (EPERM, ENOMEM, EAGAIN, EINTR) come
 * from a sandbox or a test, and must not leave a program half changed. ESRCH must be wrong if the task is stopped: the
 * request is repeated, and if that does not help, fails with EPERM. Do not use this function for PTRACE_SEIZE, for
 * which EPERM is a valid result.
 */
long ptrace_again(int request, pid_t tid, uintptr_t addr, uintptr_t data);
/* Like ptrace_again(), but the last two arguments may be numbers or pointers, as with ptrace(2). */
#define ptrace_retry(request, tid, addr, data) ptrace_again((int)(request), tid, (uintptr_t)(addr), (uintptr_t)(data))

/*
 * Returns the errno of the first request since the last call of this function that was refused every time it was
 * repeated, and stores the task of this request in *tid. Returns 0 if there was no such request. If the task is
 * stopped, nothing can resume it, so tracing must end.
 */
int ptrace_refused(pid_t *tid);

#endif
