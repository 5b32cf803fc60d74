/* The sink that follows how each file is used (--io). */
#ifndef SCTRACE_TRACE_IO_H
#define SCTRACE_TRACE_IO_H

#include "io/profile.h"
#include "trace/sink.h"

struct trace_io {
	struct trace_sink sink;
	struct io_profile profile;
};

/* Initialises the sink; when the pipeline has ended, io_profile_finish() of `profile` gives the result. */
void trace_io_init(struct trace_io *t);
void trace_io_free(struct trace_io *t);

#endif
