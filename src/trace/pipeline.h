/* From a source of events (an engine, a recording) through selection to the sinks. */
#ifndef SCTRACE_TRACE_PIPELINE_H
#define SCTRACE_TRACE_PIPELINE_H

#include "base/map.h"
#include "trace/select.h"
#include "trace/sink.h"
#include "tracee/names_kept.h"

#define NAMES_KEPT_NS 1000000

/* Initialise with the members that are marked; free with trace_pipeline_end(). */
struct trace_pipeline {
	const struct trace_select *select; /* to be set: which calls and signals are wanted */
	struct trace_session session;      /* to be set before trace_pipeline_begin(): the clocks and the names */
	/*
	 * Set if session.names are those of it: names are dropped when a call may have changed them. To be set only if all calls are
	 * events. What others do to files and descriptors is not, so no name is kept for longer than NAMES_KEPT_NS.
	 */
	struct names_kept *kept;
	uint64_t kept_until;
	struct trace_sink *sinks[TRACE_SINKS_MAX];
	unsigned nsinks;
	struct map tasks;        /* tid -> struct trace_task */
	struct trace_task *last; /* the one that was looked up last, or NULL */
};

/* Adds a sink, which must outlive the pipeline; at most TRACE_SINKS_MAX. Sinks get each event in this order. */
void trace_pipeline_add(struct trace_pipeline *p, struct trace_sink *s);
/* Tells the sinks that events will come. */
void trace_pipeline_begin(struct trace_pipeline *p);
/*
 * Hands one event on. A call that an i386 program makes through another one is put in its place in *ev. The source fills
 * ev->call.desc. Where no memory is left for a new thread its event is dropped, and memory_ran_out() says so.
 */
void trace_pipeline_event(struct trace_pipeline *p, struct event *ev);
/* No event will come: ends the threads, then the sinks, and frees all but the sinks. */
void trace_pipeline_end(struct trace_pipeline *p);

#endif
