/* SPDX-License-Identifier: MIT */
#include "run/condition.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/words.h"
#include "syscall/call_table.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOTH   (CONDITION_EXPECT | CONDITION_FAIL_IF)
#define BLANKS " \t" /* permitted between the words of a condition */

static const struct metric_words {
	const char *name;
	enum run_unit unit;
	unsigned use;
	enum metric samples; /* the metric whose samples are tested; METRICS if a run has only a single value */
} metrics[CONDITION_METRICS] = {
	[CONDITION_CALLS] = {"calls", IN_COUNTS, BOTH, METRICS},
	[CONDITION_ERRORS] = {"errors", IN_COUNTS, BOTH, METRICS},
	[CONDITION_BYTES] = {"bytes", IN_BYTES, BOTH, METRICS},
	[CONDITION_SECONDS] = {"seconds", IN_SECONDS, CONDITION_EXPECT, METRICS},
	[CONDITION_WALL] = {"wall", IN_SECONDS, BOTH, METRIC_TIME},
	[CONDITION_USER] = {"user", IN_SECONDS, BOTH, METRIC_USER},
	[CONDITION_SYSTEM] = {"system", IN_SECONDS, BOTH, METRIC_SYSTEM},
	[CONDITION_CPU] = {"cpu", IN_SECONDS, BOTH, METRIC_USER},
	[CONDITION_PEAK_RSS] = {"peak_rss", IN_BYTES, BOTH, METRIC_PEAK_RSS},
	[CONDITION_PROCESSES] = {"processes", IN_COUNTS, CONDITION_EXPECT, METRICS},
	[CONDITION_VOLUNTARY] = {"voluntary_switches", IN_COUNTS, CONDITION_FAIL_IF, METRIC_VOLUNTARY},
	[CONDITION_INVOLUNTARY] = {"involuntary_switches", IN_COUNTS, CONDITION_FAIL_IF, METRIC_INVOLUNTARY},
	[CONDITION_MINOR_FAULTS] = {"minor_faults", IN_COUNTS, CONDITION_FAIL_IF, METRIC_MINOR_FAULTS},
	[CONDITION_MAJOR_FAULTS] = {"major_faults", IN_COUNTS, CONDITION_FAIL_IF, METRIC_MAJOR_FAULTS},
	[CONDITION_THROUGHPUT] = {"throughput", IN_NOTHING, CONDITION_FAIL_IF, METRIC_THROUGHPUT},
	[CONDITION_OWN] = {"metric", IN_NOTHING, CONDITION_FAIL_IF, METRICS},
};

static const struct {
	const char *text;
	enum condition_operator op;
	unsigned use;
} operators[] = {
	{"<=", OP_AT_MOST, BOTH},
	{">=", OP_AT_LEAST, BOTH},
	{"==", OP_EQUAL, CONDITION_EXPECT},
	{"!=", OP_UNEQUAL, CONDITION_EXPECT},
	{"<", OP_LESS, BOTH},
	{">", OP_MORE, BOTH},
	{"=", OP_EQUAL, CONDITION_EXPECT},
};

/* The state of the parser. `p` to `end` is the rest of the current condition. */
struct reader {
	const char *p, *end;
	enum condition_use use;
	struct condition *to;
	struct buf *why;
};

bool condition_sums_calls(const struct condition *c)
{
	return c->metric <= CONDITION_SECONDS;
}

enum metric condition_samples(const struct condition *c)
{
	return metrics[c->metric].samples;
}

void condition_words(enum condition_use use, struct buf *out)
{
	for (size_t i = 0; i < CONDITION_METRICS; i++)
		if (metrics[i].use & use)
			buf_addf(out, "%s%s", out->len ? " " : "", metrics[i].name);
}

/* Returns the end of the condition that starts at `p`: the next comma outside parentheses, or the end of the text. */
static const char *end_of(const char *p)
{
	int depth = 0;
	for (; *p && (*p != ',' || depth > 0); p++)
		depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
	return p;
}

/*
 * Returns the position of the first operator outside parentheses, or NULL. A ! before a name is not an operator,
 * because it negates a set of calls (!NAME).
 */
