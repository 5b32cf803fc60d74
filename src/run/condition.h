/* Conditions on figures of a run, as `--expect` and `report --fail-if` take them: "read<=100,errors(%file)=0,wall>5%". */
#ifndef SCTRACE_RUN_CONDITION_H
#define SCTRACE_RUN_CONDITION_H

#include "base/vec.h"
#include "run/run.h"
#include "syscall/filter.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Which option the text belongs to. The options differ in their metrics, operators and units. */
enum condition_use { CONDITION_EXPECT = 1, CONDITION_FAIL_IF = 2 };

enum condition_operator { OP_LESS, OP_AT_MOST, OP_MORE, OP_AT_LEAST, OP_EQUAL, OP_UNEQUAL };

/* What a condition is about. The first four are sums over calls. */
enum condition_metric {
	CONDITION_CALLS,
	CONDITION_ERRORS,
	CONDITION_BYTES,
	CONDITION_SECONDS,
	CONDITION_WALL,
	CONDITION_USER,
	CONDITION_SYSTEM,
	CONDITION_CPU, /* user and system time */
	CONDITION_PEAK_RSS,
	CONDITION_PROCESSES,
	CONDITION_VOLUNTARY,
	CONDITION_INVOLUNTARY,
	CONDITION_MINOR_FAULTS,
	CONDITION_MAJOR_FAULTS,
	CONDITION_THROUGHPUT,
	CONDITION_METRICS
};

struct condition {
	char *text;      /* as the user wrote it */
	bool after_main; /* "main:": without the calls before main */
	enum condition_metric metric;
	bool chosen; /* the sum is over `calls`; otherwise over all calls */
	struct filter calls;
	enum condition_operator op;
	double limit; /* in seconds, bytes or counts; in percent if `percent` */
	bool percent; /* the limit is relative to the first run */
};

/* Zero-initialise; free with conditions_free(). */
struct conditions {
	VEC(struct condition) list;
};

/*
 * Appends the conditions of `text`, which commas separate. Returns 0; -EINVAL and `why`, which names an unknown metric,
 * operator or unit with near words, and then *at is the offset of that word; or -ENOMEM.
 */
int conditions_parse(struct conditions *c, const char *text, enum condition_use use, size_t *at, struct buf *why);
void conditions_free(struct conditions *c);
/* True if a condition leaves out the calls before main. */
bool conditions_use_main(const struct conditions *c);
/* Appends the words that a condition can begin with, separated by spaces, for completion. */
void condition_words(enum condition_use use, struct buf *out);

/* Is the metric a sum over calls? */
bool condition_sums_calls(const struct condition *c);
/* The sum over the calls of `s` that the condition chooses: a count, bytes or seconds. condition_sums_calls() is true. */
double condition_sum(const struct condition *c, const struct summary *s);
/* The samples of a run that the condition is about (of CPU: user time, to which system time is added); METRICS: none. */
enum metric condition_samples(const struct condition *c);
/* Does the condition hold for `value`, which has the unit of `limit`? NAN: false. */
bool condition_holds(const struct condition *c, double value);
/* Appends a value of the condition's metric with its unit: "312", "524288 bytes", "1.50 ms". */
void condition_say(const struct condition *c, double value, struct buf *out);

#endif
