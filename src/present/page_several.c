/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "base/size.h"
#include "present/page.h"
#include "run/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fills the page of several runs of one kind: their differences, the ratios to the first run, tables with a row for
 * each run, and a summary of each subject.
 */
enum show { SHOW_SECONDS, SHOW_COUNT, SHOW_BYTES, SHOW_PLAIN };

struct extra {
	unsigned kind;
	const char *key, *title;
	enum show show;
	size_t member; /* for figure_of() */
	double unit;   /* what the member is multiplied by: 1e-9 if it is in ns and the column in seconds */
};

/* The figures that have columns in the summary, in addition to those of R's summary(). */
static const struct extra extras[] = {
	{RUN_COMPARE, "user_mean_s", "user", SHOW_SECONDS, FIGURE(judged.of[METRIC_USER].mean), 1},
	{RUN_COMPARE, "system_mean_s", "system", SHOW_SECONDS, FIGURE(judged.of[METRIC_SYSTEM].mean), 1},
	{RUN_COMPARE, "calls", "calls", SHOW_COUNT, FIGURE(counts.calls), 1},
	{RUN_COMPARE, "waits", "waits", SHOW_COUNT, FIGURE(counts.waits), 1},
	{RUN_COMPARE, "peak_rss_bytes", "peak RSS", SHOW_BYTES, FIGURE_PEAK_RSS, 1},
	{RUN_SYSCALL, "kernel_calls", "kernel calls", SHOW_PLAIN, FIGURE(kernel_calls), 1},
	{RUN_SWITCH, "voluntary_switches_per_round", "voluntary/round", SHOW_PLAIN, FIGURE(voluntary_per_round), 1},
	{RUN_SWITCH, "involuntary_switches_per_round", "involuntary/round", SHOW_PLAIN, FIGURE(involuntary_per_round),
	 1},
	{RUN_SCHED, "throughput_per_s", "throughput/s", SHOW_PLAIN, FIGURE(judged.of[METRIC_THROUGHPUT].median), 1},
	{RUN_LATENCY, "p99_s", "p99", SHOW_SECONDS, FIGURE(p99_ns), 1e-9},
	{RUN_LATENCY, "p999_s", "p99.9", SHOW_SECONDS, FIGURE(p999_ns), 1e-9},
};

/*
 * Each of these figures has a table of its own, with one row for each run and one column for each subject. This is the
 * usual form for comparing kernels.
 */
static const struct extra grids[] = {
	{RUN_LOAD, "mean_s", "Mean elapsed time", SHOW_SECONDS, FIGURE(judged.of[METRIC_TIME].mean), 1},
	{RUN_LATENCY, "max_s", "Maximum latency", SHOW_SECONDS, FIGURE(max_ns), 1e-9},
	{RUN_LATENCY, "mean_s", "Mean latency", SHOW_SECONDS, FIGURE(mean_ns), 1e-9},
	{RUN_SCHED, "throughput_per_s", "Throughput, processes/s", SHOW_PLAIN,
	 FIGURE(judged.of[METRIC_THROUGHPUT].median), 1},
	{RUN_SCHED, "mean_s", "Mean latency of a process", SHOW_SECONDS, FIGURE(judged.of[METRIC_TIME].mean), 1},
};

static double extra_of(const struct run_subject *s, const struct extra *x)
{
	return figure_of(s, x->member) * x->unit;
}

/* Sets a cell to the value `v`, with the text `after` behind it. NAN leaves the cell empty. */
static void set_value(struct table *t, size_t col, enum show show, double v, const char *after)
{
	struct buf text = {0};
	if (!isfinite(v))
		return;
	if (show == SHOW_SECONDS) {
		table_duration(t, col, v, "", v * 1e9, after);
		return;
	}
	if (v == 0)
		buf_addc(&text, '0');
	else if (show == SHOW_BYTES)
		size_human(&text, v > 0 ? (uint64_t)fmin(v, 9e18) : 0);
	else if (show == SHOW_COUNT)
		count_human(&text, v > 0 ? (uint64_t)fmin(v, 9e18) : 0);
	else
		buf_addf(&text, "%.4g", v);
	buf_adds(&text, after);
	cell_real(t, col, v, &text);
}

/* The names of the subjects of all runs: each name once, in the order in which the names first appear. */
struct names {
	VEC(const char *) list;
};

