/* SPDX-License-Identifier: MIT */
#include "out/summary_rows.h"

#include "base/buf.h"
#include "base/escape.h"
#include "base/size.h"
#include "base/words.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds those figures of a call that can be summed. Quantiles cannot be summed. */
static void add_counts(struct call_stats *to, const struct call_stats *c)
{
	if (call_stats_is_request(c))
		return;
	to->entered += c->entered;
	to->returned += c->returned;
	to->errors += c->errors;
	to->restarted += c->restarted;
	to->bytes += c->bytes;
	to->judged += c->judged;
	to->waits += c->waits;
	to->waited_ns += c->waited_ns;
	to->ns += c->ns > 0 ? c->ns : 0;
}

/*
 * Returns the name of the call. If its architecture is not the native one, the name contains the architecture, so that
 * equal names can be distinguished.
 */
static char *call_title(const struct call_stats *c)
{
	struct buf name = {0};
	syscall_name(&name, c->arch, c->nr);
	if (c->arch && c->arch != syscall_native_arch() && !call_stats_is_request(c))
		buf_adds(&name, "#32");
	return buf_take(&name);
}

/* Returns the title of a group, such as "sh (1234)" or "3</etc/passwd>". */
static char *group_title(const struct summary_group *g)
{
	struct buf b = {0};
	escape_line(&b, g->name, strlen(g->name));
	if (g->id >= 0)
		buf_addf(&b, " (%lld)", (long long)g->id);
	return buf_take(&b);
}

static bool has_calls(const struct summary_group *g)
{
	for (size_t i = 0; i < g->calls.n; i++)
		if (g->calls.v[i]->entered)
			return true;
	return false;
}

/* Adds the row of a group, which comes before the rows of its calls. */
static void push_group(struct summary_rows *rows, const struct summary_group *g)
{
	struct summary_line line = {.name = group_title(g), .is_group = true};
	for (size_t i = 0; i < g->calls.n; i++) {
		const struct call_stats *c = g->calls.v[i];
		if (call_stats_is_request(c))
			continue;
		if (c->returned && (!line.sum.returned || c->min_ns < line.sum.min_ns))
			line.sum.min_ns = c->min_ns;
		if (c->returned && (!line.sum.returned || c->max_ns > line.sum.max_ns))
			line.sum.max_ns = c->max_ns;
		if (c->spread_ns > line.sum.spread_ns)
			line.sum.spread_ns = c->spread_ns;
		add_counts(&line.sum, c);
		line.sum.ns_squared += c->ns_squared;
		hist_merge(&line.sum.hist, &c->hist);
	}
	vec_push(&rows->lines, line);
}

static int by_name(const void *a, const void *b)
{
	const struct summary_line *x = a, *y = b;
	return strcmp(x->name, y->name);
}

/* Compares two rows: the largest value first, and equal values by name. `ctx` is the column to compare. */
static int by_column(const void *a, const void *b, void *ctx)
{
	const struct summary_column *c = ctx;
	const struct summary_line *x = a, *y = b;
	struct summary_row rx = {x->name, x->is_group ? &x->sum : x->row.call, 0, false};
	struct summary_row ry = {y->name, y->is_group ? &y->sum : y->row.call, 0, false};
	double vx = c == &summary_column_table[SC_PERCENT] ? rx.call->ns : c->value ? c->value(&rx) : 0;
	double vy = c == &summary_column_table[SC_PERCENT] ? ry.call->ns : c->value ? c->value(&ry) : 0;
	vx = isnan(vx) ? -1 : vx;
	vy = isnan(vy) ? -1 : vy;
	return vx < vy ? 1 : vx > vy ? -1 : by_name(a, b);
}

static void sort_lines(struct summary_line *lines, size_t n, int sort)
{
	if (sort < 0 || !n)
		return;
	int id = sort ? sort - 1 : SC_SECONDS;
	if (id == SC_NAME)
		qsort(lines, n, sizeof(*lines), by_name);
	else
		qsort_r(lines, n, sizeof(*lines), by_column, (void *)&summary_column_table[id]);
}

/* Adds the calls of group `g`, sorted as `v` says. `title` becomes the group name of their rows. */
static void push_calls(struct summary_rows *rows, const struct summary_group *g, const char *title,
		       const struct summary_view *v)
{
	size_t first = rows->lines.n;
	bool foreign = v->format == SUMMARY_TRUSS || v->format == SUMMARY_STRACE; /* these tools show only calls */
	for (size_t i = 0; i < g->calls.n; i++) {
		const struct call_stats *c = g->calls.v[i];
		if (!c->entered || (foreign && call_stats_is_request(c)))
			continue;
		struct summary_line line = {.name = call_title(c), .row.call = c, .group = title};
		vec_push(&rows->lines, line);
		add_counts(&rows->total, c);
	}
	if (rows->lines.n > first)
		sort_lines(rows->lines.v + first, rows->lines.n - first, v->sort);
}

