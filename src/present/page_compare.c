/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "base/size.h"
#include "present/page.h"
#include "run/judge.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fills the page of a comparison: one table of all subjects, and sentences about how its figures were obtained. */
enum {
	C_NAME,
	C_BUFFER,
	C_BUFFER_BYTES,
	C_CALLS,
	C_READS,
	C_WRITES,
	C_ERRORS,
	C_IN_CALLS,
	C_WAITS,
	C_WAITED,
	C_WALL,
	C_SPREAD,
	C_Q1,
	C_Q3,
	C_MIN,
	C_MAX,
	C_MEAN,
	C_STDDEV,
	C_CV,
	C_LOW,
	C_HIGH,
	C_USER,
	C_SYSTEM,
	C_RSS,
	C_RATE,
	C_TIMES,
	C_RELATIVE,
	C_INTERVAL,
	C_RELATIVE_LOW,
	C_RELATIVE_HIGH,
	C_BAR_WALL,
	C_BAR_CALLS,
	C_BAR_RSS,
	C_RUNS,
	C_OUTLIERS,
	C_COUNTED,
	C_UNABLE,
	C_USAGE,                   /* this column and the following ones are the metrics of --usage */
	C_USE = C_USAGE + METRICS, /* this column and the following ones are those of --columns */
	COLUMNS = C_USE + USES
};

static const struct column columns[C_USAGE] = {
	[C_NAME] = {"strategy", "strategy", 0},
	[C_BUFFER] = {"buffer", "buffer", COL_RIGHT | COL_TEXT_ONLY},
	[C_BUFFER_BYTES] = {"buffer_bytes", "", COL_DATA_ONLY},
	[C_CALLS] = {"calls", "calls", COL_RIGHT},
	[C_READS] = {"reads", "read", COL_RIGHT | COL_OPTIONAL},
	[C_WRITES] = {"writes", "write", COL_RIGHT | COL_OPTIONAL},
	[C_ERRORS] = {"errors", "errors", COL_RIGHT | COL_OPTIONAL},
	[C_IN_CALLS] = {"in_calls_s", "in calls", COL_RIGHT | COL_OPTIONAL},
	[C_WAITS] = {"waits", "waits", COL_RIGHT | COL_SPARE},
	[C_WAITED] = {"waited_s", "waited", COL_RIGHT | COL_OPTIONAL},
	[C_WALL] = {"wall_median_s", "wall", COL_RIGHT},
	[C_SPREAD] = {"wall_iqr_s", "IQR", COL_RIGHT | COL_OPTIONAL},
	[C_Q1] = {"wall_q1_s", "", COL_DATA_ONLY},
	[C_Q3] = {"wall_q3_s", "", COL_DATA_ONLY},
	[C_MIN] = {"wall_min_s", "", COL_DATA_ONLY},
	[C_MAX] = {"wall_max_s", "", COL_DATA_ONLY},
	[C_MEAN] = {"wall_mean_s", "", COL_DATA_ONLY},
	[C_STDDEV] = {"wall_stddev_s", "", COL_DATA_ONLY},
	[C_CV] = {"wall_cv", "", COL_DATA_ONLY},
	[C_LOW] = {"wall_median_low95_s", "", COL_DATA_ONLY},
	[C_HIGH] = {"wall_median_high95_s", "", COL_DATA_ONLY},
	[C_USER] = {"user_mean_s", "user", COL_RIGHT | COL_SPARE},
	[C_SYSTEM] = {"system_mean_s", "system", COL_RIGHT | COL_SPARE},
	[C_RSS] = {"peak_rss_bytes", "peak RSS", COL_RIGHT},
	[C_RATE] = {"rate_mb_per_s", "MB/s", COL_RIGHT | COL_OPTIONAL},
	[C_TIMES] = {"times_the_fastest", "x fastest", COL_RIGHT},
	[C_RELATIVE] = {"times_reference", "x reference", COL_RIGHT},
	[C_INTERVAL] = {"interval", "95 % interval", COL_TEXT_ONLY | COL_LAST},
	[C_RELATIVE_LOW] = {"times_reference_low95", "", COL_DATA_ONLY},
	[C_RELATIVE_HIGH] = {"times_reference_high95", "", COL_DATA_ONLY},
	[C_BAR_WALL] = {"bar_wall", "wall (log)", COL_ALIGNED | COL_OPTIONAL},
	[C_BAR_CALLS] = {"bar_calls", "calls (log)", COL_ALIGNED | COL_OPTIONAL},
	[C_BAR_RSS] = {"bar_rss", "memory", COL_ALIGNED | COL_OPTIONAL},
	[C_RUNS] = {"runs", "", COL_DATA_ONLY},
	[C_OUTLIERS] = {"wall_outliers", "", COL_DATA_ONLY},
	[C_COUNTED] = {"counted_bytes", "", COL_DATA_ONLY},
	[C_UNABLE] = {"unable", "", COL_DATA_ONLY},
};