static void names_init(struct names *n, const struct page *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->runs[i].run->subjects.n; k++) {
			const char *name = p->runs[i].run->subjects.v[k].name;
			bool known = false;
			for (size_t j = 0; j < i && !known; j++)
				known = run_find(p->runs[j].run, name) != NULL;
			if (!known)
				vec_push(&n->list, name);
		}
}

/* The columns of the summary: the figures of R's summary(). The times in CSV and JSON are in seconds. */
enum { S_NAME, S_RUN, S_N, S_MIN, S_Q1, S_MEDIAN, S_MEAN, S_Q3, S_MAX, S_STDDEV, S_OUTLIERS, S_COLUMNS };
static const struct column summary_columns[S_COLUMNS] = {
	[S_NAME] = {"name", "", 0},
	[S_RUN] = {"run", "run", 0},
	[S_N] = {"samples", "n", COL_RIGHT | COL_SPARE},
	[S_MIN] = {"min_s", "Min.", COL_RIGHT | COL_SPARE},
	[S_Q1] = {"q1_s", "1st Qu.", COL_RIGHT | COL_OPTIONAL},
	[S_MEDIAN] = {"median_s", "Median", COL_RIGHT},
	[S_MEAN] = {"mean_s", "Mean", COL_RIGHT | COL_OPTIONAL},
	[S_Q3] = {"q3_s", "3rd Qu.", COL_RIGHT | COL_OPTIONAL},
	[S_MAX] = {"max_s", "Max.", COL_RIGHT | COL_SPARE},
	[S_STDDEV] = {"stddev_s", "std dev", COL_RIGHT | COL_OPTIONAL},
	[S_OUTLIERS] = {"outliers", "outliers", COL_RIGHT | COL_OPTIONAL},
};

#define EXTRAS_MAX 8

/* Finds the figures in `extras` that at least one subject of the page has. Returns their number. */
static size_t find_extras(const struct page *p, const struct extra **found)
{
	size_t n = 0;
	for (size_t i = 0; i < sizeof(extras) / sizeof(*extras) && n < EXTRAS_MAX; i++) {
		bool any = false;
		for (size_t k = 0; k < p->n && extras[i].kind == p->runs[0].run->bits; k++)
			for (size_t j = 0; j < p->runs[k].run->subjects.n && !any; j++)
				any = isfinite(extra_of(&p->runs[k].run->subjects.v[j], &extras[i]));
		if (any)
			found[n++] = &extras[i];
	}
	return n;
}

static void set_time(struct table *t, size_t col, const struct run_subject *s, double v)
{
	cell_time_above(t, col, v, s->resolution_ns * 1e-9, 1);
}

static void summary_row(struct table *t, const struct page_run *run, const struct run_subject *s,
			const struct extra **more, size_t nmore)
{
	const struct sample_summary *of = &s->judged.of[METRIC_TIME];
	/* The figures from S_MIN to S_MAX: those of samples in seconds, or those of a histogram in ns. */
	const double times[] = {of->min, of->q1, of->median, of->mean, of->q3, of->max};
	const double histogram[] = {s->min_ns, NAN, s->median_ns, s->mean_ns, NAN, s->max_ns};
	table_row(t);
	table_string(t, S_NAME, s->name);
	table_string(t, S_RUN, run->label);
	if (s->unable) {
		table_string(t, S_COLUMNS + nmore, s->unable);
		table_mark_row(t, MARK_DIM);
		return;
	}
	double n = of->n ? (double)of->n : s->wakeups;
	if (isfinite(n))
		table_integer(t, S_N, (long long)fmin(n, 9e18), NULL);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		set_time(t, S_MIN + i, s, of->n ? times[i] : histogram[i] * 1e-9);
	set_value(t, S_STDDEV, SHOW_SECONDS, of->n ? of->stddev : s->stddev_ns * 1e-9, "");
	if (of->n)
		table_integer(t, S_OUTLIERS, (long long)run_outliers(s), NULL);
	for (size_t i = 0; i < nmore; i++)
		set_value(t, S_COLUMNS + i, more[i]->show, extra_of(s, more[i]), "");
}

static bool any_unable(const struct page *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->runs[i].run->subjects.n; k++)
			if (p->runs[i].run->subjects.v[k].unable)
				return true;
	return false;
}

