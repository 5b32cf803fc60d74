/* SPDX-License-Identifier: MIT */
/* A sink shows or summarises events. It knows neither other sinks, nor options, nor the source of events. */
#ifndef SCTRACE_TRACE_SINK_H
#define SCTRACE_TRACE_SINK_H

#include "event.h"
#include "trace/subject.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct names;
struct uring;
struct trace_sink;

#define TRACE_SINKS_MAX 8

/* Facts about the whole trace that all sinks of a pipeline may use. */
struct trace_session {
	uint64_t start_ns;         /* CLOCK_MONOTONIC time of the start */
	int64_t real_offset_ns;    /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	const struct names *names; /* names of descriptors and processes */
	struct uring *uring;       /* the rings of io_uring (tracee/uring.h); set by trace_pipeline_begin() */
	size_t tasks, tasks_seen;  /* number of threads now, and of all threads so far */
	bool ending;               /* no more events will come; the calls in progress continue untraced */
	bool cut;                  /* the events end earlier than the trace did: the rest of a recording is missing */
};

/* The pipeline's data about a thread, which it keeps between events. */
struct trace_task {
	pid_t tid, pid;
	struct trace_subject subject; /* the subject of the call in progress, or of the call that ends now */
	void *own[TRACE_SINKS_MAX];   /* each sink's own data for the thread (task_size bytes) */
	bool in_call;
	bool selected;    /* the call in progress is selected */
	bool is_inside;   /* an i386 program makes the call through another one (socketcall(2)) */
	struct call real; /* the inner call at its entry, if `is_inside` */
};

/* The functions of a sink. They may be NULL. An event is valid only until the function returns. */
struct trace_sink_ops {
	size_t task_size; /* bytes of the sink's own data for each thread, at first zeros */
	bool takes_calls; /* `leave` takes EV_CALL as well, which is used if all sinks do */
	bool of_id; /* the state belongs to the thread's id, and not to the thread, whose id execve(2) may change */
	void (*begin)(struct trace_sink *s);
	void (*enter)(struct trace_sink *s, struct trace_task *k, const struct event *ev); /* a call is in progress */
	/* A call has ended: EV_EXIT or EV_VANISH after `enter`, or EV_CALL without it. */
	void (*leave)(struct trace_sink *s, struct trace_task *k, const struct event *ev);
	void (*other)(struct trace_sink *s, struct trace_task *k, const struct event *ev); /* other events */
	/*
	 * Receives the events of each call that is not selected. A call can be selected at its entry and excluded by its
	 * end; then only the end is received.
	 */
	void (*unwanted)(struct trace_sink *s, struct trace_task *k, const struct event *ev);
	/* The thread will have no more events. Frees the contents of the sink's own data. */
	void (*gone)(struct trace_sink *s, struct trace_task *k);
	void (*end)(struct trace_sink *s);
};

/* Every sink is a struct whose first member is this one. */
struct trace_sink {
	const struct trace_sink_ops *ops;
	const struct trace_session *session; /* set by trace_pipeline_add(), as is `slot` */
	unsigned slot;
};

/* Does a call begin with this event? */
static inline bool trace_begins(const struct event *ev)
{
	return ev->kind == EV_ENTER || ev->kind == EV_CALL;
}

/* Has a call returned with this event? */
static inline bool trace_returns(const struct event *ev)
{
	return ev->kind == EV_EXIT || ev->kind == EV_CALL;
}

/* Returns the sink's own data for the thread. */
static inline void *trace_own(const struct trace_sink *s, const struct trace_task *k)
{
	return k->own[s->slot];
}

#endif
