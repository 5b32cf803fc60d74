/* SPDX-License-Identifier: MIT */
/* Implements --expect: checks whether calls, times, memory use and processes satisfy the user's conditions. */
#ifndef SCTRACE_TRACE_EXPECT_H
#define SCTRACE_TRACE_EXPECT_H

#include "engine/engine.h"
#include "run/condition.h"
#include "stats/summary.h"

struct buf;

/* The figures that the conditions are compared with. Pointers are not owned. */
struct trace_expect {
	const struct conditions *conditions;
	const struct summary *calls;
	const struct summary *before;    /* the part of `calls` that was made before main */
	const struct strings *selection; /* the options that select calls */
	const struct engine_result *result;
	bool program;        /* true if a program was started, so that its times and its memory use are known */
	bool children_known; /* child processes were traced as well, or counted (engine_result.unfollowed) */
};

/*
 * Appends a line to `unmet` for each condition that does not hold, and a line to `unknown` for each that cannot be
 * judged. Appends to `json` an array with an object for each condition: condition, holds, actual, expected.
 */
void trace_expect_judge(const struct trace_expect *e, struct buf *unmet, struct buf *unknown, struct buf *json);

#endif