static bool has_samples(const struct page *p)
{
	for (size_t i = 0; i < p->runs[0].run->subjects.n; i++)
		if (p->runs[0].run->subjects.v[i].samples[METRIC_TIME].n)
			return true;
	return false;
}

static void add_summary(struct page *p, const struct names *names)
{
	const struct extra *more[EXTRAS_MAX];
	size_t nmore = find_extras(p, more);
	struct strings metrics = {0};
	for (size_t i = 0; i < p->n; i++)
		run_metric_names(p->runs[i].run, &metrics);
	auto_free struct column *columns = memory_zeroed(S_COLUMNS + EXTRAS_MAX + 1 + metrics.n, sizeof(*columns));
	memcpy(columns, summary_columns, sizeof(summary_columns));
	for (size_t i = 0; i < nmore; i++)
		columns[S_COLUMNS + i] =
			(struct column){more[i]->key, more[i]->title,
					COL_RIGHT | (more[i]->show == SHOW_SECONDS ? COL_OPTIONAL : COL_SPARE)};
	columns[S_COLUMNS + nmore] = (struct column){"unable", "", COL_WRAP | (any_unable(p) ? 0 : COL_NOWHERE)};
	size_t own = S_COLUMNS + nmore + 1;
	for (size_t i = 0; i < metrics.n; i++) {
		struct buf name = {0};
		buf_adds(&name, metrics.v[i]);
		const char *kept = page_keep(p, &name);
		columns[own + i] = (struct column){kept, kept, COL_RIGHT | COL_NAMED};
	}
	if (p->n == 1)
		columns[S_RUN].flags |= COL_DATA_ONLY;
	if (!has_samples(p)) /* only a histogram was saved, and its quartiles are not exact */
		columns[S_Q1].flags = columns[S_Q3].flags = columns[S_OUTLIERS].flags = COL_RIGHT | COL_DATA_ONLY;
	struct table *t = table_new(columns, own + metrics.n);
	for (size_t i = 0; i < names->list.n; i++)
		for (size_t k = 0; k < p->n; k++) {
			const struct run_subject *s = run_find(p->runs[k].run, names->list.v[i]);
			if (s)
				summary_row(t, &p->runs[k], s, more, nmore);
			if (s)
				cell_metrics(t, own, &metrics, s);
		}
	strings_clear(&metrics);
	bool sched = p->runs[0].run->bits == RUN_SCHED;
	page_add_part(p, "summary", "Summary", t,
		      sched ? "A sample is the mean latency of the processes of one run." : NULL);
}

/* The columns of the table of ratios: the median of each run compared with that of the first run. */
enum { R_NAME, R_RUN, R_FIRST, R_OTHER, R_RATIO, R_LOW, R_HIGH, R_WORDS, R_COLUMNS };

/* How many subjects of a run are slower, faster or equal, compared with the first run. */
struct tally {
	size_t slower, faster, same;
	double most; /* the ratio that differs most from 1 */
	const char *most_name;
};

static void add_words(struct table *t, double ratio, const struct interval *i, struct tally *tally, const char *name)
{
	auto_buf text = {0};
	if (!isfinite(i->low)) {
		table_string(t, R_WORDS, "not known: too few samples");
		return;
	}
	if (boot_spans_one(i)) {
		tally->same++;
		table_string(t, R_WORDS, "no difference seen");
		return;
	}
	bool slower = ratio > 1;
	slower ? tally->slower++ : tally->faster++;
	if (!tally->most_name || fabs(log(ratio)) > fabs(log(tally->most))) {
		tally->most = ratio;
		tally->most_name = name;
	}
	buf_addf(&text, "%.2f times %s", slower ? ratio : 1 / ratio, slower ? "slower" : "faster");
	table_string(t, R_WORDS, buf_str(&text));
	table_mark_cell(t, R_WORDS, slower ? MARK_BAD : MARK_GOOD);
}

