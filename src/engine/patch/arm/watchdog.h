/*
 * The watchdog: a small process that outlives sctrace and then turns Syscall User Dispatch off in attached processes,
 * which would otherwise die at their next call.
 */
#ifndef SCTRACE_ENGINE_PATCH_ARM_WATCHDOG_H
#define SCTRACE_ENGINE_PATCH_ARM_WATCHDOG_H

#include "engine/patch/state.h"

/* Starts the watchdog and sets p->watchdog_fd. Returns 0 or -errno. */
int watchdog_start(struct patch *p);
/*
 * Gives the watchdog the memory of a region, `fd`, whose selector byte the watchdog must clear when sctrace dies. Does
 * nothing if there is no watchdog.
 */
void watchdog_watch(const struct patch *p, int fd);

#endif
