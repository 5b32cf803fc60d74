/* ptrace(2) for requests that must not fail because a sandbox, or a test, refused them once. */
#ifndef SCTRACE_BASE_PTRACE_H
#define SCTRACE_BASE_PTRACE_H

#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>

/*
 * Like ptrace(2), but repeats a refused request twice. For a traced task the kernel refuses a request only with ESRCH,
 * or because the request itself is impossible (EIO, EINVAL, EFAULT). Other errors (EPERM, ENOMEM, EAGAIN, EINTR) come
 * from a sandbox or a test, and must not leave a program half changed. If the task is stopped, ESRCH cannot be true;
 * the function then fails with EPERM. Use ptrace(2) itself for PTRACE_SEIZE, because its EPERM is an answer.
 */
long ptrace_again(int request, pid_t tid, uintptr_t addr, uintptr_t data);
/* The same with numbers or pointers as the last two arguments, like ptrace(2). */
#define ptrace_retry(request, tid, addr, data) ptrace_again((int)(request), tid, (uintptr_t)(addr), (uintptr_t)(data))

/*
 * The first request since the last call that was refused every time: returns its errno and sets *tid to its task.
 * Returns 0 if there was none. Nothing can resume that task if it is stopped, so tracing must end, whatever the request
 * was.
 */
int ptrace_refused(pid_t *tid);

#endif
