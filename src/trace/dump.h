/* All bytes that a call moved, in hex and as text (-e read=SET, -e write=SET). */
#ifndef SCTRACE_TRACE_DUMP_H
#define SCTRACE_TRACE_DUMP_H

#include "event.h"
#include "trace/look.h"
#include "trace/out.h"

/*
 * Writes the data of an ended call below its line, where it moved any by a descriptor that was chosen. The output is
 * flushed meanwhile: a call may have moved more than memory should hold.
 */
void trace_dump(const struct trace_look *l, const struct event *ev, struct trace_out *out);

#endif