static void collect_groups(struct summary_rows *rows, const struct summary *s, const struct summary_view *v)
{
	struct summary_rows heads = {0};
	for (size_t i = 0; i < s->groups.n; i++)
		if (has_calls(s->groups.v[i])) {
			push_group(&heads, s->groups.v[i]);
			heads.lines.v[heads.lines.n - 1].group = (const char *)s->groups.v[i];
		}
	sort_lines(heads.lines.v, heads.lines.n, v->sort);
	for (size_t i = 0; i < heads.lines.n; i++) {
		struct summary_line *head = &heads.lines.v[i];
		const struct summary_group *g = (const void *)head->group;
		/*
		 * If the group has an id, the group name of its rows is the title, which contains the id, because
		 * several processes may have the same name.
		 */
		head->group = g->id >= 0 ? head->name : g->name;
		vec_push(&rows->lines, *head);
		push_calls(rows, g, head->group, v);
	}
	vec_free(&heads.lines);
}

void summary_rows_init(struct summary_rows *rows, const struct summary *s, const struct summary_view *v)
{
	*rows = (struct summary_rows){.grouped = v->by != NULL};
	if (rows->grouped)
		collect_groups(rows, s, v);
	else
		for (size_t i = 0; i < s->groups.n; i++)
			push_calls(rows, s->groups.v[i], "", v);
	if (!rows->grouped)
		sort_lines(rows->lines.v, rows->lines.n, v->sort);
	for (size_t i = 0; i < rows->lines.n; i++) {
		struct summary_line *line = &rows->lines.v[i];
		line->row.name = line->name;
		if (line->is_group)
			line->row.call = &line->sum;
		line->row.total_ns = rows->total.ns;
	}
}

void summary_rows_free(struct summary_rows *rows)
{
	for (size_t i = 0; i < rows->lines.n; i++) {
		free(rows->lines.v[i].name);
		hist_free(&rows->lines.v[i].sum.hist);
	}
	vec_free(&rows->lines);
}

/* The columns of the table of `-c`: their names, and how they show the values of a call. */

/* Defines a function that returns a value of a row. Times are in ns; NAN: there is no value. */
#define VALUE(name, expression)                                                                                        \
	static double name(const struct summary_row *r)                                                                \
	{                                                                                                              \
		return expression;                                                                                     \
	}

static double value_percent(const struct summary_row *r)
{
	if (call_stats_is_request(r->call))
		return NAN;
	return r->call->ns > 0 && r->total_ns > 0 ? 100 * r->call->ns / r->total_ns : 0;
}

VALUE(value_seconds, r->call->returned && r->call->ns <= 0 ? NAN : r->call->ns)
VALUE(value_calls, (double)call_stats_calls(r->call))
VALUE(value_errors, (double)r->call->errors)
VALUE(value_unfinished, (double)call_stats_unfinished(r->call))
VALUE(value_restarted, (double)r->call->restarted)
VALUE(value_avg, !r->call->returned || r->call->ns <= 0 ? NAN : call_stats_mean(r->call))

/*
 * Returns `ns`. Returns NAN if no call has returned, or if `ns` is zero or less: in that case the cost of tracing was
 * at least as large as the measured time, so the time of the call is not known.
 */
static double positive(const struct summary_row *r, double ns)
{
	return r->call->returned && ns > 0 ? ns : NAN;
}

VALUE(value_min, positive(r, r->call->min_ns))
VALUE(value_max, positive(r, r->call->max_ns))
VALUE(value_p50, positive(r, call_stats_quantile(r->call, 0.5)))
VALUE(value_p90, positive(r, call_stats_quantile(r->call, 0.9)))
VALUE(value_p99, positive(r, call_stats_quantile(r->call, 0.99)))
VALUE(value_stddev, call_stats_stddev(r->call))
VALUE(value_bytes, (double)r->call->bytes)

static double value_bytes_per_call(const struct summary_row *r)
{
	uint64_t good = r->call->returned - r->call->errors;
	return good && r->call->bytes ? (double)r->call->bytes / (double)good : NAN;
}

/*
 * Returns true if no call is known to have waited, and some are not known not to have waited: a zero would be a claim. Calls
 * that did not return may have waited until the end.
 */
static bool waits_unknown(const struct summary_row *r)
{
	return !r->call->waits && r->call->judged < call_stats_calls(r->call);
}

VALUE(value_waits, waits_unknown(r) ? NAN : (double)r->call->waits)
VALUE(value_waited, waits_unknown(r) ? NAN : r->call->waited_ns)

static void text_waited(const struct summary_row *r, struct buf *out)
{
	if (!r->call->waits)
		buf_addc(out, '-');
	else
		duration_human(out, r->call->waited_ns);
}

