/* --expect: whether what was counted keeps the conditions of a budget. */
#ifndef SCTRACE_TRACE_EXPECT_H
#define SCTRACE_TRACE_EXPECT_H

#include "engine/engine.h"
#include "run/condition.h"
#include "stats/summary.h"

struct buf;

/* What the conditions are compared with. Pointers are not owned. */
struct trace_expect {
	const struct conditions *conditions;
	const struct summary *calls;
	const struct summary *before; /* those of `calls` that came before main */
	const struct engine_result *result;
	bool program; /* a program was started, so its times and its memory are known */
};

/* Appends a line to `unmet` for each condition that does not hold, and to `unknown` for each that cannot be judged. */
void trace_expect_say(const struct trace_expect *e, struct buf *unmet, struct buf *unknown);
/* Appends a JSON array with an object for each condition: condition, holds, actual, expected. */
void trace_expect_json(const struct trace_expect *e, struct buf *out);

#endif
