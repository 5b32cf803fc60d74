/* SPDX-License-Identifier: MIT */
/* Children that sctrace forks to try something out or to measure it. */
#ifndef SCTRACE_BASE_HELPER_H
#define SCTRACE_BASE_HELPER_H

#include <sys/types.h>

/*
 * Like fork(2), but the child has no open files, and the kernel kills it when the calling thread ends
 * (PR_SET_PDEATHSIG, prctl(2)). Even if the child cannot be killed, a reader of sctrace's output does not have to wait
 * for it: the child does not hold the output open.
 */
pid_t helper_fork(void);

/*
 * Starts a helper that only waits, and seizes it with PTRACE_O_EXITKILL. It also ends when the calling thread ends.
 * Returns its process id, or -errno. If possible, it shares the memory and the files of this process (CLONE_VM,
 * CLONE_FILES), and so starts and ends several times as fast as a helper of helper_fork(); its stack, one page, then
 * stays mapped.
 */
pid_t helper_seize(void);

/* Kills a helper and waits for its end. If kill(2) fails three times, returns without waiting. */
void helper_kill(pid_t pid);

#endif
