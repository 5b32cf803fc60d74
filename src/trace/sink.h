/*
 * The interface of a sink, which shows or summarises events. A sink knows nothing of other sinks, of options, or of the
 * source of events.
 */
#ifndef SCTRACE_TRACE_SINK_H
#define SCTRACE_TRACE_SINK_H

#include "event.h"
#include "trace/subject.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct names;
struct trace_sink;

#define TRACE_SINKS_MAX 4

/* Facts about the whole trace that all sinks of a pipeline may use. */
struct trace_session {
	uint64_t start_ns;         /* CLOCK_MONOTONIC time of the start */
	int64_t real_offset_ns;    /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	const struct names *names; /* names of descriptors and processes */
	size_t tasks, tasks_seen;  /* threads now, and in total so far */
	bool ending;               /* no more events will come, and calls in progress continue untraced */
};

/* The pipeline's data about a thread between its events. */
struct trace_task {
	pid_t tid, pid;
	struct trace_subject subject; /* for the call in progress, or the one that ends */
	void *own[TRACE_SINKS_MAX];   /* task_size bytes for each sink, in the order of trace_pipeline_add() */
	bool in_call;
	bool selected;  /* the call in progress is wanted */
	bool is_inside; /* it is one that an i386 program makes through another call: `real`, as at its entry */
	struct call real;
};

/* Members may be NULL, and task_size may be 0. An event is valid until the function returns. */
struct trace_sink_ops {
	size_t task_size; /* size of its data for each thread, initially zeros */
	void (*begin)(struct trace_sink *s);
	void (*enter)(struct trace_sink *s, struct trace_task *k, const struct event *ev);
	void (*leave)(struct trace_sink *s, struct trace_task *k, const struct event *ev); /* EV_EXIT, EV_VANISH */
	void (*other)(struct trace_sink *s, struct trace_task *k, const struct event *ev); /* all other kinds */
	/* EV_ENTER of an unwanted call, or EV_EXIT or EV_VANISH of one that is unwanted or becomes so. */
	void (*unwanted)(struct trace_sink *s, struct trace_task *k, const struct event *ev);
	/* The thread will have no more events: frees its data. */
	void (*gone)(struct trace_sink *s, struct trace_task *k);
	void (*end)(struct trace_sink *s);
};

/* The first member of each sink. */
struct trace_sink {
	const struct trace_sink_ops *ops;
	const struct trace_session *session; /* trace_pipeline_add() sets this and `slot` */
	unsigned slot;
};

/* The sink's own data for the thread. */
static inline void *trace_own(const struct trace_sink *s, const struct trace_task *k)
{
	return k->own[s->slot];
}

#endif
