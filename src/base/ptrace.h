/* ptrace(2) for requests that must not fail because a sandbox, or a test, refused them once. */
#ifndef SCTRACE_BASE_PTRACE_H
#define SCTRACE_BASE_PTRACE_H

#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>

/*
 * As ptrace(2), but a request that was refused is made again, twice. For a traced task the kernel refuses nothing except with
 * ESRCH, and what the request itself cannot do (EIO, EINVAL, EFAULT). Other errors (EPERM, ENOMEM, EAGAIN, EINTR) come from a
 * sandbox or a test; a program that is half changed cannot be left so because of one of them. ESRCH is not believed if the task
 * stands still: then it fails with EPERM. PTRACE_SEIZE needs no retry, because its EPERM is an answer: call ptrace(2).
 */
long ptrace_again(int request, pid_t tid, uintptr_t addr, uintptr_t data);
/* The same with numbers or pointers as the last two arguments, as ptrace(2) takes them. */
#define ptrace_retry(request, tid, addr, data) ptrace_again((int)(request), tid, (uintptr_t)(addr), (uintptr_t)(data))

/*
 * The first request that was refused each time, since the last call: its errno, and its task in *tid. 0: none. The task may
 * stand still, and nothing can resume it, so tracing is over then, whatever the request was.
 */
int ptrace_refused(pid_t *tid);

#endif
