/* Passes events from a source (an engine, a recording) through selection to the sinks. */
#ifndef SCTRACE_TRACE_PIPELINE_H
#define SCTRACE_TRACE_PIPELINE_H

#include "base/map.h"
#include "trace/select.h"
#include "trace/sink.h"
#include "tracee/names_kept.h"

#define NAMES_KEPT_NS 1000000

/* Initialise the marked members; free with trace_pipeline_end(). */
struct trace_pipeline {
	const struct trace_select *select; /* set by the caller: the wanted calls and signals */
	struct trace_session session;      /* set by the caller before trace_pipeline_begin(): the clocks and the
					    * names */
	/*
	 * Set if session.names are those of it: names are dropped when a call may have changed them. To be set only if all calls are
	 * events. What others do to files and descriptors is not, so no name is kept for longer than NAMES_KEPT_NS.
	 */
	struct names_kept *kept;
	uint64_t kept_until;
	struct trace_sink *sinks[TRACE_SINKS_MAX];
	unsigned nsinks;
	struct map tasks;        /* tid -> struct trace_task */
	struct trace_task *last; /* the task that was looked up last, or NULL */
};

/* Adds a sink, which must outlive the pipeline; at most TRACE_SINKS_MAX. Sinks receive each event in this order. */
void trace_pipeline_add(struct trace_pipeline *p, struct trace_sink *s);
/* Tells the sinks that events will come. */
void trace_pipeline_begin(struct trace_pipeline *p);
/*
 * Passes on one event. If an i386 program makes its call through another one, replaces it in *ev. The source fills in
 * ev->call.desc. If no memory is left for a new thread, drops the event, and memory_ran_out() is true.
 */
void trace_pipeline_event(struct trace_pipeline *p, struct event *ev);
/* No more events will come: ends the threads, then the sinks, and frees everything except the sinks. */
void trace_pipeline_end(struct trace_pipeline *p);

#endif
