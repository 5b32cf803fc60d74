/* The sink of --stacks: adds up equal stacks of calls, for flame graphs. */
#ifndef SCTRACE_TRACE_FOLDED_H
#define SCTRACE_TRACE_FOLDED_H

#include "stack/stack.h"
#include "trace/sink.h"

struct trace_folded {
	struct trace_sink sink;
	struct stack *walker; /* not owned */
	bool by_time; /* a stack weighs the time in its calls, in ns, without the tracing cost; false: their number */
	struct stack_folded folded;
};

/* Initialises the sink. `walker` walks the stacks of stopped threads and must outlive the sink. */
void trace_folded_init(struct trace_folded *f, struct stack *walker, bool by_time);
/* Appends one line for each stack, sorted. */
void trace_folded_text(struct trace_folded *f, struct buf *out);
void trace_folded_free(struct trace_folded *f);

#endif
