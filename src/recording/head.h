/* What a recording says as a whole: at its beginning, and at its end. */
#ifndef SCTRACE_RECORDING_HEAD_H
#define SCTRACE_RECORDING_HEAD_H

#include "engine/engine.h"
#include "recording/items.h"
#include "run/env.h"

struct recording_head {
	uint64_t start_ns;      /* CLOCK_MONOTONIC, when the trace began */
	int64_t real_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint32_t string_max;    /* bytes of each buffer that were recorded at most (-s) */
	bool follow;            /* children were traced, too (-f) */
	bool stacks;            /* stacks were recorded (-k) */
	bool last;              /* it begins somewhere in the trace (--last) */
	struct recording_about {
		char *version;          /* of sctrace */
		char *engine;           /* its name */
		struct strings program; /* argv of the program that was started; not known: none was */
		struct env machine;
	} about;
};

/* Makes all unknown; free with recording_head_free(). */
void recording_head_init(struct recording_head *h);
void recording_head_free(struct recording_head *h);
void recording_head_put(const struct recording_head *h, struct buf *out);
/* Reads what recording_head_put() wrote into a head that was initialised; r->bad where it is something else. */
void recording_head_get(struct recording_head *h, struct item_reader *r);

struct recording_end {
	const struct engine_result *result;
	const char *footer; /* the engine's, a line or several */
};
void recording_end_put(const struct recording_end *e, struct buf *out);
/* Reads it: the footer is appended to `footer`. */
void recording_end_get(struct engine_result *result, struct buf *footer, struct item_reader *r);

#endif
