/* The table, and the lines under it that say what its columns are. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/size.h"
#include "out/table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	C_NAME,
	C_BUFFER,
	C_BUFFER_BYTES,
	C_CALLS,
	C_READS,
	C_WRITES,
	C_ERRORS,
	C_IN_CALLS,
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
	C_VOLUNTARY,
	C_INVOLUNTARY,
	C_MINOR,
	C_MAJOR,
	C_BLOCK_IN,
	C_BLOCK_OUT,
	C_BAR_WALL,
	C_BAR_CALLS,
	C_BAR_RSS,
	C_RUNS,
	C_OUTLIERS,
	C_COUNTED,
	C_UNABLE,
	COLUMNS
};

static const struct column columns[COLUMNS] = {
	[C_NAME] = {"strategy", "strategy", 0},
	[C_BUFFER] = {"buffer", "buffer", COL_RIGHT | COL_TEXT_ONLY},
	[C_BUFFER_BYTES] = {"buffer_bytes", "", COL_DATA_ONLY},
	[C_CALLS] = {"calls", "calls", COL_RIGHT},
	[C_READS] = {"reads", "read", COL_RIGHT | COL_OPTIONAL},
	[C_WRITES] = {"writes", "write", COL_RIGHT | COL_OPTIONAL},
	[C_ERRORS] = {"errors", "errors", COL_RIGHT | COL_OPTIONAL},
	[C_IN_CALLS] = {"in_calls_s", "in calls", COL_RIGHT | COL_OPTIONAL},
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
	[C_INTERVAL] = {"interval", "95 % interval", COL_TEXT_ONLY | COL_OPTIONAL},
	[C_RELATIVE_LOW] = {"times_reference_low95", "", COL_DATA_ONLY},
	[C_RELATIVE_HIGH] = {"times_reference_high95", "", COL_DATA_ONLY},
	[C_VOLUNTARY] = {"voluntary_switches", "voluntary", COL_RIGHT | COL_OPTIONAL},
	[C_INVOLUNTARY] = {"involuntary_switches", "involuntary", COL_RIGHT | COL_OPTIONAL},
	[C_MINOR] = {"minor_faults", "minor faults", COL_RIGHT | COL_OPTIONAL},
	[C_MAJOR] = {"major_faults", "major", COL_RIGHT | COL_OPTIONAL},
	[C_BLOCK_IN] = {"block_in_bytes", "device in", COL_RIGHT | COL_OPTIONAL},
	[C_BLOCK_OUT] = {"block_out_bytes", "device out", COL_RIGHT | COL_OPTIONAL},
	[C_BAR_WALL] = {"bar_wall", "wall (log)", COL_TEXT_ONLY | COL_OPTIONAL},
	[C_BAR_CALLS] = {"bar_calls", "calls (log)", COL_TEXT_ONLY | COL_OPTIONAL},
	[C_BAR_RSS] = {"bar_rss", "memory", COL_TEXT_ONLY | COL_OPTIONAL},
	[C_RUNS] = {"runs", "", COL_DATA_ONLY},
	[C_OUTLIERS] = {"wall_outliers", "", COL_DATA_ONLY},
	[C_COUNTED] = {"counted_bytes", "", COL_DATA_ONLY},
	[C_UNABLE] = {"unable", "", COL_DATA_ONLY},
};

static void set_seconds(struct table *t, size_t col, double s)
{
	struct buf b = {0};
	if (s == 0)
		buf_addc(&b, '0');
	else
		duration_human(&b, s * 1e9);
	table_real(t, col, s, buf_str(&b));
	buf_free(&b);
}

/* The time in calls, as far as it can be told from the cost of tracing them: "~" doubtful, "<" not at all. */
static void set_in_calls(struct table *t, const struct subject *s)
{
	struct buf b = {0};
	bool lost = s->call_seconds <= 0;
	if (s->call_seconds < s->call_resolution || lost)
		buf_addc(&b, lost ? '<' : '~');
	duration_human(&b, 1e9 * (lost ? s->call_resolution : s->call_seconds));
	table_real(t, C_IN_CALLS, lost ? NAN : s->call_seconds, buf_str(&b));
	buf_free(&b);
}

static void set_bytes(struct table *t, size_t col, double bytes)
{
	struct buf b = {0};
	size_human(&b, (uint64_t)bytes);
	table_integer(t, col, (long long)bytes, buf_str(&b));
	buf_free(&b);
}

/* With a star where only a part of the input was counted. */
static void set_count(struct table *t, size_t col, uint64_t n, bool part)
{
	struct buf b = {0};
	count_human(&b, n);
	if (part)
		buf_addc(&b, '*');
	table_integer(t, col, (long long)n, buf_str(&b));
	buf_free(&b);
}

