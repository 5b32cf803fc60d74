/* SPDX-License-Identifier: MIT */
/*
 * The sinks that write calls as JSON (sctrace-trace(5)): one object on each line, CSV whose arguments are JSON (csv.c),
 * or Perfetto's format.
 */
#ifndef SCTRACE_TRACE_JSON_H
#define SCTRACE_TRACE_JSON_H

#include "trace/line.h"
#include "trace/out.h"
#include "trace/sink.h"

struct stack;

/* Pointers are not owned and must outlive the sink. */
struct trace_json_config {
	struct trace_outputs *out; /* Perfetto: a single document is written to out->common */
	struct stack *stack;       /* walks the stacks of stopped threads for -k, or NULL; Perfetto ignores it */
	struct stack *crashes;     /* as in struct trace_text_config */
	struct trace_decoding decoding;
	/* These describe the trace in all its rows, so that many traces can be loaded together. NULL: unknown. */
	const char *host;      /* name of the machine */
	const char *recording; /* CSV: name of the recording's file */
	char *const *program;  /* CSV: argv of the program */
};

struct trace_json {
	struct trace_sink sink;
	struct trace_json_config c;
	bool any;        /* Perfetto: an object has been written, so the next one needs a comma before it */
	struct buf host; /* JSON: the member of this name */
};

struct trace_csv {
	struct trace_json json; /* writes the arguments; must be first */
	struct buf common;      /* the columns that are the same in all rows */
	struct buf text, line;  /* a name, and its escaped form; kept to be used again */
};

/*
 * Initialise the sink for one object on each line, for CSV, or for Perfetto's format. The sink frees its memory at the
 * end of the trace.
 */
void trace_json_init(struct trace_json *j, const struct trace_json_config *c);
void trace_csv_init(struct trace_csv *v, const struct trace_json_config *c);
void trace_perfetto_init(struct trace_json *j, const struct trace_json_config *c);

/* For sinks whose first member is a struct trace_json, and whose data of a thread begins with a struct trace_line. */

/* Returns the output of a call that has ended. For EV_CALL, the first event of the call, prepares it. */
struct trace_out *trace_json_output(struct trace_json *j, const struct event *ev);
/* Decodes what is known at the call's entry. */
void trace_json_enter(struct trace_sink *s, struct trace_task *k, const struct event *ev);
/* Completes the arguments at the end of the call. Afterwards, l->text contains the members of an object. */
void trace_json_arguments(struct trace_json *j, struct trace_line *l, const struct event *ev);

#endif