static const char *operator_at(const struct reader *r)
{
	int depth = 0;
	for (const char *p = r->p; p < r->end; p++) {
		depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
		if (depth <= 0 && strchr("<>=", *p))
			return p > r->p && p[-1] == '!' ? p - 1 : p;
	}
	return NULL;
}

static void skip_blanks(struct reader *r)
{
	while (r->p < r->end && strchr(BLANKS, *r->p))
		r->p++;
}

/* Returns the length of the text from `from` to `to` without the blanks at its end. */
static size_t length_to(const char *from, const char *to)
{
	while (to > from && strchr(BLANKS, to[-1]))
		to--;
	return (size_t)(to - from);
}

/* Appends the operators that this option allows, each after a space. */
static void say_operators(const struct reader *r)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (operators[i].use & r->use)
			buf_addf(r->why, " %s", operators[i].text);
}

/* An operator within parentheses does not count, so a parenthesis that is not closed hides it. */
static int missing_operator(struct reader *r)
{
	size_t n = (size_t)(r->end - r->p);
	if (memchr(r->p, '(', n) && !memchr(r->p, ')', n)) {
		buf_addf(r->why, "'%.*s' lacks a closing parenthesis", (int)(r->end - r->p), r->p);
		return -EINVAL;
	}
	buf_addf(r->why, "'%.*s' has no operator; write one of", (int)(r->end - r->p), r->p);
	say_operators(r);
	buf_addf(r->why, ", for example %s", r->use == CONDITION_EXPECT ? "read<=100" : "wall>5%");
	return -EINVAL;
}

static int read_operator(struct reader *r)
{
	size_t n = strspn(r->p, "<>=!");
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (operators[i].use & r->use && strlen(operators[i].text) == n &&
		    memcmp(operators[i].text, r->p, n) == 0) {
			r->to->op = operators[i].op;
			r->p += n;
			return 0;
		}
	buf_addf(r->why, "'%.*s' cannot be used here; the operators are", (int)n, r->p);
	say_operators(r);
	return -EINVAL;
}

static int unknown_metric(const struct reader *r, const char *word, struct buf *why)
{
	struct near near = {.word = word};
	for (size_t i = 0; i < CONDITION_METRICS; i++)
		if (metrics[i].use & r->use)
			near_offer(&near, metrics[i].name);
	const struct syscall_desc *d;
	for (size_t i = 0; (d = syscall_row(i)); i++)
		near_offer(&near, d->name);
	auto_buf known = {0};
	condition_words(r->use, &known);
	buf_addf(why, "'%s' is neither a metric (%s) nor a system call", word, buf_str(&known));
	near_say(&near, "", why);
	return -EINVAL;
}

static void say_no_bytes(const char *word, struct buf *why)
{
	const struct syscall_desc *d;
	struct near near = {.word = word};
	for (size_t i = 0; (d = syscall_row(i)); i++)
		if (d->result == R_BYTES)
			near_offer(&near, d->name);
	buf_addf(why,
		 "bytes(%s) is always 0, because '%s' does not return a number of bytes; use a call that does, such "
		 "as read or write",
		 word, word);
	near_say(&near, "", why);
}

/*
 * Checks that each word of a set, which filter_parse() has accepted, contains a call that returns a number of bytes.
 * Returns 0, or -EINVAL with the offset of the wrong word in *at. A set that begins with ! is not checked: its words
 * are the calls that it leaves out.
 */
static int check_bytes(const char *set, size_t *at, struct buf *why)
{
	int rc = 0;
	size_t n;
	for (const char *p = set; *set != '!' && rc == 0; p += n + 1) {
		p += strspn(p, BLANKS);
		n = strcspn(p, ",");
		auto_free char *word = memory_copy_part(p, length_to(p, p + n));
		struct filter one = {0};
		size_t ignored;
		rc = filter_parse(&one, word, &ignored, why);
		if (one.terms.n && !filter_returns_bytes(&one)) {
			*at = (size_t)(p - set);
			say_no_bytes(word, why);
			rc = -EINVAL;
		}
		filter_free(&one);
		if (!p[n])
			break;
	}
	return rc;
}

/*
 * Parses a set of calls, such as `%file` in "%file<=100" and in "errors(%file)=0". It begins `before` bytes after r->p.
 * After an error, r->p is the wrong word in it.
 */
