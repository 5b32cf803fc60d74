/* The sink that records calls (--record): what all other sinks may want to know of them is read now, and written to a recording. */
#ifndef SCTRACE_TRACE_RECORDER_H
#define SCTRACE_TRACE_RECORDER_H

#include "recording/asked.h"
#include "recording/write.h"
#include "trace/line.h"
#include "trace/sink.h"

/* Pointers are not owned and outlive the sink. */
struct trace_recorder_config {
	struct recording_writer *writer;
	struct stack *stack;           /* walks the stacks of stopped threads, or NULL */
	bool call_stacks;              /* they are taken at each call (-k) */
	bool crash_stacks;             /* they are taken at a signal that may end the program (--last) */
	bool all_calls;                /* every call is an event, so it is known when names may have changed */
	unsigned string_max;           /* bytes of each buffer */
	const struct trace_look *look; /* data of which descriptors is recorded in full (-e read=, -e write=) */
};

struct trace_recorder {
	struct trace_sink sink;
	struct trace_recorder_config c;
	struct recording_asked asked;
	struct captures captures; /* of the event */
	struct buf scratch;
};

/* Does the signal end a program that does not handle it because of what the program did (signal(7))? */
bool trace_is_crash(int sig);
/* Initialises the sink. `session` is the one of its pipeline, and shall ask for names through r->asked. */
void trace_recorder_init(struct trace_recorder *r, const struct trace_recorder_config *c,
			 struct trace_session *session);
void trace_recorder_free(struct trace_recorder *r);

#endif
