/* The tables of runs whose rows are measured subjects: compare and bench. */
#include "cmd/report/report.h"

#include "base/size.h"
#include "stats/boot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEED 1 /* of the bootstrap; fixed, so that a report of the same files is the same report */

enum show { SHOW_SECONDS, SHOW_NS, SHOW_COUNT, SHOW_BYTES, SHOW_PLAIN, SHOW_SHARE };

/* What else the rows of a kind tell, beside their samples. */
static const struct extra {
	const char *kind, *path, *key, *title;
	enum show show;
} extras[] = {
	{"compare", "user_mean_s", "user_mean_s", "user", SHOW_SECONDS},
	{"compare", "system_mean_s", "system_mean_s", "system", SHOW_SECONDS},
	{"compare", "counts.calls", "calls", "calls", SHOW_COUNT},
	{"compare", "peak_rss_bytes", "peak_rss_bytes", "peak RSS", SHOW_BYTES},
	{"bench-syscall", "kernel_calls", "kernel_calls", "kernel calls", SHOW_PLAIN},
	{"bench-switch", "voluntary_switches_per_round", "voluntary_switches_per_round", "voluntary/round", SHOW_PLAIN},
	{"bench-switch", "involuntary_switches_per_round", "involuntary_switches_per_round", "invol./round",
	 SHOW_PLAIN},
	{"bench-sched", "throughput_per_s", "throughput_per_s", "throughput/s", SHOW_PLAIN},
	{"bench-latency", "p99_ns", "p99_ns", "p99", SHOW_NS},
	{"bench-latency", "p999_ns", "p999_ns", "p99.9", SHOW_NS},
};

/* Measures laid out with a row a run and a column a subject, as kernels are compared. */
static const struct extra grids[] = {
	{"bench-load", "mean_s", "mean_s", "Mean elapsed time", SHOW_SECONDS},
	{"bench-latency", "max_ns", "max_ns", "Greatest latency", SHOW_NS},
	{"bench-latency", "mean_ns", "mean_ns", "Mean latency", SHOW_NS},
	{"bench-sched", "throughput_per_s", "throughput_per_s", "Throughput, processes/s", SHOW_PLAIN},
	{"bench-sched", "mean_s", "mean_s", "Mean latency of a process", SHOW_SECONDS},
};

static void show_value(struct buf *text, enum show show, double v)
{
	buf_clear(text);
	if (!isfinite(v))
		return;
	if (v == 0)
		buf_addc(text, '0');
	else if (show == SHOW_SECONDS || show == SHOW_NS)
		duration_human(text, show == SHOW_NS ? v : v * 1e9);
	else if (show == SHOW_BYTES)
		size_human(text, v > 0 ? (uint64_t)v : 0);
	else if (show == SHOW_SHARE)
		buf_addf(text, "%.1f %%", 100 * v);
	else if (show == SHOW_COUNT)
		count_human(text, v > 0 ? (uint64_t)v : 0);
	else
		buf_addf(text, "%.4g", v);
}

static void set_value(struct table *t, size_t col, enum show show, double v)
{
	struct buf text = {0};
	show_value(&text, show, v);
	table_real(t, col, v, isfinite(v) ? buf_str(&text) : NULL);
	buf_free(&text);
}

int report_add_part(struct report *r, const char *key, const char *heading, struct table *t, const char *note)
{
	struct report_part p = {key, t ? strdup(heading) : NULL, t, note};
	if (p.heading && vec_push(&r->parts, p))
		return 0;
	free(p.heading);
	table_free(t);
	return -ENOMEM;
}

/* All subjects of all runs, each name once, in the order they first appear. */
struct names {
	VEC(const char *) list;
};

