/* What the sinks of the tracer share: decoders set up for an event, times, whether a call's own time is known. */
#ifndef SCTRACE_TRACE_LINE_H
#define SCTRACE_TRACE_LINE_H

#include "decode/decode.h"
#include "decode/emit.h"
#include "trace/trace.h"

/* A decoder of the event's call through `e` (which the caller initialised); `opts` is filled and must outlive *d. */
void trace_decoder(struct trace *t, struct trace_task *k, const struct event *ev, struct emit *e,
		   struct decode_opts *opts, struct decode *d);
/* The flags of emit_text_init() that the options ask for. */
unsigned trace_text_flags(const struct trace *t);
/* Wall-clock time of the event, ns since the Epoch. */
uint64_t trace_real_ns(const struct trace *t, uint64_t monotonic_ns);
/* The call's own ns, tracing cost taken out; 0 and RESOLVED's worse kin as call_stats_resolved() has them. */
double trace_own_ns(const struct call *c, enum resolved *how);

#endif