static void set_factor(struct table *t, size_t col, double x)
{
	struct buf b = {0};
	if (isfinite(x))
		factor_human(&b, x);
	table_real(t, col, x, buf_str(&b));
	buf_free(&b);
}

/* "1.21 to 1.93", "no difference seen": how well the ratio to the reference is known. */
static void set_interval(struct table *t, const struct compare *c, const struct subject *s)
{
	struct buf b = {0};
	if (s == c->subjects.v[c->reference]) {
		buf_adds(&b, "reference");
	} else if (s->same_as_reference) {
		buf_adds(&b, "no difference seen");
	} else if (isfinite(s->relative_ci.low)) { /* its end is open where the reference may take no time at all */
		factor_interval(&b, s->relative_ci.low, s->relative_ci.high);
	}
	table_string(t, C_INTERVAL, buf_str(&b));
	table_real(t, C_RELATIVE_LOW, s->relative_ci.low, NULL);
	table_real(t, C_RELATIVE_HIGH, s->relative_ci.high, NULL);
	buf_free(&b);
}

/* Medians of the counters of getrusage(2). */
static void usage_cells(struct table *t, const struct subject *s)
{
	static const struct {
		size_t col, offset;
	} counters[] = {
		{C_VOLUNTARY, offsetof(struct sample, voluntary_switches)},
		{C_INVOLUNTARY, offsetof(struct sample, involuntary_switches)},
		{C_MINOR, offsetof(struct sample, minor_faults)},
		{C_MAJOR, offsetof(struct sample, major_faults)},
		{C_BLOCK_IN, offsetof(struct sample, block_in_bytes)},
		{C_BLOCK_OUT, offsetof(struct sample, block_out_bytes)},
	};
	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++) {
		double median = compare_median(s, counters[i].offset);
		if (counters[i].col == C_BLOCK_IN || counters[i].col == C_BLOCK_OUT)
			set_bytes(t, counters[i].col, median);
		else
			set_count(t, counters[i].col, (uint64_t)median, false);
	}
}

static double bar_wall(const struct subject *s)
{
	return s->wall.of.median;
}

static double bar_calls(const struct subject *s)
{
	return s->counted && !s->partly ? (double)s->calls : NAN;
}

static double bar_rss(const struct subject *s)
{
	return s->peak_rss > 0 ? s->peak_rss : NAN;
}

/* The columns of bars: time and calls differ by powers of ten, memory by a factor. */
static const struct bar {
	size_t col;
	double (*value)(const struct subject *s);
	bool log;
} bar_columns[] = {{C_BAR_WALL, bar_wall, true}, {C_BAR_CALLS, bar_calls, true}, {C_BAR_RSS, bar_rss, false}};

/* The longest bar is the greatest value; on the log scale the shortest is the least. */
static void set_bar(struct table *t, const struct compare *c, const struct subject *s, const struct bar *bar)
{
	enum { WIDTH = 10 };
	double low = INFINITY;
	double high = 0;
	double value = bar->value(s);
	for (size_t i = 0; i < c->subjects.n; i++) {
		double x = c->subjects.v[i]->unable ? NAN : bar->value(c->subjects.v[i]);
		low = x < low ? x : low;
		high = x > high ? x : high;
	}
	if (!(value > 0) || !(high > 0))
		return;
	double part = bar->log ? (high > low ? log(value / low) / log(high / low) : 0) : value / high;
	int n = 1 + (int)lround(part * (WIDTH - 1));
	struct buf b = {0};
	for (int i = 0; i < n; i++)
		buf_adds(&b, "▪");
	table_string(t, bar->col, buf_str(&b));
	buf_free(&b);
}

static void calls_cells(struct table *t, const struct subject *s)
{
	bool part = s->partly;
	set_count(t, C_CALLS, s->calls, part);
	set_count(t, C_READS, s->reads, part);
	set_count(t, C_WRITES, s->writes, part);
	set_count(t, C_ERRORS, s->errors, false);
	set_in_calls(t, s);
	table_integer(t, C_COUNTED, (long long)s->counted_bytes, NULL);
}

