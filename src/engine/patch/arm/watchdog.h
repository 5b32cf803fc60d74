/* SPDX-License-Identifier: MIT */
/*
 * The watchdog: a small process that outlives sctrace and then turns Syscall User Dispatch off in attached processes. The
 * agent's handler of SIGSYS does the same, but it cannot run in a thread that blocks SIGSYS: the next call of such a thread
 * would end the process.
 *
 * A thread of sctrace, the sentinel, only waits. When sctrace dies, it ends much earlier than the main thread, and the
 * watchdog notices that.
 */
#ifndef SCTRACE_ENGINE_PATCH_ARM_WATCHDOG_H
#define SCTRACE_ENGINE_PATCH_ARM_WATCHDOG_H

#include "engine/patch/state.h"

/* Starts the watchdog and sets p->watchdog_fd. Returns 0 or -errno. */
int watchdog_start(struct patch *p);
/*
 * Gives the watchdog the memory of region `r`, whose descriptor is `fd`. When sctrace dies, the watchdog clears the
 * selector byte in that memory, so that dispatch is off, and the byte that allows the agent to record calls. Does nothing
 * if there is no watchdog.
 */
void watchdog_watch(const struct patch *p, const struct region *r, int fd);
/* Tells the watchdog that no process uses the memory of region `r` any more. The watchdog then unmaps it. */
void watchdog_forget(const struct patch *p, const struct region *r);

#endif