static int names_init(struct names *n, const struct report *r)
{
	for (size_t i = 0; i < r->runs.n; i++)
		for (size_t k = 0; k < r->runs.v[i].subjects.n; k++) {
			const char *name = r->runs.v[i].subjects.v[k].name;
			bool known = false;
			for (size_t j = 0; j < i && !known; j++)
				known = report_find(&r->runs.v[j], name) != NULL;
			if (!known && !vec_push(&n->list, name)) {
				vec_free(&n->list);
				return -ENOMEM;
			}
		}
	return 0;
}

/* The summary as R prints it; keys in seconds. */
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
	[S_STDDEV] = {"stddev_s", "StdDev", COL_RIGHT | COL_OPTIONAL},
	[S_OUTLIERS] = {"outliers", "outliers", COL_RIGHT | COL_OPTIONAL},
};

/* The extras of the kind that some row has. */
static size_t find_extras(const struct report *r, const struct extra **found, size_t max)
{
	size_t n = 0;
	for (size_t i = 0; i < sizeof(extras) / sizeof(*extras) && n < max; i++) {
		bool any = false;
		if (strcmp(extras[i].kind, r->kind) != 0)
			continue;
		for (size_t k = 0; k < r->runs.n && !any; k++)
			for (size_t j = 0; j < r->runs.v[k].subjects.n && !any; j++)
				any = isfinite(report_number(r->runs.v[k].subjects.v[j].row, extras[i].path));
		if (any)
			found[n++] = &extras[i];
	}
	return n;
}

#define EXTRAS_MAX 8

/* Members of a row that stand for what its samples would tell, where the samples were not kept (histograms). */
static double stored_or(const struct report_subject *s, const char *stem, double otherwise)
{
	char key[40];
	if (isfinite(otherwise))
		return otherwise;
	snprintf(key, sizeof(key), "%s_ns", stem);
	double ns = report_number(s->row, key);
	snprintf(key, sizeof(key), "%s_s", stem);
	return isfinite(ns) ? ns * 1e-9 : report_number(s->row, key);
}

/* A time of a subject in seconds; what its method could not tell from nothing is "<30 ns". */
static void set_time(struct table *t, size_t col, const struct report_subject *s, double v)
{
	double resolution = report_number(s->row, "resolution_ns") * 1e-9;
	if (!isfinite(v) || !isfinite(resolution) || v >= resolution) {
		set_value(t, col, SHOW_SECONDS, v);
		return;
	}
	struct buf text = {0};
	buf_addc(&text, '<');
	duration_human(&text, resolution * 1e9);
	table_real(t, col, v, buf_str(&text));
	buf_free(&text);
}

static void summary_row(struct table *t, const struct report_run *run, const struct report_subject *s,
			const struct extra **more, size_t nmore)
{
	const struct sample_summary none = {
		.min = NAN, .q1 = NAN, .median = NAN, .mean = NAN, .q3 = NAN, .max = NAN, .stddev = NAN};
	const struct sample_summary *v = s->n ? &s->s : &none;
	table_row(t);
	table_string(t, S_NAME, s->name);
	table_string(t, S_RUN, run->label);
	if (s->unable) {
		table_string(t, S_COLUMNS + nmore, s->unable);
		table_mark_row(t, MARK_DIM);
		return;
	}
	double n = s->n ? (double)s->n : report_number(s->row, "wakeups");
	if (isfinite(n))
		table_integer(t, S_N, (long long)n, NULL);
	set_time(t, S_MIN, s, stored_or(s, "min", v->min));
	set_time(t, S_Q1, s, stored_or(s, "q1", v->q1));
	set_time(t, S_MEDIAN, s, stored_or(s, "median", v->median));
	set_time(t, S_MEAN, s, stored_or(s, "mean", v->mean));
	set_time(t, S_Q3, s, stored_or(s, "q3", v->q3));
	set_time(t, S_MAX, s, stored_or(s, "max", v->max));
	set_value(t, S_STDDEV, SHOW_SECONDS, stored_or(s, "stddev", v->stddev));
	if (s->n)
		table_integer(t, S_OUTLIERS, (long long)(v->outliers_low + v->outliers_high), NULL);
	for (size_t i = 0; i < nmore; i++)
		set_value(t, S_COLUMNS + i, more[i]->show, report_number(s->row, more[i]->path));
}

