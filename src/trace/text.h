/* SPDX-License-Identifier: MIT */
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
	struct stack *stack; /* walks the stacks of stopped threads for -k; or NULL */
	struct stack
		*crashes; /* contains the stacks of threads that received a signal of a crash, which are shown below
			   * the signal; or NULL */
	const struct trace_waiting *waiting; /* the states of threads before sctrace attached to them */
	struct trace_decoding decoding;
	unsigned emit_flags; /* flags for emit_text_init() */
	size_t column;       /* -a: the column in which results begin */
	/*
	 * Which lines begin with a thread id: none; in brackets, lines that are written while there are several threads,
	 * or all lines; in a column, all lines since the second thread appeared, or all lines.
	 */
	enum { PIDS_NEVER, PIDS_OF_SEVERAL, PIDS_OF_ALL, PIDS_SINCE_SEVERAL, PIDS_ALWAYS } pids;
	struct trace_times times; /* -t, -r, -T */
	bool numbers, addresses;  /* -n, -i */
	bool waits;               /* lines wait for the ends of their calls, which decide whether they are shown */
	bool bold;                /* names of calls are bold */
};

struct trace_text {
	struct trace_sink sink;
	struct trace_text_config c;
	struct trace_text_task *open; /* the task whose line in the common output has no newline yet */
	uint64_t last_ns;             /* time of the previous event; 0: there was none */
	uint64_t unjudged;            /* -T=waits: number of calls of which it is not known whether they waited */
	time_t second;                /* the second for which `second_text` contains HH:MM:SS */
	char second_text[16];
	pid_t pid; /* the task for which `pid_text` contains the number, with padding */
	char pid_text[24];
};

void trace_text_init(struct trace_text *t, const struct trace_text_config *c);

#endif
