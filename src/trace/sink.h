/* A sink shows events, or adds them up. It knows nothing of other sinks, of the options, or of where events come from. */
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

/* What all sinks of a pipeline may know of the trace as a whole. */
struct trace_session {
	uint64_t start_ns;         /* CLOCK_MONOTONIC, when the trace began */
	int64_t real_offset_ns;    /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	const struct names *names; /* of descriptors and processes */
	size_t tasks, tasks_seen;  /* threads now, and in all so far */
	bool ending;               /* no event will come, and calls in progress go on without us */
};

/* What the pipeline knows of a thread between its events. */
struct trace_task {
	pid_t tid, pid;
	struct trace_subject subject; /* of the call in progress, or of the one that ends */
	void *own[TRACE_SINKS_MAX];   /* task_size bytes for each sink, in the order of trace_pipeline_add() */
	bool in_call;
	bool selected;  /* the call in progress is wanted */
	bool is_inside; /* it is one that an i386 program makes through another one: `real`, as it was at entry */
	struct call real;
};

/* Members may be NULL, and task_size 0. The event is valid until the function returns. */
struct trace_sink_ops {
	size_t task_size; /* bytes that it keeps for each thread, zero-initialised at first */
	void (*begin)(struct trace_sink *s);
	void (*enter)(struct trace_sink *s, struct trace_task *k, const struct event *ev);
	void (*leave)(struct trace_sink *s, struct trace_task *k, const struct event *ev); /* EV_EXIT, EV_VANISH */
	void (*other)(struct trace_sink *s, struct trace_task *k, const struct event *ev); /* all other kinds */
	/* EV_ENTER of a call that is not wanted, or EV_EXIT or EV_VANISH of one that is not or turns out not to be. */
	void (*unwanted)(struct trace_sink *s, struct trace_task *k, const struct event *ev);
	/* No event of the thread will come: frees what it kept. */
	void (*gone)(struct trace_sink *s, struct trace_task *k);
	void (*end)(struct trace_sink *s);
};

/* The first member of each sink. */
struct trace_sink {
	const struct trace_sink_ops *ops;
	const struct trace_session *session; /* set by trace_pipeline_add(), as is `slot` */
	unsigned slot;
};

/* What the sink keeps for the thread. */
static inline void *trace_own(const struct trace_sink *s, const struct trace_task *k)
{
	return k->own[s->slot];
}

#endif
