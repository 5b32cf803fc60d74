/* A cache for the names of descriptors in /proc. The caller invalidates it when names may have changed. */
#ifndef SCTRACE_TRACEE_NAMES_KEPT_H
#define SCTRACE_TRACEE_NAMES_KEPT_H

#include "base/map.h"
#include "tracee/names.h"

/* Initialise it, and pass `names` on. The struct must not move, because `names` points to it. */
struct names_kept {
	struct names names; /* equal to names_live, except for `fd` and `fd_in_full` */
	struct names_sockets sockets;
	struct map fds; /* thread id and descriptor -> struct kept_name, which is freed with the map */
	uint64_t drops; /* number of calls of names_kept_drop(); a cached name is valid until this number changes */
};

/* Initialises an empty cache. */
void names_keep(struct names_kept *k);
/* Does the same, but keeps only addresses of sockets. They need not be invalidated, because they are verified. */
void names_keep_sockets(struct names_kept *k);
/* Invalidates all names in the cache. */
void names_kept_drop(struct names_kept *k);
void names_kept_free(struct names_kept *k);

#endif