/*
 * Returns the time of the calls that are not known to have waited. Such a call had the CPU for its whole time, so this is
 * its CPU time. That of a call that waited is not known. Returns NAN if nothing is known.
 */
static double value_cpu(const struct summary_row *r)
{
	const struct call_stats *c = r->call;
	double ns = c->ns - c->waited_ns;
	return c->judged && c->waits < c->returned && ns > 0 ? ns : NAN;
}

static double resolution(const struct call_stats *c)
{
	double x = call_stats_resolution(c);
	return x > 1 ? x : 1;
}

/*
 * Appends seconds in the form of truss. If nothing remained after subtracting the tracing cost, appends an upper bound.
 */
static void text_seconds(const struct summary_row *r, struct buf *out)
{
	double ns = r->call->ns;
	if (r->call->returned && ns <= 0 && !r->is_total)
		buf_addf(out, "<%.9f", resolution(r->call) * (double)r->call->returned / 1e9);
	else
		buf_addf(out, "%.9f", ns > 0 ? ns / 1e9 : 0);
}

/* Appends a time. Microseconds are the smallest unit, so that the figures in a column are easy to compare. */
static void add_time(struct buf *out, double ns)
{
	if (ns < 999.5)
		buf_addf(out, ns < 10 ? "%.3f us" : "%.2f us", ns / 1e3);
	else
		duration_human(out, ns);
}

/* Appends the CPU time, with a ~ if it includes calls of which it is not known whether they waited. */
static void text_cpu(const struct summary_row *r, struct buf *out)
{
	double ns = value_cpu(r);
	if (isnan(ns)) {
		buf_addc(out, '-');
		return;
	}
	if (r->call->judged < r->call->returned)
		buf_addc(out, '~');
	add_time(out, ns);
}

static void text_time(const struct summary_column *column, const struct summary_row *r, struct buf *out)
{
	double ns = column->value ? column->value(r) : NAN;
	double least = call_stats_resolution(r->call);
	if (!r->call->returned || (isnan(ns) && column == &summary_column_table[SC_STDDEV])) {
		buf_addc(out, '-');
	} else if (isnan(ns)) {
		buf_addc(out, '<');
		add_time(out, resolution(r->call));
	} else {
		if (ns < least && column != &summary_column_table[SC_STDDEV])
			buf_addc(out, '~');
		add_time(out, ns);
	}
}

/* Says how far the mean of the call's times can be trusted. */
static void text_resolved(const struct summary_row *r, struct buf *out)
{
	static const char *const words[] = {
		[RESOLVED] = "resolved", [DOUBTFUL] = "doubtful", [UNRESOLVED] = "unresolved"};
	buf_adds(out, words[call_stats_resolved(r->call)]);
}

const struct summary_columns summary_columns_usual = {
	.index = {SC_NAME, SC_SECONDS, SC_CALLS, SC_ERRORS, SC_AVG, SC_P50, SC_P99, SC_MAX}, .n = 8};

const struct summary_column summary_column_table[SC_COUNT] = {
	[SC_NAME] = {"syscall", "syscall", "name syscall_name syscall-name", KIND_NAME, .width = 20},
	[SC_PERCENT] = {"percent", "% time", "% time time_percent time-percent", KIND_REAL, .width = 8,
			.value = value_percent},
	[SC_SECONDS] = {"seconds", "seconds",
			"time_total time-total total_time total-time wall-total wall_total total-wall total_wall",
			KIND_TIME, true, 15, 13, value_seconds, text_seconds},
	[SC_CALLS] = {"calls", "calls", "count", KIND_COUNT, true, 10, 9, value_calls, NULL},
	[SC_ERRORS] = {"errors", "errors", "error", KIND_COUNT, true, 9, 8, value_errors, NULL},
	[SC_UNFINISHED] = {"unfinished", "unfinished", "", KIND_COUNT, true, 11, 10, value_unfinished, NULL},
	[SC_RESTARTED] = {"restarted", "restarted", "", KIND_COUNT, true, 10, 9, value_restarted, NULL},
	[SC_AVG] = {"avg", "avg", "mean avg_time avg-time time_avg time-avg wall-avg wall_avg avg-wall avg_wall",
		    KIND_TIME, .width = 11, .value = value_avg},
	[SC_MIN] = {"min", "min", "min_time min-time shortest time_min time-min wall-min wall_min min-wall min_wall",
		    KIND_TIME, .width = 11, .value = value_min},
	[SC_P50] = {"p50", "p50", "median", KIND_TIME, .width = 11, .value = value_p50},
	[SC_P90] = {"p90", "p90", "", KIND_TIME, .width = 11, .value = value_p90},
	[SC_P99] = {"p99", "p99", "", KIND_TIME, .width = 11, .value = value_p99},
	[SC_MAX] = {"max", "max", "max_time max-time longest time_max time-max wall-max wall_max max-wall max_wall",
		    KIND_TIME, .width = 11, .value = value_max},
	[SC_STDDEV] = {"stddev", "stddev", "sd", KIND_TIME, .width = 11, .value = value_stddev},
	[SC_BYTES] = {"bytes", "bytes", "", KIND_COUNT, true, 12, 11, value_bytes, NULL},
	[SC_BYTES_PER_CALL] = {"bytes_per_call", "bytes/call", "bytes/call bytes-per-call", KIND_REAL, .width = 12,
			       .value = value_bytes_per_call},
	[SC_RESOLVED] = {"resolved", "resolved", "", KIND_WORD, .width = 11, .text = text_resolved},
	[SC_WAITS] = {"waits", "waits", "wait", KIND_COUNT, true, 9, 8, value_waits, NULL},
	[SC_WAITED] = {"waited", "waited", "", KIND_TIME, true, 11, 10, value_waited, text_waited},
	[SC_CPU] = {"cpu", "cpu", "cpu_time cpu-time time_cpu time-cpu", KIND_TIME, .width = 11, .value = value_cpu,
		    .text = text_cpu},
};

