/* SPDX-License-Identifier: MIT */
/* The sink that records how each file is used (--io). */
#ifndef SCTRACE_TRACE_IO_H
#define SCTRACE_TRACE_IO_H

#include "io/profile.h"
#include "trace/sink.h"

struct trace_io {
	struct trace_sink sink;
	struct io_profile profile;
};

/* Initialises the sink. When the pipeline has ended, io_profile_finish() returns the result from `profile`. */
void trace_io_init(struct trace_io *t);
void trace_io_free(struct trace_io *t);

#endif