static int read_set(struct reader *r, const char *set, size_t before)
{
	size_t at;
	r->to->chosen = true;
	int rc = filter_parse(&r->to->calls, set, &at, r->why);
	if (rc == 0 && r->to->metric == CONDITION_BYTES)
		rc = check_bytes(set, &at, r->why);
	r->p += rc < 0 ? before + at : 0;
	return rc;
}

/*
 * Parses a word without parentheses, which names a call or a group of calls. If no call has this name, the word may be
 * a mistyped metric, so the message also suggests metrics.
 */
static int read_calls(struct reader *r, const char *word)
{
	size_t before = r->why->len;
	r->to->metric = CONDITION_CALLS;
	/* As in strace(1), the group needs no %, but here the word may be meant as a metric. */
	if (strcmp(word, "process") == 0) {
		buf_adds(r->why, "'process' is ambiguous; write %process for the calls of this group");
		buf_adds(r->why, r->use & CONDITION_EXPECT ? ", or processes for the number of processes" : "");
		return -EINVAL;
	}
	int rc = read_set(r, word, 0);
	if (rc != -EINVAL || !isalpha((unsigned char)*word))
		return rc;
	buf_truncate(r->why, before);
	return unknown_metric(r, word, r->why);
}

/* Reports a word with a set in parentheses that is not a metric. It may be a call, which cannot have such a set. */
static int no_metric(struct reader *r, const char *word, const char *set)
{
	struct filter calls = {0};
	auto_buf ignored = {0};
	size_t at;
	bool known = filter_parse(&calls, word, &at, &ignored) == 0;
	filter_free(&calls);
	if (!known)
		return unknown_metric(r, word, r->why);
	buf_addf(r->why, "'%s' is not a metric, but the calls that are counted; omit (%s)", word, set);
	return -EINVAL;
}

static int read_metric(struct reader *r, char *word)
{
	char *set = strchr(word, '(');
	size_t len = strlen(word);
	if (set && word[len - 1] != ')') {
		buf_addf(r->why, "'%s' lacks a closing parenthesis", word);
		return -EINVAL;
	}
	if (set) {
		word[len - 1] = '\0';
		*set++ = '\0';
		word[length_to(word, set - 1)] = '\0';
	}
	for (size_t i = 0; i < CONDITION_METRICS; i++) {
		if (!(metrics[i].use & r->use) || strcmp(metrics[i].name, word) != 0)
			continue;
		r->to->metric = (enum condition_metric)i;
		if (r->to->metric == CONDITION_OWN) {
			r->to->own = set ? memory_copy(set) : NULL;
			if (!set)
				buf_adds(r->why, "metric needs the name that --metric gave, as in metric(ops/s)<-5%");
			return set ? 0 : -EINVAL;
		}
		if (set && !condition_sums_calls(r->to)) {
			buf_addf(r->why, "%s is measured for the whole program, not for single calls; omit (%s)", word,
				 set);
			return -EINVAL;
		}
		return set ? read_set(r, set, (size_t)(set - word)) : 0;
	}
	return set ? no_metric(r, word, set) : read_calls(r, word);
}

/* Returns the length of a word that is followed by a colon, with the colon, or 0. */
static size_t prefix_length(const struct reader *r)
{
	const char *p = r->p;
	while (isalpha((unsigned char)*p))
		p++;
	return p > r->p && *p == ':' ? (size_t)(p + 1 - r->p) : 0;
}

/* Parses "main:" if it is present. */
static int read_prefix(struct reader *r)
{
	size_t n;
	while ((n = prefix_length(r))) {
		if (r->to->after_main || strncmp(r->p, "main:", n) != 0) {
			buf_addf(r->why, "'%.*s' cannot be used here; only one main: can precede a metric", (int)n,
				 r->p);
			return -EINVAL;
		}
		r->to->after_main = true;
		r->p += n;
		skip_blanks(r);
	}
	return 0;
}

