/* SPDX-License-Identifier: MIT */
/* The sink that writes calls as lines in the form of FreeBSD's truss. */
#ifndef SCTRACE_TRACE_TRUSS_H
#define SCTRACE_TRACE_TRUSS_H

#include "trace/line.h"
#include "trace/out.h"
#include "trace/sink.h"

/* Pointers are not owned and must outlive the sink. */
struct trace_truss_config {
	struct trace_out *out;
	struct trace_decoding decoding;
	bool pids, tids; /* -f, -H: process ids and thread ids before lines */
	bool clock;      /* -d: times since the start */
	bool relative;   /* -D: durations of calls; for other events, the time since the previous event */
};

struct trace_truss {
	struct trace_sink sink;
	struct trace_truss_config c;
	uint64_t last_ns; /* time of the previous event */
};

/* Initialises the sink, which need not be freed. */
void trace_truss_init(struct trace_truss *t, const struct trace_truss_config *c);

#endif