/*
 * Sets the cell of the time spent in system calls. "~" marks a doubtful time. "<" marks an upper bound: the time itself
 * cannot be distinguished from the cost of tracing.
 */
static void set_in_calls(struct table *t, const struct run_counts *c)
{
	bool lost = c->in_calls_s <= 0;
	bool doubtful = c->in_calls_s < c->in_calls_resolution_s;
	table_duration(t, C_IN_CALLS, lost ? NAN : c->in_calls_s,
		       lost       ? "<"
		       : doubtful ? "~"
				  : "",
		       1e9 * (lost ? c->in_calls_resolution_s : c->in_calls_s), "");
}

/* Sets the cell of the interval of the ratio to the reference, such as "1.21 to 1.93" or "no difference seen". */
static void set_interval(struct table *t, const struct run *r, const struct run_subject *s)
{
	const struct interval *i = &s->judged.relative_ci;
	auto_buf b = {0};
	if (s == &r->subjects.v[r->reference])
		buf_adds(&b, "reference");
	else if (s->judged.same_as_reference)
		buf_adds(&b, "no difference seen");
	else if (isfinite(i->low)) /* `high` is not tested: it is infinite if the reference possibly took no time */
		factor_interval(&b, i->low, i->high);
	table_string(t, C_INTERVAL, buf_str(&b));
	table_real(t, C_RELATIVE_LOW, i->low, NULL);
	table_real(t, C_RELATIVE_HIGH, i->high, NULL);
}

/* Sets the cells of --usage: the median of each figure that getrusage(2) reports. */
static void usage_cells(struct table *t, const struct run_subject *s)
{
	for (size_t m = 0; m < METRICS; m++) {
		if (!*metric_rows[m].title || !s->judged.of[m].n)
			continue;
		if (metric_rows[m].unit == IN_BYTES)
			cell_bytes(t, C_USAGE + m, s->judged.of[m].median);
		else
			cell_count(t, C_USAGE + m, s->judged.of[m].median, false);
	}
}

/* Sets the cells of the columns that --columns names. */
static void use_cells(struct table *t, const struct run_subject *s)
{
	for (int u = 0; u < USES; u++) {
		double x = run_use(&s->use, u);
		struct buf share = {0};
		if (use_rows[u].unit == IN_SHARES && isfinite(x)) {
			buf_addf(&share, "%.0f %%", 100 * x);
			cell_real(t, C_USE + (size_t)u, x, &share);
		} else if (use_rows[u].unit == IN_BYTES)
			cell_bytes(t, C_USE + (size_t)u, x);
		else
			cell_count(t, C_USE + (size_t)u, x, run_counted_partly(s));
	}
}

/*
 * The columns that contain bars. The scale of times and of calls is logarithmic, because they can differ by powers of
 * ten. Memory differs less.
 */
static const struct bar {
	size_t col;
	size_t member; /* for figure_drawn() */
	bool log;
} bar_columns[] = {
	{C_BAR_WALL, FIGURE(judged.of[METRIC_TIME].median), true},
	{C_BAR_CALLS, FIGURE(counts.calls), true},
	{C_BAR_RSS, FIGURE_PEAK_RSS, false},
};

/*
 * Sets a cell to a bar. The bar of the greatest value has the full length. On a logarithmic scale, the cell contains a
 * dot, whose position shows where the value is between the least and the greatest one.
 */
static void set_bar(struct table *t, const struct run *r, const struct run_subject *s, const struct bar *bar)
{
	enum { WIDTH = 10 };
	double low = INFINITY;
	double high = 0;
	double value = figure_drawn(s, bar->member);
	for (size_t i = 0; i < r->subjects.n; i++) {
		double x = r->subjects.v[i].unable ? NAN : figure_drawn(&r->subjects.v[i], bar->member);
		low = x < low ? x : low;
		high = x > high ? x : high;
	}
	if (!(value > 0) || !(high > 0))
		return;
	double part = bar->log ? (high > low ? log(value / low) / log(high / low) : 0) : value / high;
	int n = 1 + (int)lround(part * (WIDTH - 1));
	auto_buf b = {0};
	/* The length of a bar means nothing on a logarithmic scale, so only a dot is drawn, where the bar would end. */
	for (int i = 1; i <= n; i++)
		buf_adds(&b, bar->log && i < n ? " " : "▪");
	table_string(t, bar->col, buf_str(&b));
}

