/* SPDX-License-Identifier: MIT */
/*
 * A cache for the names of descriptors in /proc. The caller invalidates it when names may have changed. It also has names that the
 * engine has recorded: these are right even if the program has closed the descriptor since. And it keeps the last known
 * name of each thread, because the kernel no longer knows it when the end of the thread is reported.
 */
#ifndef SCTRACE_TRACEE_NAMES_KEPT_H
#define SCTRACE_TRACEE_NAMES_KEPT_H

#include "base/map.h"
#include "event.h"
#include "tracee/names.h"

#define NAMES_GONE_MOST 256
#define NAMES_CLOSED    1024

/* Initialise it, and pass `names` on. The struct must not move, because `names` points to it. */
struct names_kept {
	struct names names; /* based on names_live */
	struct names_sockets sockets;
	struct map fds;   /* thread id and descriptor -> struct kept_name, which is freed with the map */
	struct map comms; /* thread id -> struct kept_name */
	/*
	 * The latest threads that have ended, whose names are kept: the parent learns the number of such a thread later, from
	 * wait4(2) or SIGCHLD. `ended_at` is where the next one is stored.
	 */
	pid_t ended[NAMES_GONE_MOST];
	size_t ended_at;
	struct map
		apart; /* thread id -> struct names_ids: the thread is in another pid namespace, or had ended at once */
	/* The latest threads of other pid namespaces that have ended, and where the next one is stored. */
	struct names_ids *gone[NAMES_GONE_MOST];
	size_t gone_at;
	pid_t said;     /* the thread of the latest names_kept_say() */
	uint64_t drops; /* number of calls of names_kept_drop(); a cached name is valid until this number changes */
	bool caches;    /* names from /proc are cached */
	uint32_t closed
		[NAMES_CLOSED]; /* the same for descriptors: how often one with the number `fd % NAMES_CLOSED` was closed */
	struct map recorded; /* process id -> struct recorded_names */
	pid_t tid, pid;      /* the thread of the present event, and its process */
	int absent;          /* a descriptor that is not open in that thread, or -1 */
};

/* Initialises an empty cache. */
void names_keep(struct names_kept *k);
/* Does the same, but keeps only what is verified: names of threads, and addresses of sockets. */
void names_keep_sockets(struct names_kept *k);
/* Invalidates all names in the cache except recorded ones. */
void names_kept_drop(struct names_kept *k);
/* Called for each event: says whose names are recorded, and which descriptor is not open there (-1: not known). */
void names_kept_at(struct names_kept *k, pid_t tid, pid_t pid, int absent);
/* Adds a recorded name to those of the present process, unless one is known that was looked up later. */
void names_kept_record(struct names_kept *k, const struct event_name *name);
/*
 * Descriptors `first` to `last` of the present process were closed or replaced by a call that began at `began_ns` and ended at
 * `ended_ns`. Names that were looked up after it began stay, and those that were looked up before it ended are not recorded
 * any more.
 */
void names_kept_close(struct names_kept *k, uint32_t first, uint32_t last, uint64_t began_ns, uint64_t ended_ns);
/* The same for the name of a socket, if it was recorded with addresses: a call has changed these. */
void names_kept_readdress(struct names_kept *k, uint32_t fd, uint64_t time_ns);
/*
 * Removes all names that were looked up before `time_ns`, and invalidates the others. If a name that was looked up before this time
 * is passed on only now, by a call that began later, it counts: the thread had looked it up just before its call.
 */
void names_kept_change(struct names_kept *k, uint64_t time_ns);
/* The present process has ended, or has called execve(2), or others may change its descriptors from now on. */
void names_kept_end(struct names_kept *k);
/* The present process has created the process `child`. */
void names_kept_born(struct names_kept *k, pid_t child);
/* Keeps the name that a thread had at the present event. It is not read again before the next call of this function. */
void names_kept_say(struct names_kept *k, pid_t tid, const char *comm);
/* Learns the name of a thread that is new, or that has called execve(2). */
void names_kept_learn(struct names_kept *k, pid_t tid);
/* Must be called after a thread has ended: another thread may get its number. Its name is kept until then. */
void names_kept_forget(struct names_kept *k, pid_t tid);
void names_kept_free(struct names_kept *k);

#endif
