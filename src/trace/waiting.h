/* SPDX-License-Identifier: MIT */
/* What threads wait for, and for how long: when sctrace attaches (-k -p), and when it ends (-c -p). */
#ifndef SCTRACE_TRACE_WAITING_H
#define SCTRACE_TRACE_WAITING_H

#include "base/map.h"
#include "event.h"

#include <stddef.h>

struct buf;

/* The states of threads before sctrace attached to them. Initialise with zeros. */
struct trace_waiting {
	struct map threads; /* tid -> struct waiting_thread */
};

/* Looks at all threads of a process. Must be called before sctrace attaches, because attaching wakes them. */
void trace_waiting_look(struct trace_waiting *w, pid_t pid);
/* Appends "sleeping for 12.3 s" or "running" for the thread of EV_ATTACH; nothing if this is unknown. */
void trace_waiting_say(const struct trace_waiting *w, const struct event *ev, struct buf *out);
/*
 * Appends a line for each fact that explains the wait of the thread of EV_ATTACH in a call: the owner of a mutex, the processes
 * at the other end of a pipe or socket, the holder of a lock. Each line begins with " = ".
 */
void trace_waiting_explain(const struct trace_waiting *w, const struct event *ev, struct buf *out);
/* Appends the calls in progress of the processes, such as "accept4 1, futex 3"; nothing if there are none. */
void trace_waiting_calls(const pid_t *pids, size_t n, struct buf *out);
void trace_waiting_free(struct trace_waiting *w);

#endif