static void ratio_row(struct table *t, const struct page_run *run, const struct run_subject *a,
		      const struct run_subject *b, struct tally *tally)
{
	double before = run_median(a, METRIC_TIME);
	double after = run_median(b, METRIC_TIME);
	struct change ratio = {after / before, {NAN, NAN}};
	run_ratio(run->run, b, a, &ratio);
	table_row(t);
	table_string(t, R_NAME, a->name);
	table_string(t, R_RUN, run->label);
	set_time(t, R_FIRST, a, before);
	set_time(t, R_OTHER, b, after);
	if (a->resolved == TRUTH_NO || b->resolved == TRUTH_NO) {
		table_string(t, R_WORDS, "too short to be measured");
		return;
	}
	struct buf text = {0};
	cell_factor(t, R_RATIO, ratio.value);
	if (isfinite(ratio.interval.low))
		factor_interval(&text, ratio.interval.low, ratio.interval.high);
	cell_real(t, R_LOW, ratio.interval.low, &text);
	table_real(t, R_HIGH, ratio.interval.high, NULL);
	add_words(t, ratio.value, &ratio.interval, tally, a->name);
}

static void say_tally(const struct page *p, size_t k, const struct tally *y, struct buf *out)
{
	size_t all = y->slower + y->faster + y->same;
	if (!all)
		return;
	buf_addf(out, "Compared with %s, %s ", p->runs[0].label, p->runs[k].label);
	if (y->slower)
		buf_addf(out, "is slower in %zu of %zu rows", y->slower, all);
	if (y->faster)
		buf_addf(out, "%s in %zu of %zu rows", y->slower ? ", faster" : "is faster", y->faster, all);
	if (y->same)
		buf_addf(out, "%s no difference in %zu of %zu rows", y->slower + y->faster ? ", and shows" : "shows",
			 y->same, all);
	if (y->most_name && all > 1)
		buf_addf(out, "; the largest difference is in %s, %.2f times %s", y->most_name,
			 y->most > 1 ? y->most : 1 / y->most, y->most > 1 ? "slower" : "faster");
	buf_adds(out, ".\n");
}

/* Appends "Only a has results for: sendfile, splice." */
static void say_only(const struct page_run *has, const struct page_run *lacks, struct buf *out)
{
	enum { SHOWN = 6 };
	size_t n = 0;
	for (size_t i = 0; i < has->run->subjects.n; i++) {
		const char *name = has->run->subjects.v[i].name;
		if (run_find(lacks->run, name))
			continue;
		if (!n)
			buf_addf(out, "Only %s has results for: ", has->label);
		if (n < SHOWN)
			buf_addf(out, "%s%s", n ? ", " : "", name);
		n++;
	}
	if (n > SHOWN)
		buf_addf(out, " and %zu more", n - SHOWN);
	if (n)
		buf_adds(out, ".\n");
}

/* Returns true for the empty loop of bench syscall, whose cost is subtracted from those of the operations. */
static bool is_control(const struct run_subject *s)
{
	return s->group && strcmp(s->group, "control") == 0;
}

static void fill_ratios(struct page *p, const struct names *names, struct table *t)
{
	struct page_section *findings = page_section(p, SECTION_FINDINGS, "Findings", "");
	for (size_t k = 1; k < p->n; k++) {
		struct tally tally = {0};
		struct tally uncounted = {0};
		for (size_t i = 0; i < names->list.n; i++) {
			const struct run_subject *a = run_find(p->runs[0].run, names->list.v[i]);
			const struct run_subject *b = run_find(p->runs[k].run, names->list.v[i]);
			if (!a || !b || !a->samples[METRIC_TIME].n || !b->samples[METRIC_TIME].n)
				continue;
			ratio_row(t, &p->runs[k], a, b, is_control(a) ? &uncounted : &tally);
		}
		say_tally(p, k, &tally, &findings->text);
		say_only(&p->runs[0], &p->runs[k], &findings->text);
		say_only(&p->runs[k], &p->runs[0], &findings->text);
	}
}

