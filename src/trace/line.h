/*
 * The parts that all writing sinks share: decoders prepared for an event, times, names, whether a call's own time is
 * known.
 */
#ifndef SCTRACE_TRACE_LINE_H
#define SCTRACE_TRACE_LINE_H

#include "base/buf.h"
#include "decode/decode.h"
#include "decode/emit.h"
#include "stats/summary.h"
#include "trace/look.h"
#include "trace/sink.h"

/* How calls are decoded; part of the configuration of each such sink. */
struct trace_decoding {
	unsigned string_max; /* -s */
	bool verbose;        /* -v */
	enum decode_fd_names fd_names;
	bool pid_names;
	const struct trace_look *look; /* not owned */
};

/* The sink's data about a call in progress. */
struct trace_line {
	struct decode_memo memo;
	int given;        /* arguments written so far */
	struct buf text;  /* text that waits for the end of the call */
	struct buf stack; /* saved at the entry of a call that removes the stack (trace/stack.h) */
};

void trace_line_free(struct trace_line *l);

/* A decoder for the call of one event; *opts belongs to *decode. */
struct trace_decoder {
	struct decode_opts opts;
	struct decode decode;
};

/* Prepares `d` for the call of `ev`. It writes through `e`, which the caller has initialised. */
void trace_decoder_init(struct trace_decoder *d, const struct trace_decoding *c, const struct trace_sink *s,
			struct trace_line *l, const struct event *ev, struct emit *e);
/* Wall-clock time of the event in ns since the Epoch. */
uint64_t trace_real_ns(const struct trace_sink *s, uint64_t monotonic_ns);
/*
 * The call's own time in ns, without the tracing cost. It is 0 if nothing remains; *how says how far it can be trusted.
 */
double trace_own_ns(const struct call *c, enum resolved *how);
/*
 * The name of a call. A 64-bit program's int $0x80, which has other numbers, gets #32 appended, as in the table of -c.
 */
void trace_call_name(const struct call *c, struct buf *out);
/* Appends `ns` as seconds with `digits` decimals, 9 or 6. Further ones are cut off. */
void trace_add_seconds(struct buf *out, uint64_t ns, unsigned digits);

#endif