/* Parses "main:" if it is present, and the metric, which ends at `op`. */
static int read_subject(struct reader *r, const char *op)
{
	char *word;
	int rc = read_prefix(r);
	if (rc < 0)
		return rc;
	if (r->p == op) {
		buf_adds(r->why, "a metric is missing before the operator");
		return -EINVAL;
	}
	word = memory_copy_part(r->p, length_to(r->p, op));
	rc = read_metric(r, word);
	bool whole = r->use == CONDITION_FAIL_IF ? r->to->metric != CONDITION_CALLS || r->to->chosen
						 : !condition_sums_calls(r->to);
	if (rc == 0 && r->to->after_main && whole) {
		if (condition_sums_calls(r->to))
			buf_adds(r->why, "main: needs 'calls' here, as in main:calls>0, because a saved run contains "
					 "only the total number of calls before main; it");
		else
			buf_adds(r->why, "main: excludes the calls before main; it");
		buf_addf(r->why, " cannot be used with '%s'", word);
		rc = -EINVAL;
	}
	free(word);
	return rc;
}

/* Parses a limit that is not a percentage. A limit of --fail-if is a change, so it may be negative. */
static int read_absolute(struct reader *r, const char *word)
{
	uint64_t v = 0;
	bool negative = r->use == CONDITION_FAIL_IF && *word == '-';
	const char *digits = word + negative;
	enum run_unit unit = metrics[r->to->metric].unit;
	int64_t n;
	int rc = 0;
	double scale = 1;
	if (unit == IN_BYTES) {
		rc = size_parse(digits, &v);
	} else if (unit == IN_SECONDS) {
		rc = strspn(digits, "0123456789.") == strlen(digits) && strcmp(digits, "0") != 0
			     ? -EINVAL
			     : duration_parse(digits, &v);
		scale = 1e-9;
	} else if (unit == IN_NOTHING) {
		char *end;
		r->to->limit = strtod(word, &end);
		return *end || end == word || !isfinite(r->to->limit) ? -EINVAL : 0;
	} else {
		rc = *digits == '-' ? -EINVAL : number_parse(digits, 0, INT64_MAX, &n);
		v = rc == 0 ? (uint64_t)n : 0;
	}
	r->to->limit = (negative ? -1 : 1) * (double)v * scale;
	return rc;
}

static int read_percent(struct reader *r, const char *word)
{
	char *end;
	r->to->percent = true;
	r->to->limit = strtod(word, &end);
	bool number = strspn(word, "-0123456789.") == (size_t)(end - word) && end > word;
	return number && strcmp(end, "%") == 0 && isfinite(r->to->limit) ? 0 : -EINVAL;
}

/* Returns a new copy of `word` without blanks between a number and its unit: "250 ms", "5 %". */
static char *joined(const char *word)
{
	char *copy = memory_copy(word);
	size_t number = strspn(copy, "-0123456789.");
	size_t blanks = strspn(copy + number, BLANKS);
	if (number && copy[number + blanks] && !isdigit((unsigned char)copy[number + blanks]))
		memmove(copy + number, copy + number + blanks, strlen(copy + number + blanks) + 1);
	return copy;
}

static int read_limit(struct reader *r)
{
	static const char *const units[] = {
		[IN_NOTHING] = "a number, for example 5",
		[IN_SECONDS] = "a time with its unit, for example 250ms or 1.5s",
		[IN_BYTES] = "a size, for example 4096, 64K or 1M",
		[IN_COUNTS] = "a whole number without a unit, for example 1000",
	};
	size_t len = (size_t)(r->end - r->p);
	auto_free char *word = memory_copy_part(r->p, len);
	auto_free char *limit = joined(word);
	bool percent = len && word[len - 1] == '%' && r->use == CONDITION_FAIL_IF;
	int rc = percent ? read_percent(r, limit) : read_absolute(r, limit);
	if (rc < 0)
		buf_addf(r->why, "%s%s%s is not a limit for %s; write %s%s", len ? "'" : "",
			 len ? word : "an empty string", len ? "'" : "", metrics[r->to->metric].name,
			 units[metrics[r->to->metric].unit],
			 r->use == CONDITION_FAIL_IF ? ", or a percentage, for example 5%" : "");
	return rc < 0 ? -EINVAL : 0;
}

