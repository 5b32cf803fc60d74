/* SPDX-License-Identifier: MIT */
/* What all sinks that write calls share: decoders, times, names, and times without the tracing cost. */
#ifndef SCTRACE_TRACE_LINE_H
#define SCTRACE_TRACE_LINE_H

#include "base/buf.h"
#include "base/clock.h"
#include "decode/decode.h"
#include "decode/emit.h"
#include "stats/summary.h"
#include "trace/look.h"
#include "trace/sink.h"

/* A thread can change its name at any time without an event, so names are read again after this time. */
#define TRACE_NAME_AGE_NS (NSEC_PER_SEC / 100)

/* How many decimals a time has: none (seconds), 3, 6 or 9 (ns). The time is not shown if this is PRECISION_NONE. */
enum trace_precision { PRECISION_NONE, PRECISION_S, PRECISION_MS, PRECISION_US, PRECISION_NS };

/* The times that a line shows. */
struct trace_times {
	enum { CLOCK_NONE, CLOCK_DAY, CLOCK_EPOCH } clock; /* -t: the time of day, or seconds since the Epoch */
	enum trace_precision clock_precision, relative, durations;
	bool waits; /* -T=waits: calls that waited are marked */
};

/* How calls are decoded. This is a part of the configuration of each sink that writes calls. */
struct trace_decoding {
	unsigned string_max; /* -s: bytes of a string that are shown */
	bool verbose;        /* -v: structures are shown in full */
	unsigned fd_names;   /* a combination of enum decode_fd_names */
	bool pid_names, outer_ids, namespaces;
	const struct trace_look *look; /* not owned */
};

/* The data about a call in progress of a sink that writes calls. */
struct trace_line {
	struct decode_memo memo;
	int given;        /* number of arguments written so far */
	struct buf text;  /* text that waits for the end of the call */
	struct buf stack; /* the stack at the call's entry, if the call removes the stack (trace/trace_stack.h) */
};

void trace_line_free(struct trace_line *l);

/* A decoder for the call of one event. decode.opts points to `opts`. */
struct trace_decoder {
	struct decode_opts opts;
	struct decode decode;
};

/* Prepares `d` for the call of `ev`. The decoder writes through `e`, which the caller has initialised. */
void trace_decoder_init(struct trace_decoder *d, const struct trace_decoding *c, const struct trace_sink *s,
			struct trace_line *l, const struct event *ev, struct emit *e);
/* Prepares `d` for the signal of `ev`, that is, for decode_siginfo(). */
void trace_decoder_init_signal(struct trace_decoder *d, const struct trace_decoding *c, const struct trace_sink *s,
			       const struct event *ev, struct emit *e);
/*
 * Decodes the arguments of a call that has returned, as far as they were not decoded at its entry: for EV_CALL, all of
 * them.
 */
void trace_decode_ended(struct trace_decoder *d, struct trace_line *l, const struct event *ev);
/* Returns the wall-clock time of an event in ns since the Epoch. */
uint64_t trace_real_ns(const struct trace_sink *s, uint64_t monotonic_ns);
/*
 * Returns the time in the call in ns, after the tracing cost has been subtracted; 0 if nothing remains. Sets *how to a
 * value that says whether the result is large enough to be shown, compared with the uncertainty of that cost.
 */
double trace_own_ns(const struct call *c, enum resolved *how);
/* Appends the name of a call, with "#32" if a 64-bit program makes an i386 call (int $0x80), as in the table of -c. */
void trace_call_name(const struct call *c, struct buf *out);
/* Appends `ns` as seconds. Further decimals are cut off. */
void trace_add_seconds(struct buf *out, uint64_t ns, enum trace_precision p);
/* Appends only the decimals, after a point; nothing if there are none. */
void trace_add_decimals(struct buf *out, uint64_t ns, enum trace_precision p);
/* Returns `ns` rounded to this precision. */
uint64_t trace_round(double ns, enum trace_precision p);

#endif
