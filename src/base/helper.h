/* Children that sctrace forks to try something out or to measure it. */
#ifndef SCTRACE_BASE_HELPER_H
#define SCTRACE_BASE_HELPER_H

#include <sys/types.h>

/*
 * Like fork(2). The child has no open file, so no reader of our output waits for its end, and the kernel kills it when
 * the calling thread ends (PR_SET_PDEATHSIG, prctl(2)). So it does no harm if it cannot be killed.
 */
pid_t helper_fork(void);

/* Kills a helper and waits for its end. Tries a refused request three times; then it does not wait. */
void helper_kill(pid_t pid);

#endif
