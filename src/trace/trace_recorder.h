/* SPDX-License-Identifier: MIT */
/*
 * The sink of --record, which writes calls to a recording. The sinks that later show the recording need memory and
 * names of the program. This sink captures the memory by the memory rules, or takes the captures of the engine, and looks
 * the names up, while the program runs, and saves them with the calls.
 */
#ifndef SCTRACE_TRACE_TRACE_RECORDER_H
#define SCTRACE_TRACE_TRACE_RECORDER_H

#include "decode/decode_capture.h"
#include "recording/write.h"
#include "trace/line.h"
#include "trace/sink.h"

/* Pointers are not owned and must outlive the sink. */
struct trace_recorder_config {
	struct recording_writer *writer;
	struct stack *stack;           /* walks the stacks of stopped threads, or NULL */
	bool call_stacks;              /* record the stack of each call (-k) */
	bool crash_stacks;             /* record the stack at a signal that may end the program (--last) */
	bool all_calls;                /* every call is an event, so names are kept until a call may change them */
	unsigned string_max;           /* number of bytes of each buffer that are recorded */
	const struct trace_look *look; /* how calls are shown: no names are recorded for arguments that are not shown */
};

struct trace_recorder {
	struct trace_sink sink;
	struct trace_recorder_config c;
	struct recording_asked asked;
	struct trace_decoding decoding;
	struct decode_captures capturing;
	struct buf scratch;
};

/* Initialises the sink. Replaces session->names (of its pipeline), to record the names that other sinks look up. */
void trace_recorder_init(struct trace_recorder *r, const struct trace_recorder_config *c,
			 struct trace_session *session);
void trace_recorder_free(struct trace_recorder *r);

#endif