static bool any_unable(const struct report *r)
{
	for (size_t i = 0; i < r->runs.n; i++)
		for (size_t k = 0; k < r->runs.v[i].subjects.n; k++)
			if (r->runs.v[i].subjects.v[k].unable)
				return true;
	return false;
}

static bool has_samples(const struct report *r)
{
	for (size_t i = 0; i < r->runs.v[0].subjects.n; i++)
		if (r->runs.v[0].subjects.v[i].n)
			return true;
	return false;
}

static int add_summary(struct report *r, const struct names *names)
{
	const struct extra *more[EXTRAS_MAX];
	/* What single runs told beside their samples is not true of all of them together. */
	size_t nmore = r->merged ? 0 : find_extras(r, more, EXTRAS_MAX);
	struct column columns[S_COLUMNS + EXTRAS_MAX + 1];
	memcpy(columns, summary_columns, sizeof(summary_columns));
	for (size_t i = 0; i < nmore; i++)
		columns[S_COLUMNS + i] =
			(struct column){more[i]->key, more[i]->title,
					COL_RIGHT | (more[i]->show == SHOW_SECONDS ? COL_OPTIONAL : COL_SPARE)};
	columns[S_COLUMNS + nmore] = (struct column){"unable", "", COL_WRAP};
	if (r->runs.n == 1)
		columns[S_RUN].flags |= COL_DATA_ONLY;
	if (!has_samples(r)) /* a histogram was kept: it gives no exact quartiles */
		columns[S_Q1].flags = columns[S_Q3].flags = columns[S_OUTLIERS].flags = COL_RIGHT | COL_DATA_ONLY;
	struct table *t = table_new(columns, S_COLUMNS + nmore + any_unable(r));
	for (size_t i = 0; t && i < names->list.n; i++)
		for (size_t k = 0; k < r->runs.n; k++) {
			const struct report_subject *s = report_find(&r->runs.v[k], names->list.v[i]);
			if (s)
				summary_row(t, &r->runs.v[k], s, more, nmore);
		}
	bool sched = strcmp(r->kind, "bench-sched") == 0;
	return report_add_part(r, "summary", "Summary", t,
			       sched ? "A sample is the mean latency of the processes of one run." : NULL);
}

/* Ratios of medians to the first run. */
enum { R_NAME, R_RUN, R_FIRST, R_OTHER, R_RATIO, R_LOW, R_HIGH, R_WORDS, R_COLUMNS };

/* How often a verdict was given over all subjects of a run. */
struct tally {
	size_t slower, faster, same;
	double most; /* the ratio farthest from 1 */
	const char *most_name;
};

