/* Shows all bytes that a call transferred, in hexadecimal and as text (-e read=SET, -e write=SET). */
#ifndef SCTRACE_TRACE_DUMP_H
#define SCTRACE_TRACE_DUMP_H

#include "event.h"
#include "trace/look.h"
#include "trace/out.h"

/*
 * If a call that has ended used a selected descriptor, writes the data that it transferred, below the line of the call.
 * Flushes `out` from time to time, because a call may transfer more bytes than should be kept in memory.
 */
void trace_dump(const struct trace_look *l, const struct event *ev, struct trace_out *out);

#endif
