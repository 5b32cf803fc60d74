/* SPDX-License-Identifier: MIT */
/* The sink of --tree: collects the processes of a trace, how each ended, and whose failure made the program fail. */
#ifndef SCTRACE_TRACE_TREE_H
#define SCTRACE_TRACE_TREE_H

#include "base/map.h"
#include "run/run.h"
#include "trace/sink.h"

struct trace_process;

struct trace_tree {
	struct trace_sink sink;
	VEC(struct trace_process *) all; /* in the order in which they were created */
	struct map by_pid;               /* process id -> struct trace_process: the last process with this id */
};

/* The calls that the sink needs as events, as a SET of -e trace=. */
#define TRACE_TREE_CALLS "execve,execveat,write,writev"
/* Number of bytes of each string that the sink needs (engine_config.string_max). */
#define TRACE_TREE_STRING 1024

void trace_tree_init(struct trace_tree *t);
/* Adds a process to which sctrace attaches. Must be called before the first event; its time is counted from now on. */
void trace_tree_attached(struct trace_tree *t, pid_t pid);
/* Must be called after the last event. Fills in `out`, which must be zeroed. */
void trace_tree_finish(struct trace_tree *t, struct run_tree *out);
void trace_tree_free(struct trace_tree *t);

#endif
