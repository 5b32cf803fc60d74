/* The sink that writes calls as lines in strace's form. */
#ifndef SCTRACE_TRACE_TEXT_H
#define SCTRACE_TRACE_TEXT_H

#include "trace/line.h"
#include "trace/out.h"
#include "trace/sink.h"

#include <time.h>

struct stack;

/* Pointers are not owned and must outlive the sink. */
struct trace_text_config {
	struct trace_outputs *out;
	struct stack *stack; /* -k: walks the stacks of stopped threads; or NULL */
	struct stack
		*crashes; /* knows the stacks of threads that received a signal of a crash, and shows them below it;
			  * or NULL */
	struct trace_decoding decoding;
	unsigned emit_flags; /* of emit_text_init() */
	size_t column;       /* -a: the column of results */
	/*
	 * Thread ids before lines: never; in brackets while there are several threads; in a column from the second
	 * thread on.
	 */
	enum { PIDS_NEVER, PIDS_OF_SEVERAL, PIDS_SINCE_SEVERAL, PIDS_ALWAYS } pids;
	enum { CLOCK_NONE, CLOCK_SECONDS, CLOCK_MICROSECONDS, CLOCK_EPOCH } clock; /* -t, -tt, -ttt */
	bool relative, durations, numbers, addresses;                              /* -r, -T, -n, -i */
	bool waits; /* lines wait for the end of their calls, because the end decides whether they are shown */
	bool bold;  /* names of calls are bold */
};

struct trace_text {
	struct trace_sink sink;
	struct trace_text_config c;
	struct trace_text_task *open; /* the task whose line is open in the common output */
	uint64_t last_ns;             /* time of the previous line */
	time_t second;                /* the second that `second_text` is of: HH:MM:SS */
	char second_text[16];
};

void trace_text_init(struct trace_text *t, const struct trace_text_config *c);

#endif
