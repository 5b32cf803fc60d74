/* The sinks that write calls as JSON: one object on each line (sctrace-trace(5)), or Perfetto's format. */
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
};

struct trace_json {
	struct trace_sink sink;
	struct trace_json_config c;
	bool any; /* Perfetto: an object has been written, so the next one needs a comma before it */
};

/* Initialise the sink for one object on each line, or for Perfetto's format. The sink need not be freed. */
void trace_json_init(struct trace_json *j, const struct trace_json_config *c);
void trace_perfetto_init(struct trace_json *j, const struct trace_json_config *c);

#endif
