/* SPDX-License-Identifier: MIT */
/* Parses and evaluates the conditions of `--expect` and `report --fail-if`: "read<=100,errors(%file)=0,wall>5%". */
#ifndef SCTRACE_RUN_CONDITION_H
#define SCTRACE_RUN_CONDITION_H

#include "base/memory.h"
#include "run/run.h"
#include "syscall/filter.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* The option in which the user wrote the conditions. The two options allow different metrics, operators and units. */
enum condition_use { CONDITION_EXPECT = 1, CONDITION_FAIL_IF = 2 };

enum condition_operator { OP_LESS, OP_AT_MOST, OP_MORE, OP_AT_LEAST, OP_EQUAL, OP_UNEQUAL };

/* The figure that a condition tests. The first four are sums over calls. */
enum condition_metric {
	CONDITION_CALLS,
	CONDITION_ERRORS,
	CONDITION_BYTES,
	CONDITION_SECONDS,
	CONDITION_WALL,
	CONDITION_USER,
	CONDITION_SYSTEM,
	CONDITION_CPU, /* user and system time together */
	CONDITION_PEAK_RSS,
	CONDITION_PROCESSES,
	CONDITION_VOLUNTARY,
	CONDITION_INVOLUNTARY,
	CONDITION_MINOR_FAULTS,
	CONDITION_MAJOR_FAULTS,
	CONDITION_THROUGHPUT,
	CONDITION_OWN, /* a metric of compare --metric, named by `own` */
	CONDITION_METRICS
};

struct condition {
	char *text;      /* the text of the condition, as the user wrote it */
	bool after_main; /* "main:" was written: the calls before main() are not counted */
	enum condition_metric metric;
	char *own;   /* for CONDITION_OWN */
	bool chosen; /* true: only the calls in `calls` are added up; false: all calls */
	struct filter calls;
	enum condition_operator op;
	double limit; /* in seconds, bytes or counts; in percent if `percent` is true */
	bool percent; /* the limit is a change in percent of the value in the base run (judge.h) */
};

/* A zeroed struct is an empty list. Free it with conditions_free(). */
struct conditions {
	VEC(struct condition) list;
};

/*
 * Parses the conditions of `text`, which are separated by commas, and appends them to `c`. Returns 0, or
 * -EINVAL if the text is wrong: `why` then says what is wrong and suggests similar words, and *at is the offset
 * of the wrong word.
 */
int conditions_parse(struct conditions *c, const char *text, enum condition_use use, size_t *at, struct buf *why);
void conditions_free(struct conditions *c);
/* Returns true if one of the conditions begins with "main:". */
bool conditions_use_main(const struct conditions *c);
/* Appends the words with which a condition can begin, separated by spaces. Used for shell completion. */
void condition_words(enum condition_use use, struct buf *out);

/* Returns true if the metric is a sum over calls. */
bool condition_sums_calls(const struct condition *c);
/*
 * Returns the sum of the metric over the calls of `s` that the condition selects: a count, bytes or seconds. The metric
 * must be a sum over calls.
 */
double condition_sum(const struct condition *c, const struct summary *s);
/*
 * Returns the metric (metrics.def) whose samples the condition tests, or METRICS if the condition tests a single value.
 * For CONDITION_CPU, returns the metric of the user time; the caller adds the system time.
 */
enum metric condition_samples(const struct condition *c);
/* Returns true if none of the calls that the condition selects is in `selected`, so that their sum is always 0. */
bool condition_excluded(const struct condition *c, const struct filter *selected);
/* The same for options that select calls (run.selection). Returns the option that excludes the calls, or NULL. */
const char *condition_excluded_by(const struct condition *c, const struct strings *options);
/* Returns true if the condition is true for `value`, which has the same unit as `limit`. Returns false for NAN. */
bool condition_holds(const struct condition *c, double value);
/* Appends a value of the condition's metric with its unit: "312", "524288 bytes", "1.50 ms". */
void condition_say(const struct condition *c, double value, struct buf *out);

#endif