static void add_ratios(struct page *p, const struct names *names)
{
	struct column columns[R_COLUMNS] = {
		[R_NAME] = {"name", "", 0},
		[R_RUN] = {"run", "run", 0},
		/* The summary has the medians as well. */
		[R_FIRST] = {"reference_median_s", p->runs[0].label, COL_RIGHT | COL_SPARE},
		[R_OTHER] = {"median_s", "run's", COL_RIGHT | COL_SPARE | COL_JOINED},
		[R_RATIO] = {"ratio", "ratio",
			     COL_RIGHT | COL_OPTIONAL}, /* the verdict contains it if a difference was seen */
		[R_LOW] = {"ratio_low95", "95 %", COL_RIGHT},
		[R_HIGH] = {"ratio_high95", "", COL_RIGHT | COL_DATA_ONLY},
		[R_WORDS] = {"verdict", "", COL_LAST}, /* may be left out, because the interval says the same */
	};
	if (p->n < 2 || !has_samples(p))
		return;
	if (p->n == 2) {
		columns[R_RUN].flags |= COL_DATA_ONLY;
		columns[R_OTHER].title = p->runs[1].label;
	}
	struct table *t = table_new(columns, R_COLUMNS);
	fill_ratios(p, names, t);
	table_hide_if_empty(t, R_LOW);
	auto_buf heading = {0};
	buf_addf(&heading, "Medians compared with those of %s", p->runs[0].label);
	page_add_part(p, "ratios", buf_str(&heading), t,
		      "Ratio of medians with its 95 % interval. If the interval includes 1, no "
		      "difference was seen. The interval covers the spread within each run, not the differences "
		      "between repeated runs: repeat the runs before you rely on a small difference.");
}

/*
 * Sets a cell to the value `v` and its relation to the value of the first run: "+3.1 %", or "12 times" if it is far
 * larger.
 */
static void grid_cell(struct table *t, size_t col, const struct extra *g, double v, double first)
{
	auto_buf relation = {0};
	double ratio = isfinite(first) && first != 0 ? v / first : NAN;
	if (!isfinite(v))
		return;
	if (ratio >= 10)
		buf_addf(&relation, " (%.0f times)", ratio);
	else if (isfinite(ratio))
		buf_addf(&relation, " (%+.1f %%)", 100 * (ratio - 1));
	set_value(t, col, g->show, v, buf_str(&relation));
}

static struct table *grid_table(const struct page *p, const struct names *names, const struct extra *g)
{
	auto_free struct column *columns = memory_zeroed(names->list.n + 1, sizeof(*columns));
	columns[0] = (struct column){"run", "run", COL_TAIL};
	for (size_t i = 0; i < names->list.n; i++)
		columns[i + 1] = (struct column){names->list.v[i], names->list.v[i], COL_RIGHT | COL_CONTINUED};
	struct table *t = table_new(columns, names->list.n + 1);
	for (size_t k = 0; k < p->n; k++) {
		table_row(t);
		table_string(t, 0, p->runs[k].label);
		for (size_t i = 0; i < names->list.n; i++) {
			const struct run_subject *a = run_find(p->runs[0].run, names->list.v[i]);
			const struct run_subject *s = run_find(p->runs[k].run, names->list.v[i]);
			grid_cell(t, i + 1, g, s ? extra_of(s, g) : NAN, k && a ? extra_of(a, g) : NAN);
		}
	}
	return t;
}

static void add_grids(struct page *p, const struct names *names)
{
	const struct run *first = p->runs[0].run;
	for (size_t i = 0; i < sizeof(grids) / sizeof(*grids) && p->n > 1; i++)
		if (grids[i].kind == first->bits && first->subjects.n &&
		    isfinite(extra_of(&first->subjects.v[0], &grids[i])))
			page_add_part(p, grids[i].key, grids[i].title, grid_table(p, names, &grids[i]), NULL);
}

/* Adds the pictures for several runs. */
static void add_figures(struct page *p)
{
	static const struct {
		unsigned kinds; /* the kinds of runs, one bit each; 0: any kind */
		const char *name;
		int (*draw)(void *page, int width, struct buf *out);
	} all[] = {
		{RUN_COMPARE, "scan", draw_scan},
		{RUN_COMPARE, "bars", draw_compare},
		{RUN_LATENCY, "hist", draw_latencies},
		{RUN_SCHED, "progress", draw_progress},
		{0, "boxes", draw_boxes},
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!all[i].kinds || all[i].kinds == p->runs[0].run->bits)
			page_add_figure(p, all[i].name, all[i].draw);
}

void page_of_several(struct page *p)
{
	struct names names = {0};
	differences_fill(p);
	if (p->runs[0].run->bits == RUN_COUNT) {
		page_of_several_counts(p);
		return;
	}
	names_init(&names, p);
	add_grids(p, &names);
	add_ratios(p, &names);
	add_summary(p, &names);
	add_figures(p);
	vec_free(&names.list);
}