static int read_condition(struct reader *r)
{
	if (r->p == r->end) {
		buf_adds(r->why, "a condition is missing");
		return -EINVAL;
	}
	const char *op = operator_at(r);
	if (!op)
		return missing_operator(r);
	int rc = read_subject(r, op);
	if (rc < 0)
		return rc;
	r->p = op;
	rc = read_operator(r);
	skip_blanks(r);
	return rc < 0 ? rc : read_limit(r);
}

static void condition_free(struct condition *c)
{
	filter_free(&c->calls);
	free(c->own);
	free(c->text);
}

int conditions_parse(struct conditions *c, const char *text, enum condition_use use, size_t *at, struct buf *why)
{
	const char *p = text;
	for (;;) {
		struct condition one = {0};
		const char *end = end_of(p);
		struct reader r = {.p = p, .end = end, .use = use, .to = &one, .why = why};
		skip_blanks(&r);
		r.end = r.p + length_to(r.p, end);
		one.text = memory_copy_part(r.p, (size_t)(r.end - r.p));
		int rc = read_condition(&r);
		if (rc < 0) {
			condition_free(&one);
			*at = (size_t)(r.p - text);
			return rc;
		}
		vec_push(&c->list, one);
		if (!*end)
			return 0;
		p = end + 1;
	}
}

void conditions_free(struct conditions *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		condition_free(&c->list.v[i]);
	vec_free(&c->list);
}

bool conditions_use_main(const struct conditions *c)
{
	bool use = false;
	for (size_t i = 0; i < c->list.n; i++)
		use |= c->list.v[i].after_main;
	return use;
}

double condition_sum(const struct condition *c, const struct summary *s)
{
	double sum = 0;
	for (size_t g = 0; g < s->groups.n; g++)
		for (size_t i = 0; i < s->groups.v[g]->calls.n; i++) {
			const struct call_stats *k = s->groups.v[g]->calls.v[i];
			if (call_stats_is_request(k))
				continue;
			const double of[] = {[CONDITION_CALLS] = (double)call_stats_calls(k),
					     [CONDITION_ERRORS] = (double)k->errors,
					     [CONDITION_BYTES] = (double)k->bytes,
					     [CONDITION_SECONDS] = k->ns > 0 ? k->ns * 1e-9 : 0};
			if (!c->chosen || filter_matches(&c->calls, k->arch, k->nr))
				sum += of[c->metric];
		}
	return sum;
}

bool condition_excluded(const struct condition *c, const struct filter *selected)
{
	return (c->chosen && c->calls.terms.n && !filter_overlaps(&c->calls, selected)) ||
	       (c->metric == CONDITION_BYTES && !filter_returns_bytes(selected));
}

/* Returns true if `option` excludes all calls that the condition tests. */
static bool excludes(const char *option, const struct condition *c)
{
	static const char calls[] = "-e trace=", status[] = "-e status=";
	struct filter selected = {0};
	auto_buf ignored = {0};
	size_t at;
	bool excluded = false;
	if (strncmp(option, calls, strlen(calls)) == 0)
		excluded = filter_parse(&selected, option + strlen(calls), &at, &ignored) == 0 &&
			   condition_excluded(c, &selected);
	else if (strncmp(option, status, strlen(status)) == 0)
		excluded = c->metric == CONDITION_ERRORS && !strstr(option, "failed");
	filter_free(&selected);
	return excluded;
}

const char *condition_excluded_by(const struct condition *c, const struct strings *options)
{
	for (size_t i = 0; i < options->n; i++)
		if (excludes(options->v[i], c))
			return options->v[i];
	return NULL;
}

bool condition_holds(const struct condition *c, double value)
{
	const bool holds[] = {[OP_LESS] = value<c->limit, [OP_AT_MOST] = value <= c->limit, [OP_MORE] = value> c->limit,
			      [OP_AT_LEAST] = value >= c->limit,
			      [OP_EQUAL] = value == c->limit,
			      [OP_UNEQUAL] = value != c->limit && !isnan(value)};
	return holds[c->op];
}

void condition_say(const struct condition *c, double value, struct buf *out)
{
	enum run_unit unit = metrics[c->metric].unit;
	if (unit == IN_SECONDS)
		duration_human(out, value * 1e9);
	else
		buf_addf(out, unit == IN_NOTHING ? "%.4g%s" : "%.0f%s", value, unit == IN_BYTES ? " bytes" : "");
}
