/* The sinks that write calls as JSON: one object a line (sctrace-trace(5)), and the format of Perfetto. */
#ifndef SCTRACE_TRACE_JSON_H
#define SCTRACE_TRACE_JSON_H

#include "trace/line.h"
#include "trace/out.h"
#include "trace/sink.h"

struct stack;

/* Pointers are not owned and must outlive the sink. */
struct trace_json_config {
	struct trace_outputs *out; /* Perfetto's document is a single one, in the common output */
	struct stack *stack;       /* -k, or NULL; Perfetto does not show it */
	struct stack *crashes;     /* as in trace/text.h */
	struct trace_decoding decoding;
};

struct trace_json {
	struct trace_sink sink;
	struct trace_json_config c;
	bool any; /* Perfetto: something was written, so a comma is needed */
};

void trace_json_init(struct trace_json *j, const struct trace_json_config *c);
void trace_perfetto_init(struct trace_json *j, const struct trace_json_config *c);

#endif