static void calls_cells(struct table *t, const struct run_subject *s)
{
	const struct run_counts *c = &s->counts;
	bool part = run_counted_partly(s);
	cell_count(t, C_CALLS, c->calls, part);
	cell_count(t, C_READS, c->reads, part);
	cell_count(t, C_WRITES, c->writes, part);
	cell_count(t, C_ERRORS, c->errors, false);
	set_in_calls(t, c);
	cell_count(t, C_WAITS, c->waits, part);
	cell_time(t, C_WAITED, c->waited_s, 1);
	if (isfinite(c->counted_bytes))
		table_integer(t, C_COUNTED, (long long)fmin(c->counted_bytes, 9e18), NULL);
}

static void time_cells(struct table *t, const struct run *r, const struct run_subject *s)
{
	const struct sample_summary *wall = &s->judged.of[METRIC_TIME];
	const struct interval *median = &s->judged.median_ci;
	/* The columns from C_Q1 to C_HIGH, in their order. Only CSV and JSON have them. */
	const double data[] = {wall->q1,     wall->q3, wall->min,   wall->max,   wall->mean,
			       wall->stddev, wall->cv, median->low, median->high};
	cell_time(t, C_WALL, wall->median, 1);
	if (wall->n > 1)
		cell_time(t, C_SPREAD, wall->q3 - wall->q1, 1);
	for (size_t i = 0; i < sizeof(data) / sizeof(*data); i++)
		table_real(t, C_Q1 + i, data[i], NULL);
	cell_time(t, C_USER, s->judged.of[METRIC_USER].mean, 1);
	cell_time(t, C_SYSTEM, s->judged.of[METRIC_SYSTEM].mean, 1);
	cell_bytes(t, C_RSS, figure_of(s, FIGURE_PEAK_RSS));
	double mb = s->input_bytes / 1e6 / wall->median;
	if (s->strategy)
		cell_printf(t, C_RATE, mb, mb < 99.95 ? "%.1f" : "%.0f");
	cell_factor(t, C_TIMES, s->judged.slowdown);
	cell_factor(t, C_RELATIVE, s->judged.relative);
	set_interval(t, r, s);
	usage_cells(t, s);
	for (size_t i = 0; i < sizeof(bar_columns) / sizeof(*bar_columns); i++)
		set_bar(t, r, s, &bar_columns[i]);
	table_integer(t, C_RUNS, (long long)wall->n, NULL);
	table_integer(t, C_OUTLIERS, (long long)run_outliers(s), NULL);
}

static void subject_row(struct table *t, const struct run *r, const struct run_subject *s)
{
	table_row(t);
	table_string(t, C_NAME, s->base);
	if (s->buffer_bytes > 0 && s->buffer_bytes < 9e18) {
		auto_buf b = {0};
		size_format(&b, (uint64_t)s->buffer_bytes);
		table_string(t, C_BUFFER, buf_str(&b));
		table_integer(t, C_BUFFER_BYTES, (long long)s->buffer_bytes, NULL);
	}
	if (s->unable) {
		table_string(t, C_UNABLE, s->unable);
		table_real(t, C_WALL, NAN, s->strategy ? "cannot run" : "failed");
		table_mark_row(t, MARK_DIM);
		if (s->counts.known)
			calls_cells(t, s);
		return;
	}
	if (s->counts.known)
		calls_cells(t, s);
	if (r->method.columns)
		use_cells(t, s);
	if (run_usable(s))
		time_cells(t, r, s);
	else
		table_real(t, C_WALL, NAN, "not timed");
	if (s == run_fastest(r)) {
		table_mark_cell(t, C_TIMES, MARK_GOOD);
		table_mark_cell(t, C_RELATIVE, MARK_GOOD);
	}
}

/* Hides columns in the formats for people. CSV and JSON still have them. */
static void hide(struct column *shown, int from, int to)
{
	for (int col = from; col <= to; col++)
		shown[col].flags |= COL_DATA_ONLY;
}

static bool any_waits(const struct run *r)
{
	for (size_t i = 0; i < r->subjects.n; i++)
		if (r->subjects.v[i].counts.known && r->subjects.v[i].counts.waits > 0)
			return true;
	return false;
}

/*
 * Fills in `shown`, the columns of the table, and hides the columns that would be empty or that the user did not
 * request.
 */
