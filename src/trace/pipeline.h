/* SPDX-License-Identifier: MIT */
/* Passes the events of a source (an engine or a recording) through the selection to the sinks. */
#ifndef SCTRACE_TRACE_PIPELINE_H
#define SCTRACE_TRACE_PIPELINE_H

#include "base/map.h"
#include "trace/select.h"
#include "trace/sink.h"
#include "tracee/names_kept.h"
#include "tracee/uring.h"

#define NAMES_KEPT_NS 1000000

/* Initialise with zeros, then set the members marked "set by the caller". Free with trace_pipeline_end(). */
struct trace_pipeline {
	const struct trace_select *select; /* set by the caller: the wanted calls and signals */
	struct trace_session session;      /* set by the caller before trace_pipeline_begin(): clocks and names */
	/*
	 * Set by the caller only if session.names come from `kept` and every call is an event; otherwise NULL. When a
	 * call may have changed the name of a descriptor or a process, the kept names are dropped. Other processes can
	 * change names without an event, so no name is kept for longer than NAMES_KEPT_NS.
	 */
	struct names_kept *kept;
	uint64_t kept_until;
	uint64_t limit;    /* set by the caller: after this many selected calls, no event is passed on; 0: no limit */
	uint64_t selected; /* number of selected calls that have ended */
	uint64_t unjudged; /* number of calls that would be selected if it were known that they waited (--waited) */
	struct trace_sink *sinks[TRACE_SINKS_MAX];
	unsigned nsinks;
	bool takes_calls;        /* EV_CALL is passed on as it is (trace_sink_ops.takes_calls) */
	struct uring uring;      /* the rings of io_uring */
	struct map tasks;        /* tid -> struct trace_task */
	struct trace_task *last; /* the task that was looked up last, or NULL */
};

/*
 * Adds a sink, which must outlive the pipeline. There can be TRACE_SINKS_MAX sinks. They receive each event in the
 * order in which they were added.
 */
void trace_pipeline_add(struct trace_pipeline *p, struct trace_sink *s);
/* Calls the `begin` functions of the sinks. Must be called before the first event. */
void trace_pipeline_begin(struct trace_pipeline *p);
/*
 * Passes an event to the sinks. The source must have filled in ev->call.desc. If an i386 program makes a call through
 * another one (such as socketcall(2)), replaces the outer call in *ev by the inner one.
 */
void trace_pipeline_event(struct trace_pipeline *p, struct event *ev);
/* Returns true if the limit of selected calls has been reached. */
static inline bool trace_pipeline_is_full(const struct trace_pipeline *p)
{
	return p->limit && p->selected >= p->limit;
}

/* Must be called after the last event. Ends the threads, then the sinks, and frees everything except the sinks. */
void trace_pipeline_end(struct trace_pipeline *p);

#endif