static void time_cells(struct table *t, const struct compare *c, const struct subject *s)
{
	set_seconds(t, C_WALL, s->wall.of.median);
	if (s->wall.of.n > 1)
		set_seconds(t, C_SPREAD, s->wall.of.q3 - s->wall.of.q1);
	table_real(t, C_Q1, s->wall.of.q1, NULL);
	table_real(t, C_Q3, s->wall.of.q3, NULL);
	table_real(t, C_MIN, s->wall.of.min, NULL);
	table_real(t, C_MAX, s->wall.of.max, NULL);
	table_real(t, C_MEAN, s->wall.of.mean, NULL);
	table_real(t, C_STDDEV, s->wall.of.stddev, NULL);
	table_real(t, C_CV, s->wall.of.cv, NULL);
	table_real(t, C_LOW, s->wall.ci.low, NULL);
	table_real(t, C_HIGH, s->wall.ci.high, NULL);
	set_seconds(t, C_USER, s->user.of.mean);
	set_seconds(t, C_SYSTEM, s->system.of.mean);
	if (s->peak_rss > 0)
		set_bytes(t, C_RSS, s->peak_rss);
	char rate[32];
	double mb = (double)c->work.size / 1e6 / s->wall.of.median;
	snprintf(rate, sizeof(rate), mb < 99.95 ? "%.1f" : "%.0f", mb);
	if (s->strategy)
		table_real(t, C_RATE, mb, rate);
	set_factor(t, C_TIMES, compare_slowdown(c, s));
	set_factor(t, C_RELATIVE, s->relative);
	set_interval(t, c, s);
	usage_cells(t, s);
	for (size_t i = 0; i < sizeof(bar_columns) / sizeof(*bar_columns); i++)
		set_bar(t, c, s, &bar_columns[i]);
	table_integer(t, C_RUNS, (long long)s->wall.of.n, NULL);
	table_integer(t, C_OUTLIERS, (long long)compare_outliers(s), NULL);
}

static void subject_row(struct table *t, const struct compare *c, const struct subject *s)
{
	table_row(t);
	table_string(t, C_NAME, s->name);
	if (s->buffer) {
		struct buf b = {0};
		size_format(&b, s->buffer);
		table_string(t, C_BUFFER, buf_str(&b));
		table_integer(t, C_BUFFER_BYTES, (long long)s->buffer, NULL);
		buf_free(&b);
	}
	if (s->unable) {
		table_string(t, C_UNABLE, s->unable);
		table_real(t, C_WALL, NAN, "cannot run");
		table_mark_row(t, MARK_DIM);
		return;
	}
	if (s->counted)
		calls_cells(t, s);
	if (s->wall.of.n)
		time_cells(t, c, s);
	else
		table_real(t, C_WALL, NAN, "not timed");
	if (s == compare_fastest(c)) {
		table_mark_cell(t, C_TIMES, MARK_GOOD);
		table_mark_cell(t, C_RELATIVE, MARK_GOOD);
	}
}

/* Hides a column from people; csv and json keep what they have of it. */
static void hide(struct column *shown, int col)
{
	shown[col].flags |= COL_DATA_ONLY;
}

/* Columns that would be empty, or that were not asked for, are left out of the text. */
struct table *compare_table(const struct compare *c, bool bars)
{
	struct column shown[COLUMNS];
	memcpy(shown, columns, sizeof(shown));
	bool commands = c->subjects.n && !c->subjects.v[0]->strategy;
	bool buffers = false;
	for (size_t i = 0; i < c->subjects.n; i++)
		buffers |= c->subjects.v[i]->buffer != 0;
	if (commands)
		shown[C_NAME].title = "command";
	if (commands)
		hide(shown, C_RATE);
	for (int col = C_CALLS; col <= C_IN_CALLS && !compare_engine(c); col++)
		hide(shown, col);
	if (!compare_engine(c))
		hide(shown, C_BAR_CALLS);
	/* The ratio is shown once: to the row that was named, else to the fastest. */
	hide(shown, c->opt.reference ? C_TIMES : C_RELATIVE);
	if (c->subjects.n == 1)
		for (int col = C_TIMES; col <= C_INTERVAL; col++)
			hide(shown, col);
	if (c->subjects.n == 1 || !bars)
		for (int col = C_BAR_WALL; col <= C_BAR_RSS; col++)
			hide(shown, col);
	for (int col = C_VOLUNTARY; col <= C_BLOCK_OUT && !c->opt.usage; col++)
		hide(shown, col);
	if (!buffers)
		hide(shown, C_BUFFER);
	struct table *t = table_new(shown, COLUMNS);
	for (size_t i = 0; t && i < c->subjects.n; i++)
		subject_row(t, c, c->subjects.v[i]);
	return t;
}

void compare_title(const struct compare *c, struct buf *out)
{
	size_human(out, c->work.size);
	buf_addf(out, " (%s)", c->opt.input ? c->opt.input : "random");
}

int compare_show(const struct compare *c, struct buf *out, const struct table_look *look)
{
	enum table_format format = TABLE_TEXT;
	if (c->opt.format && table_format_parse(c->opt.format, &format) < 0)
		return -EINVAL;
	struct table *t = compare_table(c, format == TABLE_TEXT);
	if (!t)
		return -ENOMEM;
	if (format == TABLE_TEXT && c->subjects.n && c->subjects.v[0]->strategy) {
		buf_adds(out, "Copying ");
		compare_title(c, out);
		buf_adds(out, "\n\n");
	}
	int err = table_render(t, format, look, out);
	table_free(t);
	return err;
}