static void add_words(struct table *t, double ratio, const struct interval *i, struct tally *tally, const char *name)
{
	struct buf text = {0};
	if (!isfinite(i->low)) {
		table_string(t, R_WORDS, "one sample: not known");
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
	buf_free(&text);
}

/* Its median is less than what its method can tell from nothing. */
static bool unresolved(const struct report_subject *s)
{
	return json_is_false(json_object_get(s->row, "resolved"));
}

static int ratio_row(struct table *t, const struct report_run *run, const struct report_subject *a,
		     const struct report_subject *b, struct tally *tally)
{
	struct interval i = {NAN, NAN};
	/* One sample has no spread: nothing can be told from chance. */
	int rc = a->n > 1 && b->n > 1 ? boot_ratio(b->samples, b->n, a->samples, a->n, SEED, &i) : 0;
	if (rc < 0)
		return rc;
	double ratio = a->s.median == 0 && b->s.median == 0 ? 1 : b->s.median / a->s.median;
	table_row(t);
	table_string(t, R_NAME, a->name);
	table_string(t, R_RUN, run->label);
	set_time(t, R_FIRST, a, a->s.median);
	set_time(t, R_OTHER, b, b->s.median);
	if (unresolved(a) || unresolved(b)) {
		table_string(t, R_WORDS, "too short to be told from nothing: no ratio");
		return 0;
	}
	struct buf text = {0};
	factor_human(&text, ratio);
	table_real(t, R_RATIO, ratio, buf_str(&text));
	buf_clear(&text);
	if (isfinite(i.low))
		factor_interval(&text, i.low, i.high);
	table_real(t, R_LOW, i.low, buf_str(&text));
	buf_free(&text);
	table_real(t, R_HIGH, i.high, NULL);
	add_words(t, ratio, &i, tally, a->name);
	return 0;
}

static void add_lesson(struct report *r, const struct report_run *run, const struct tally *y)
{
	size_t all = y->slower + y->faster + y->same;
	if (!all)
		return;
	buf_addf(&r->lessons, "Against %s, %s ", r->runs.v[0].label, run->label);
	if (y->slower)
		buf_addf(&r->lessons, "is slower in %zu of %zu", y->slower, all);
	if (y->faster)
		buf_addf(&r->lessons, "%s in %zu of %zu", y->slower ? ", faster" : "is faster", y->faster, all);
	if (y->same)
		buf_addf(&r->lessons, "%s no difference is seen in %zu of %zu",
			 y->slower + y->faster ? ", and" : "is alike:", y->same, all);
	if (y->most_name && all > 1)
		buf_addf(&r->lessons, "; most in %s, %.2f times %s", y->most_name, y->most > 1 ? y->most : 1 / y->most,
			 y->most > 1 ? "slower" : "faster");
	buf_adds(&r->lessons, ".\n");
}

/* "Only a has: sendfile, splice." */
static void say_only(struct report *r, const struct report_run *has, const struct report_run *lacks)
{
	enum { SHOWN = 6 };
	size_t n = 0;
	for (size_t i = 0; i < has->subjects.n; i++) {
		if (report_find(lacks, has->subjects.v[i].name))
			continue;
		if (!n)
			buf_addf(&r->lessons, "Only %s has: ", has->label);
		if (n < SHOWN)
			buf_addf(&r->lessons, "%s%s", n ? ", " : "", has->subjects.v[i].name);
		n++;
	}
	if (n > SHOWN)
		buf_addf(&r->lessons, " and %zu more", n - SHOWN);
	if (n)
		buf_adds(&r->lessons, ".\n");
}

static int fill_ratios(struct report *r, const struct names *names, struct table *t)
{
	for (size_t k = 1; k < r->runs.n; k++) {
		struct tally tally = {0};
		for (size_t i = 0; i < names->list.n; i++) {
			const struct report_subject *a = report_find(&r->runs.v[0], names->list.v[i]);
			const struct report_subject *b = report_find(&r->runs.v[k], names->list.v[i]);
			if (!a || !b || !a->n || !b->n)
				continue;
			int rc = ratio_row(t, &r->runs.v[k], a, b, &tally);
			if (rc < 0)
				return rc;
		}
		add_lesson(r, &r->runs.v[k], &tally);
		say_only(r, &r->runs.v[0], &r->runs.v[k]);
		say_only(r, &r->runs.v[k], &r->runs.v[0]);
	}
	return 0;
}

static int add_ratios(struct report *r, const struct names *names)
{
	struct column columns[R_COLUMNS] = {
		[R_NAME] = {"name", "", 0},
		[R_RUN] = {"run", "run", 0},
		[R_FIRST] = {"reference_median_s", r->runs.v[0].label, COL_RIGHT},
		[R_OTHER] = {"median_s", "run's", COL_RIGHT},
		[R_RATIO] = {"ratio", "ratio", COL_RIGHT},
		[R_LOW] = {"ratio_low95", "95 %", COL_RIGHT},
		[R_HIGH] = {"ratio_high95", "", COL_RIGHT | COL_DATA_ONLY},
		[R_WORDS] = {"verdict", "", COL_SPARE}, /* the interval says it, too */
	};
	if (r->runs.n == 2) {
		columns[R_RUN].flags |= COL_DATA_ONLY;
		columns[R_OTHER].title = r->runs.v[1].label;
	}
	if (r->runs.n < 2 || !has_samples(r))
		return 0;
	struct table *t = table_new(columns, R_COLUMNS);
	int rc = t ? fill_ratios(r, names, t) : -ENOMEM;
	if (rc < 0) {
		table_free(t);
		return rc;
	}
	struct buf heading = {0};
	buf_addf(&heading, "Medians against those of %s", r->runs.v[0].label);
	rc = report_add_part(
		r, "ratios", buf_str(&heading), t,
		"Ratio of medians with its 95 % bootstrap interval; where that spans 1, no difference was seen. "
		"The interval knows the spread within each run, not how whole runs differ: repeat them before "
		"you trust a small difference.");
	buf_free(&heading);
	return rc;
}

/* A cell: the value, and behind it how far it is from the first run's. */
static void grid_cell(struct table *t, size_t col, const struct extra *g, double v, double first)
{
	struct buf text = {0};
	show_value(&text, g->show, v);
	double ratio = isfinite(first) && first != 0 && isfinite(v) ? v / first : NAN;
	if (ratio >= 10)
		buf_addf(&text, " (%.0f times)", ratio);
	else if (isfinite(ratio))
		buf_addf(&text, " (%+.1f %%)", 100 * (ratio - 1));
	table_real(t, col, v, isfinite(v) ? buf_str(&text) : NULL);
	buf_free(&text);
}

static struct table *grid_table(const struct report *r, const struct names *names, const struct extra *g)
{
	struct column *columns = calloc(names->list.n + 1, sizeof(*columns));
	if (!columns)
		return NULL;
	columns[0] = (struct column){"run", "run", 0};
	for (size_t i = 0; i < names->list.n; i++)
		columns[i + 1] = (struct column){names->list.v[i], names->list.v[i], COL_RIGHT};
	struct table *t = table_new(columns, names->list.n + 1);
	free(columns);
	for (size_t k = 0; t && k < r->runs.n; k++) {
		table_row(t);
		table_string(t, 0, r->runs.v[k].label);
		for (size_t i = 0; i < names->list.n; i++) {
			const struct report_subject *a = report_find(&r->runs.v[0], names->list.v[i]);
			const struct report_subject *s = report_find(&r->runs.v[k], names->list.v[i]);
			double first = k && a ? report_number(a->row, g->path) : NAN;
			grid_cell(t, i + 1, g, s ? report_number(s->row, g->path) : NAN, first);
		}
	}
	return t;
}

static bool grid_applies(const struct report *r, const struct extra *g)
{
	return strcmp(g->kind, r->kind) == 0 && r->runs.v[0].subjects.n &&
	       isfinite(report_number(r->runs.v[0].subjects.v[0].row, g->path));
}

static int add_grids(struct report *r, const struct names *names)
{
	int rc = 0;
	for (size_t i = 0; i < sizeof(grids) / sizeof(*grids) && rc == 0 && r->runs.n > 1; i++)
		if (grid_applies(r, &grids[i]))
			rc = report_add_part(r, grids[i].key, grids[i].title, grid_table(r, names, &grids[i]), NULL);
	return rc;
}

int report_samples(struct report *r)
{
	struct names names = {0};
	int rc = names_init(&names, r);
	if (rc == 0 && !names.list.n)
		buf_adds(&r->notes, "There is nothing in it: no subject was measured.\n");
	if (rc == 0)
		rc = add_grids(r, &names);
	if (rc == 0)
		rc = add_ratios(r, &names);
	if (rc == 0)
		rc = add_summary(r, &names);
	vec_free(&names.list);
	return rc;
}