void summary_cell(enum summary_column_id id, const struct summary_row *row, struct buf *out)
{
	const struct summary_column *c = &summary_column_table[id];
	double x = c->value ? c->value(row) : NAN;
	if (row->is_total && !c->summed)
		return;
	if (c->text)
		c->text(row, out);
	else if (c->kind == KIND_NAME)
		buf_adds(out, row->name);
	else if (c->kind == KIND_TIME)
		text_time(c, row, out);
	else if (isnan(x))
		buf_addc(out, '-');
	else if (c->kind == KIND_COUNT)
		buf_addf(out, "%.0f", x);
	else
		buf_addf(out, "%.2f", x);
}

/* Returns true if the `len` bytes at `word` are one of `words`, which spaces separate. */
static bool among(const char *words, const char *word, size_t len)
{
	for (const char *w = words; *w;) {
		size_t n = strcspn(w, " ");
		if (n == len && memcmp(w, word, len) == 0)
			return true;
		w += n + (w[n] == ' ');
	}
	return false;
}

static int column_find(const char *word, size_t len, struct buf *why)
{
	for (int i = 0; i < SC_COUNT && len; i++) {
		const struct summary_column *c = &summary_column_table[i];
		if ((strlen(c->key) == len && memcmp(c->key, word, len) == 0) || among(c->aliases, word, len))
			return i;
	}
	auto_buf text = {0};
	buf_add(&text, word, len);
	struct near near = {.word = buf_str(&text)};
	for (int i = 0; i < SC_COUNT; i++)
		near_offer(&near, summary_column_table[i].key);
	buf_addf(why, "'%s' is not a column; the columns are", buf_str(&text));
	for (int i = 0; i < SC_COUNT; i++)
		buf_addf(why, "%s %s", i ? "," : "", summary_column_table[i].key);
	near_say(&near, "", why);
	return -EINVAL;
}

static bool has_column(const struct summary_columns *c, int id)
{
	return memchr(c->index, id, c->n) != NULL;
}

int summary_columns_parse(const char *text, struct summary_columns *columns, struct buf *why)
{
	bool added = text[0] == '+';
	*columns = added ? summary_columns_usual : (struct summary_columns){0};
	columns->added = added;
	text += added;
	for (;; text++) {
		size_t len = strcspn(text, ",");
		int id = column_find(text, len, why);
		if (id < 0)
			return id;
		if (!has_column(columns, id))
			columns->index[columns->n++] = (unsigned char)id;
		columns->named |= UINT32_C(1) << id;
		text += len;
		if (!*text)
			break;
	}
	if (has_column(columns, SC_NAME))
		return 0;
	memmove(columns->index + 1, columns->index, columns->n);
	columns->index[0] = SC_NAME;
	columns->n++;
	return 0;
}

int summary_sort_parse(const char *text, int *sort, struct buf *why)
{
	if (strcmp(text, "none") == 0 || strcmp(text, "nothing") == 0) {
		*sort = -1;
		return 0;
	}
	int id = column_find(text, strlen(text), why);
	if (id < 0)
		return id;
	*sort = id + 1;
	return 0;
}

void summary_columns_say(const struct summary_columns *columns, struct buf *out)
{
	const char *before = columns->added ? "+" : "";
	for (size_t i = 0; i < columns->n; i++) {
		if (columns->added && !(columns->named >> columns->index[i] & 1))
			continue;
		buf_addf(out, "%s%s", before, summary_column_table[columns->index[i]].key);
		before = ",";
	}
}

void summary_sort_say(int sort, struct buf *out)
{
	if (sort)
		buf_adds(out, sort < 0 ? "none" : summary_column_table[sort - 1].key);
}
