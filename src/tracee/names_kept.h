/*
 * A cache for the names of descriptors in /proc. The caller invalidates it when names may have changed. Also keeps the
 * last known name of each thread, because the kernel no longer knows it when the end of the thread is reported.
 */
#ifndef SCTRACE_TRACEE_NAMES_KEPT_H
#define SCTRACE_TRACEE_NAMES_KEPT_H

#include "base/map.h"
#include "tracee/names.h"

#define NAMES_GONE_MOST 256

/* Initialise it, and pass `names` on. The struct must not move, because `names` points to it. */
struct names_kept {
	struct names names; /* equal to names_live, except for `fd`, `fd_in_full`, `comm` and `outer_id` */
	struct names_sockets sockets;
	struct map fds;   /* thread id and descriptor -> struct kept_name, which is freed with the map */
	struct map comms; /* thread id -> struct kept_name, in which only the text is used */
	struct map
		apart; /* thread id -> struct names_ids: the thread is in another pid namespace, or had ended at once */
	/*
	 * The latest threads of other pid namespaces that have ended. The parent learns a number of such a thread later,
	 * from wait4(2) or SIGCHLD. `gone_at` is where the next one is stored.
	 */
	struct names_ids *gone[NAMES_GONE_MOST];
	size_t gone_at;
	uint64_t drops; /* number of calls of names_kept_drop(); a cached name is valid until this number changes */
};

/* Initialises an empty cache. */
void names_keep(struct names_kept *k);
/*
 * Does the same, but keeps only names of threads and addresses of sockets. They need not be invalidated, because they
 * are verified.
 */
void names_keep_sockets(struct names_kept *k);
/* Invalidates all names in the cache. */
void names_kept_drop(struct names_kept *k);
/* Learns the name of a thread that is new, or that has called execve(2). */
void names_kept_learn(struct names_kept *k, pid_t tid);
/* Must be called after a thread has ended: another thread may get its number. */
void names_kept_forget(struct names_kept *k, pid_t tid);
void names_kept_free(struct names_kept *k);

#endif