static void choose_columns(const struct run *r, struct column *shown)
{
	bool commands = r->subjects.n && !r->subjects.v[0].strategy;
	bool buffers = false;
	for (size_t i = 0; i < r->subjects.n; i++)
		buffers |= r->subjects.v[i].buffer_bytes > 0;
	memcpy(shown, columns, sizeof(columns));
	for (size_t m = 0; m < METRICS; m++)
		shown[C_USAGE + m] = (struct column){metric_rows[m].median, metric_rows[m].title,
						     *metric_rows[m].title ? COL_RIGHT | COL_NAMED : COL_NOWHERE};
	for (int u = 0; u < USES; u++)
		shown[C_USE + u] = (struct column){use_rows[u].key, use_rows[u].title, COL_RIGHT | COL_NAMED};
	if (commands)
		shown[C_NAME].key = shown[C_NAME].title = "command";
	if (commands)
		hide(shown, C_RATE, C_RATE);
	if (!run_engine(r)) {
		hide(shown, C_CALLS, C_IN_CALLS);
		hide(shown, C_BAR_CALLS, C_BAR_CALLS);
	}
	if (!any_waits(r))
		hide(shown, C_WAITS, C_WAITED);
	/*
	 * Only one ratio is shown: the one to the reference that the user named or, without a reference, the one to the
	 * fastest row.
	 */
	int other = r->method.reference ? C_TIMES : C_RELATIVE;
	hide(shown, other, other);
	if (r->subjects.n == 1) {
		hide(shown, C_TIMES, C_INTERVAL);
		hide(shown, C_BAR_WALL, C_BAR_RSS);
	}
	if (r->method.usage != TRUTH_YES)
		hide(shown, C_USAGE, C_USE - 1);
	for (int u = 0; u < USES; u++)
		if (!run_use_listed(r->method.columns, u))
			hide(shown, C_USE + u, C_USE + u);
	if (!buffers)
		hide(shown, C_BUFFER, C_BUFFER);
}

static struct table *table_of(struct page *p, const struct run *r)
{
	struct strings metrics = {0};
	size_t n = r->method.columns ? COLUMNS : C_USE;
	run_metric_names(r, &metrics);
	auto_free struct column *shown = memory_zeroed(COLUMNS + metrics.n, sizeof(*shown));
	choose_columns(r, shown);
	for (size_t i = 0; i < metrics.n; i++) {
		struct buf name = {0};
		buf_adds(&name, metrics.v[i]);
		const char *kept = page_keep(p, &name);
		shown[n + i] = (struct column){kept, kept, COL_RIGHT | COL_NAMED};
	}
	struct table *t = table_new(shown, n + metrics.n);
	for (size_t i = 0; i < r->subjects.n; i++) {
		subject_row(t, r, &r->subjects.v[i]);
		cell_metrics(t, n, &metrics, &r->subjects.v[i]);
	}
	strings_clear(&metrics);
	return t;
}

static void say_title(const struct run *r, struct buf *out)
{
	const char *name = r->method.input_name ? r->method.input_name : r->method.input;
	size_human(out, (uint64_t)fmax(fmin(r->method.input_bytes, 9e18), 0));
	buf_addf(out, " (%s)", name ? name : "unknown");
}

/* Returns true if all rows that ran differ only in the buffer size. */
static bool is_scan(const struct run *r)
{
	const char *base = run_scanned(r);
	bool all = base != NULL;
	for (size_t i = 0; i < r->subjects.n; i++)
		all &= !run_usable(&r->subjects.v[i]) || strcmp(r->subjects.v[i].base, base ? base : "") == 0;
	return all;
}

void page_of_compare(struct page *p)
{
	const struct run *r = p->runs[0].run;
	bool copies = r->subjects.n && r->subjects.v[0].strategy;
	buf_adds(&p->title, copies ? "Strategies for copying " : "Commands compared");
	buf_addf(&p->subtitle, "on %s", r->env.host ? r->env.host : "this machine");
	p->above_only_in_text = true;
	p->reasons = r->method.explain == TRUTH_YES;
	if (copies) {
		buf_adds(&p->above, "Copying ");
		say_title(r, &p->above);
		buf_addc(&p->above, '\n');
		say_title(r, &p->title);
	}
	page_add_section(p, SECTION_NOTES, "Notes", "", &r->notes);
	page_add_section(p, SECTION_FINDINGS, "Findings", "", &r->lessons);
	page_add_section(p, SECTION_REASONS, "Why the costs differ", "", &r->reasons);
	struct page_section *beware = r->warnings.n ? page_section(p, SECTION_BEWARE, "Beware", "warning: ") : NULL;
	for (size_t i = 0; i < r->warnings.n; i++) {
		const struct run_warning *w = &r->warnings.v[i];
		if (w->text)
			buf_addf(&beware->text, "%s\n", w->text);
		else
			buf_addf(&beware->text, "%s; %s\n", w->what ? w->what : "", w->advice ? w->advice : "");
	}
	/* The first picture of a scan of buffer sizes shows lines, and that of every other comparison shows bars. */
	bool scan = is_scan(r);
	page_add_figure(p, scan ? "scan" : "bars", scan ? draw_scan : draw_compare);
	page_add_figure(p, scan ? "bars" : "scan", scan ? draw_compare : draw_scan);
	page_add_figure(p, "tradeoff", draw_tradeoff);
	page_add_part(p, "figures", NULL, table_of(p, r), NULL);
}
