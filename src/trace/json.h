/* The sinks that write calls as JSON: an object a line (sctrace-trace(5)), and the format that Perfetto loads. */
#ifndef SCTRACE_TRACE_JSON_H
#define SCTRACE_TRACE_JSON_H

#include "trace/line.h"
#include "trace/out.h"
#include "trace/sink.h"

struct stack;

/* Pointers are not owned and outlive the sink. */
struct trace_json_config {
	struct trace_outputs *out; /* Perfetto's document is one, in the common output */
	struct stack *stack;       /* -k, or NULL; not shown by Perfetto */
	struct trace_decoding decoding;
};

struct trace_json {
	struct trace_sink sink;
	struct trace_json_config c;
	bool any; /* Perfetto: something was written, so a comma is due */
};

void trace_json_init(struct trace_json *j, const struct trace_json_config *c);
void trace_perfetto_init(struct trace_json *j, const struct trace_json_config *c);

#endif
