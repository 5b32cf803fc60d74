/*
 * The watchdog: a small process that outlives sctrace and then turns Syscall User Dispatch off in attached processes. The
 * agent's handler of SIGSYS does the same, but if SIGSYS is blocked in a thread, its next call would end the process.
 */
#ifndef SCTRACE_ENGINE_PATCH_ARM_WATCHDOG_H
#define SCTRACE_ENGINE_PATCH_ARM_WATCHDOG_H

#include "engine/patch/state.h"

/* Starts the watchdog and sets p->watchdog_fd. Returns 0 or -errno. */
int watchdog_start(struct patch *p);
/*
 * Gives the watchdog the memory of region `r`, `fd`. When sctrace dies, the watchdog clears the selector byte in it, and
 * ends the recording of calls. Does nothing if there is no watchdog.
 */
void watchdog_watch(const struct patch *p, const struct region *r, int fd);
/* The watchdog unmaps the memory of region `r`, because no process uses it any more. */
void watchdog_forget(const struct patch *p, const struct region *r);

#endif
