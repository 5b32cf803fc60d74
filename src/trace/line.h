/* What the sinks that write share: decoders set up for an event, times, names, whether a call's own time is known. */
#ifndef SCTRACE_TRACE_LINE_H
#define SCTRACE_TRACE_LINE_H

#include "base/buf.h"
#include "decode/decode.h"
#include "decode/emit.h"
#include "stats/summary.h"
#include "trace/look.h"
#include "trace/sink.h"

/* How calls are decoded; part of each such sink's config. */
struct trace_decoding {
	unsigned string_max; /* -s */
	bool verbose;        /* -v */
	enum decode_fd_names fd_names;
	bool pid_names;
	const struct trace_look *look; /* not owned */
};

/* What such a sink keeps of a call in progress. */
struct trace_line {
	struct decode_memo memo;
	int given;        /* arguments written so far */
	struct buf text;  /* what waits for the call's end */
	struct buf stack; /* taken at the entry of a call that leaves none behind (trace/stack.h) */
};

void trace_line_free(struct trace_line *l);

/* A decoder of one event's call; *opts belongs to *decode. */
struct trace_decoder {
	struct decode_opts opts;
	struct decode decode;
};

/* Sets up `d` for the call of `ev`, to be written through `e`, which the caller has initialised. */
void trace_decoder_init(struct trace_decoder *d, const struct trace_decoding *c, const struct trace_sink *s,
			struct trace_line *l, const struct event *ev, struct emit *e);
/* Wall-clock time of the event, ns since the Epoch. */
uint64_t trace_real_ns(const struct trace_sink *s, uint64_t monotonic_ns);
/* The call's own ns, tracing cost taken out; 0 and RESOLVED's worse kin as call_stats_resolved() has them. */
double trace_own_ns(const struct call *c, enum resolved *how);
/* A call's name; a 64-bit program's int $0x80, whose numbers are others, has #32 behind it, as in the table of -c. */
void trace_call_name(const struct call *c, struct buf *out);

#endif
