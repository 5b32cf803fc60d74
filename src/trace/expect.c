/* SPDX-License-Identifier: MIT */
#include "trace/expect.h"

#include "base/buf.h"
#include "base/clock.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* Returns true if no child process was left out. */
static bool counts_children(const struct trace_expect *e)
{
	return e->children_known && !e->result->unfollowed;
}

/* Returns a figure of the whole program; NAN if it is unknown, as it is if the end of the program was not traced. */
static double of_program(const struct trace_expect *e, enum condition_metric m)
{
	const struct engine_result *r = e->result;
	double user = clock_timeval_s(&r->usage.ru_utime);
	double system = clock_timeval_s(&r->usage.ru_stime);
	const double of[CONDITION_METRICS] = {
		[CONDITION_WALL] = (double)r->wall_ns / 1e9,
		[CONDITION_USER] = user,
		[CONDITION_SYSTEM] = system,
		[CONDITION_CPU] = user + system,
		[CONDITION_PEAK_RSS] = r->peak_rss_bytes ? (double)r->peak_rss_bytes : NAN,
		[CONDITION_PROCESSES] =
			counts_children(e) && (r->processes || !e->program) ? (double)r->processes : NAN,
	};
	return (e->program && r->wall_ns) || m == CONDITION_PROCESSES ? of[m] : NAN;
}

static double actual(const struct trace_expect *e, const struct condition *c)
{
	if (!condition_sums_calls(c))
		return of_program(e, c->metric);
	if (!c->after_main)
		return condition_sum(c, e->calls);
	return e->result->main_found == MAIN_UNKNOWN ? NAN : condition_sum(c, e->calls) - condition_sum(c, e->before);
}

static const char *why_unknown(const struct trace_expect *e, const struct condition *c)
{
	if (c->after_main)
		return "it is not known when main began";
	return c->metric == CONDITION_PROCESSES && !counts_children(e)
		       ? "child processes were not traced, so their number is not known; add -f"
		       : "the actual value is not known";
}

static json_t *number(double v)
{
	return v == floor(v) && fabs(v) < 0x1p53 ? json_integer((json_int_t)v) : json_real(v);
}

void trace_expect_judge(const struct trace_expect *e, struct buf *unmet, struct buf *unknown, struct buf *json)
{
	json_t *all = json_array();
	for (size_t i = 0; i < e->conditions->list.n; i++) {
		const struct condition *c = &e->conditions->list.v[i];
		const char *option = condition_sums_calls(c) ? condition_excluded_by(c, e->selection) : NULL;
		double v = option ? NAN : actual(e, c);
		bool known = !isnan(v), holds = known && condition_holds(c, v);
		if (option) {
			buf_addf(unknown, "--expect cannot judge %s: %s leaves these calls out\n", c->text, option);
		} else if (!known) {
			buf_addf(unknown, "--expect cannot judge %s: %s\n", c->text, why_unknown(e, c));
		} else if (!holds) {
			buf_addf(unmet, "--expect failed: %s, but the actual value is ", c->text);
			condition_say(c, v, unmet);
			buf_addc(unmet, '\n');
		}
		json_array_append_new(all, json_pack("{s:o*, s:o, s:o, s:o}", "condition", json_string(c->text),
						     "holds", known ? json_boolean(holds) : json_null(), "actual",
						     known ? number(v) : json_null(), "expected", number(c->limit)));
	}
	auto_free char *text = json_dumps(all, JSON_REAL_PRECISION(12));
	buf_adds(json, text);
	json_decref(all);
}
