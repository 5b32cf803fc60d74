/* The facts about a recording as a whole: those at its start (the head) and those at its end. */
#ifndef SCTRACE_RECORDING_HEAD_H
#define SCTRACE_RECORDING_HEAD_H

#include "engine/engine.h"
#include "recording/items.h"
#include "run/env.h"

struct recording_head {
	uint64_t start_ns;      /* CLOCK_MONOTONIC at the start of the trace */
	int64_t real_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint32_t string_max;    /* maximum number of bytes recorded of each buffer (-s) */
	bool follow;            /* children were traced as well (-f) */
	bool stacks;            /* stacks were recorded (-k) */
	bool last;              /* the recording does not begin at the start of the trace (--last) */
	bool several;           /* several threads existed when the trace began */
	struct recording_about {
		char *version;            /* version of sctrace */
		char *engine;             /* name of the engine */
		struct strings program;   /* argv of the program; unknown if sctrace attached to processes */
		struct strings selection; /* the options that selected calls; empty: all calls were recorded */
		double last_calls; /* with --last: the number of calls that the user asked for; NAN: another amount */
		struct env machine;
	} about;
};

/* Initialises a head in which everything is unknown. Free it with recording_head_free(). */
void recording_head_init(struct recording_head *h);
void recording_head_free(struct recording_head *h);
void recording_head_put(const struct recording_head *h, struct buf *out);
/* Reads what recording_head_put() has written. `h` must be initialised. Sets r->bad if the bytes are something else. */
void recording_head_get(struct recording_head *h, struct item_reader *r);

struct recording_end {
	const struct engine_result *result;
	const char *footer; /* text of the engine, of one or more lines */
};
void recording_end_put(const struct recording_end *e, struct buf *out);
/* Reads what recording_end_put() has written. Appends the footer to `footer`. */
void recording_end_get(struct engine_result *result, struct buf *footer, struct item_reader *r);

#endif
