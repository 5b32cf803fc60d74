/* Draws the pictures of compare and bench that have bars, lines, boxes, histograms or a scatter plot. */
#include "base/memory.h"
#include "base/size.h"
#include "out/chart.h"
#include "present/kinds.h"
#include "present/labels.h"
#include "present/machine.h"
#include "run/judge.h"
#include "stats/box.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double time_median(const struct run_subject *s)
{
	return run_median(s, METRIC_TIME);
}

static double time_q1(const struct run_subject *s)
{
	return s->judged.of[METRIC_TIME].q1;
}

static double time_q3(const struct run_subject *s)
{
	return s->judged.of[METRIC_TIME].q3;
}

static double time_mean(const struct run_subject *s)
{
	return s->judged.of[METRIC_TIME].mean;
}

static double time_min(const struct run_subject *s)
{
	return s->judged.of[METRIC_TIME].min;
}

static double time_max(const struct run_subject *s)
{
	return s->judged.of[METRIC_TIME].max;
}

static double system_mean(const struct run_subject *s)
{
	return s->judged.of[METRIC_SYSTEM].mean;
}

static double calls(const struct run_subject *s)
{
	/* A count for only a part of the input cannot be compared with counts for all of it, so it is not drawn. */
	return s->counts.known && !run_counted_partly(s) ? s->counts.calls : NAN;
}

static double peak_rss(const struct run_subject *s)
{
	double rss = run_median(s, METRIC_PEAK_RSS);
	return rss > 0 ? rss : NAN;
}

typedef double value_fn(const struct run_subject *s);

struct measure {
	const char *title;
	enum chart_unit unit;
	value_fn *value, *low, *high;
};

static const struct measure compare_measures[] = {
	{"wall time (median)", UNIT_SECONDS, time_median, time_q1, time_q3},
	{"system time (mean)", UNIT_SECONDS, system_mean, NULL, NULL},
	{"system calls", UNIT_COUNT, calls, NULL, NULL},
	{"peak resident set", UNIT_BYTES, peak_rss, NULL, NULL},
};
#define MEASURES (sizeof(compare_measures) / sizeof(*compare_measures))

static const struct measure load_measure = {"wall", UNIT_SECONDS, time_mean, time_min, time_max};

static bool any_finite(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i]))
			return true;
	return false;
}

/* Draws bars of all subjects in all runs, with a panel for each metric. The caller has set the texts of `frame`. */
static int draw_bars(const struct page *p, const struct measure *measures, size_t n, const struct chart_frame *frame,
		     struct buf *out)
{
	struct rows rows = {0};
	struct chart_bar_panel panels[MEASURES] = {0};
	double *owned[MEASURES * 3] = {0};
	size_t drawn = 0;
	rows_init(&rows, p);
	for (size_t m = 0; m < n; m++) {
		value_fn *const fn[] = {measures[m].value, measures[m].low, measures[m].high};
		double **v = &owned[3 * m];
		for (size_t k = 0; k < 3; k++)
			v[k] = fn[k] ? rows_values(&rows, fn[k]) : NULL;
		if (any_finite(v[0], rows.list.n))
			panels[drawn++] = (struct chart_bar_panel){
				measures[m].title, {NULL, measures[m].unit, SCALE_AUTO}, v[0], v[1], v[2]};
	}
	int err = p->n > 1 ? chart_bars_grouped(frame, rows.labels, rows.list.n, p->n, panels, drawn, out)
			   : chart_bars(frame, rows.labels, rows.list.n, panels, drawn, out);
	for (size_t i = 0; i < MEASURES * 3; i++)
		free(owned[i]);
	rows_free(&rows);
	return err;
}

/* Appends "copying 1 MiB, warm cache; Linux 6.1, a CPU, ext4", or only the machines if there are several runs. */
static void compare_subtitle(const struct page *p, struct buf *out)
{
	const struct run *r = p->runs[0].run;
	if (p->n == 1) {
		if (r->subjects.n && r->subjects.v[0].strategy) {
			buf_adds(out, "copying ");
			size_human(out, (uint64_t)fmax(fmin(r->method.input_bytes, 9e18), 0));
			buf_adds(out, ", ");
		}
		buf_addf(out, "%s cache; ", r->method.cold == TRUTH_YES ? "cold" : "warm");
	}
	struct buf machines = {0};
	machine_subtitle(p, &machines);
	buf_adds(out, buf_str(&machines));
	buf_free(&machines);
	if (p->n == 1 && r->env.file_system.type)
		buf_addf(out, ", %s", r->env.file_system.type);
}

int draw_compare(void *page, int width, struct buf *out)
{
	const struct page *p = page;
	struct buf sub = {0};
	compare_subtitle(p, &sub);
	const struct chart_frame frame = {.title = p->n > 1 ? "Side by side" : "Cost of each strategy",
					  .subtitle = buf_str(&sub),
					  .note = p->n > 1 ? "Medians; whiskers are quartiles." : NULL,
					  .width = width};
	int err = draw_bars(p, compare_measures, MEASURES, &frame, out);
	buf_free(&sub);
	return err;
}

int draw_loads(void *page, int width, struct buf *out)
{
	struct buf sub = {0};
	machine_subtitle(page, &sub);
	const struct chart_frame frame = {.title = "Elapsed time under load",
					  .subtitle = buf_str(&sub),
					  .note = "bars: mean; whiskers: minimum and maximum",
					  .width = width};
	int err = draw_bars(page, &load_measure, 1, &frame, out);
	buf_free(&sub);
	return err;
}

int draw_tradeoff(void *page, int width, struct buf *out)
{
	const struct page *p = page;
	struct rows rows = {0};
	struct buf sub = {0};
	rows_init(&rows, p);
	struct chart_point *points = memory_zeroed(rows.list.n, sizeof(*points));
	compare_subtitle(p, &sub);
	for (size_t i = 0; i < rows.list.n; i++) {
		const struct run_subject *row = rows.list.v[i].s;
		points[i] = (struct chart_point){rows.list.v[i].label, time_median(row), peak_rss(row), time_q1(row),
						 time_q3(row)};
	}
	char note[160];
	snprintf(note, sizeof(note),
		 "Lower and further left is better. The line joins the rows that no other row beats. Differences below "
		 "%.0f %% and overlapping quartiles do not count.",
		 100 * RUN_WORTHWHILE);
	const struct chart_frame frame = {
		.title = "Time against memory", .subtitle = buf_str(&sub), .note = note, .width = width};
	const struct chart_axis x = {"wall time (median)", UNIT_SECONDS, SCALE_AUTO};
	const struct chart_axis y = {"peak resident set", UNIT_BYTES, SCALE_AUTO};
	int err = chart_scatter(&frame, RUN_WORTHWHILE, &x, &y, points, rows.list.n, out);
	free(points);
	rows_free(&rows);
	buf_free(&sub);
	return err;
}

/* One line of the picture of a scan: one strategy or command in one run, with its buffer sizes in ascending order. */
struct scan {
	double *x, *v[MEASURES][3];
	size_t n;
};

static void scan_free(struct scan *s)
{
	free(s->x);
	for (size_t m = 0; m < MEASURES; m++)
		for (size_t k = 0; k < 3; k++)
			free(s->v[m][k]);
}

static void scan_init(struct scan *s, const struct run *r, const char *base)
{
	const struct run_subject **rows = memory_zeroed(r->subjects.n, sizeof(*rows));
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *x = &r->subjects.v[i];
		if (!run_usable(x) || !(x->buffer_bytes > 0) || strcmp(x->base, base) != 0)
			continue;
		size_t at = s->n++;
		for (; at > 0 && rows[at - 1]->buffer_bytes > x->buffer_bytes; at--)
			rows[at] = rows[at - 1];
		rows[at] = x;
	}
	s->x = memory_zeroed(s->n, sizeof(double));
	for (size_t m = 0; m < MEASURES; m++) {
		value_fn *const fn[] = {compare_measures[m].value, compare_measures[m].low, compare_measures[m].high};
		for (size_t k = 0; k < 3; k++) {
			s->v[m][k] = fn[k] ? memory_zeroed(s->n, sizeof(double)) : NULL;
			for (size_t i = 0; fn[k] && i < s->n; i++)
				s->v[m][k][i] = fn[k](rows[i]);
		}
	}
	for (size_t i = 0; i < s->n; i++)
		s->x[i] = rows[i]->buffer_bytes;
	free(rows);
}

#define LINES_MAX 8

/*
 * The lines of the picture. For one run, each strategy or command with several buffer sizes has a line. For several
 * runs, the strategy or command whose buffer sizes were scanned has a line for each run.
 */
struct scan_lines {
	struct scan scan[LINES_MAX];
	const char *name[LINES_MAX];
	size_t n;
};

static void add_line(struct scan_lines *l, const struct run *r, const char *base, const char *name)
{
	if (l->n == LINES_MAX)
		return;
	struct scan *s = &l->scan[l->n];
	scan_init(s, r, base);
	if (s->n > 1) {
		l->name[l->n++] = name;
		return;
	}
	scan_free(s);
	*s = (struct scan){0};
}

static bool first_of_base(const struct run *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(r->subjects.v[k].base, r->subjects.v[i].base) == 0)
			return false;
	return true;
}

static void add_lines(struct scan_lines *l, const struct page *p, const char *scanned)
{
	const struct run *r = p->runs[0].run;
	for (size_t k = 0; k < p->n && p->n > 1; k++)
		add_line(l, p->runs[k].run, scanned, p->runs[k].label);
	for (size_t i = 0; i < r->subjects.n && p->n == 1; i++)
		if (r->subjects.v[i].buffer_bytes > 0 && first_of_base(r, i))
			add_line(l, r, r->subjects.v[i].base, r->subjects.v[i].base);
}

static int draw_lines(const struct scan_lines *l, const struct chart_frame *frame, double mark, const char *mark_text,
		      struct buf *out)
{
	struct chart_series series[MEASURES][LINES_MAX];
	struct chart_panel panels[MEASURES];
	size_t n = 0;
	for (size_t m = 0; m < MEASURES; m++) {
		bool any = false;
		for (size_t k = 0; k < l->n; k++) {
			const struct scan *s = &l->scan[k];
			any |= any_finite(s->v[m][0], s->n);
			series[m][k] =
				(struct chart_series){l->name[k], s->x, s->v[m][0], s->v[m][1], s->v[m][2], s->n};
		}
		if (any)
			panels[n++] = (struct chart_panel){compare_measures[m].title,
							   {"buffer", UNIT_BYTES, SCALE_LOG},
							   {NULL, compare_measures[m].unit, SCALE_LOG},
							   series[m],
							   l->n,
							   mark,
							   m ? NULL : mark_text};
	}
	return chart_lines(frame, panels, n, out);
}

int draw_scan(void *page, int width, struct buf *out)
{
	const struct page *p = page;
	const struct run *r = p->runs[0].run;
	const char *scanned = run_scanned(r);
	const struct run_subject *knee = scanned && p->n == 1 ? run_knee(r, scanned) : NULL;
	if (!scanned || (p->n == 1 && !knee))
		return -EINVAL;
	struct scan_lines *l = memory_zeroed(1, sizeof(*l));
	struct buf mark = {0};
	struct buf sub = {0};
	struct buf title = {0};
	compare_subtitle(p, &sub);
	if (knee)
		buf_addf(&mark, "no gain beyond %s", knee->name + strlen(knee->base) + (*knee->base != '\0'));
	buf_addf(&title, p->n > 1 ? "%s: cost by buffer size" : "Cost by buffer size", scanned);
	const struct chart_frame frame = {
		.title = buf_str(&title),
		.subtitle = buf_str(&sub),
		.note = knee ? "Both axes are logarithmic. The dashed line marks the smallest buffer for which no "
			       "larger one was measured to be faster by 10 % or more."
			     : "Wall time is the median, with the quartiles as a band; system time is the mean.",
		.width = width};
	add_lines(l, p, scanned);
	int err = draw_lines(l, &frame, knee ? knee->buffer_bytes : NAN, buf_str(&mark), out);
	for (size_t i = 0; i < l->n; i++)
		scan_free(&l->scan[i]);
	free(l);
	buf_free(&mark);
	buf_free(&sub);
	buf_free(&title);
	return err;
}

/* The title of the picture, and the note below it, for each kind of run. */
static const struct boxes_words {
	unsigned kind;
	const char *title, *note;
} boxes_words[] = {
	{RUN_COMPARE, "Wall time of each run", NULL},
	{RUN_SYSCALL, "Cost of an operation",
	 "Each colour stands for a group of operations. The costs of the operations loop and clock are subtracted."},
	{RUN_SWITCH, "Cost of a switch from one task to another",
	 "The kinds ucontext and bare switch without the scheduler. Rows with \"(two CPUs)\" show wake-ups on another "
	 "CPU, not switches."},
	{RUN_SCHED, "Time from the common start to the end of each process", NULL},
	{RUN_LOAD, "Elapsed time under load", NULL},
};

static const struct boxes_words *words_of(unsigned kind)
{
	static const struct boxes_words other = {0, "Samples", NULL};
	for (size_t i = 0; i < sizeof(boxes_words) / sizeof(*boxes_words); i++)
		if (boxes_words[i].kind == kind)
			return &boxes_words[i];
	return &other;
}

/*
 * Returns the index of the colour of a row. If there are several runs, each run has a colour. Otherwise, each group of
 * operations has a colour, and switches, wake-ups and switches at user level have one each. `before` is the colour of
 * the previous row, and `last` is the subject of the previous row.
 */
static size_t colour_of(const struct page *p, const struct row *row, size_t before, const struct run_subject *last)
{
	if (p->n > 1)
		return row->nth;
	if (row->s->group)
		return before + (last && last->group && strcmp(last->group, row->s->group) != 0);
	if (row->s->what)
		return strcmp(row->s->what, "user-level") == 0 ? 2 : strcmp(row->s->what, "wake-up") == 0;
	return 0;
}

/* Returns the text for the colour of this row in the legend, or NULL if all rows have the same colour. */
static const char *colour_name(const struct page *p, const struct row *row)
{
	if (p->n > 1)
		return p->runs[row->nth].label;
	return row->s->group ? row->s->group : row->s->what;
}

static int make_boxes(const struct page *p, const struct rows *rows, struct box *boxes, struct chart_box *drawn,
		      size_t *n)
{
	const struct run_subject *last = NULL;
	size_t colour = 0;
	for (size_t i = 0; i < rows->list.n; i++) {
		const struct row *row = &rows->list.v[i];
		if (!row->s || !run_usable(row->s))
			continue;
		int rc = box_init(&boxes[*n], row->s->samples[METRIC_TIME].v, row->s->samples[METRIC_TIME].n);
		if (rc < 0)
			return rc;
		colour = colour_of(p, row, colour, last);
		last = row->s;
		drawn[*n] = (struct chart_box){row->label, &boxes[*n], colour, colour_name(p, row)};
		++*n;
	}
	return *n ? 0 : -EINVAL;
}

/*
 * Returns the scale: logarithmic if the largest median is more than ten times the smallest. A logarithmic scale cannot
 * show samples of zero or less.
 */
static enum chart_scale scale_for(const struct box *boxes, size_t n)
{
	double least = INFINITY;
	double most = 0;
	for (size_t i = 0; i < n; i++) {
		least = fmin(least, boxes[i].summary.median);
		most = fmax(most, boxes[i].summary.median);
	}
	return least > 0 && most > 10 * least ? SCALE_LOG : SCALE_AUTO;
}

int draw_boxes(void *page, int width, struct buf *out)
{
	const struct page *p = page;
	const struct run *r = p->runs[0].run;
	const struct boxes_words *words = words_of(r->bits);
	struct rows rows = {0};
	struct buf title = {0};
	struct buf sub = {0};
	size_t n = 0;
	rows_init(&rows, p);
	struct box *boxes = memory_zeroed(rows.list.n, sizeof(*boxes));
	struct chart_box *drawn = memory_zeroed(rows.list.n, sizeof(*drawn));
	int rc = make_boxes(p, &rows, boxes, drawn, &n);
	buf_adds(&title, words->title);
	if (r->subjects.n == 1 && p->n > 1)
		buf_addf(&title, ": %s", r->subjects.v[0].name);
	machine_subtitle(p, &sub);
	const struct chart_frame f = {.title = buf_str(&title),
				      .subtitle = buf_str(&sub),
				      .note = words->note ? words->note
							  : "Boxes: quartiles and median; whiskers: the outermost "
							    "values within 1.5 interquartile ranges.",
				      .width = width};
	if (rc == 0)
		rc = chart_boxes(&f, &(struct chart_axis){NULL, UNIT_SECONDS, scale_for(boxes, n)}, drawn, n, out);
	for (size_t i = 0; i < n; i++)
		box_free(&boxes[i]);
	free(boxes);
	free(drawn);
	rows_free(&rows);
	buf_free(&title);
	buf_free(&sub);
	return rc;
}

int draw_latencies(void *page, int width, struct buf *out)
{
	const struct page *p = page;
	struct rows rows = {0};
	struct buf sub = {0};
	rows_init(&rows, p);
	struct chart_hist *charts = memory_zeroed(rows.list.n, sizeof(*charts));
	size_t n = 0;
	for (size_t i = 0; i < rows.list.n; i++) {
		const struct run_subject *s = rows.list.v[i].s;
		if (s && s->hist.n)
			charts[n++] = (struct chart_hist){rows.list.v[i].label, &s->hist, 1e-9,
							  isfinite(s->max_ns) ? s->max_ns : 0};
	}
	machine_subtitle(p, &sub);
	const struct chart_frame f = {.title = "Delay of timer wake-ups under load",
				      .subtitle = buf_str(&sub),
				      .note = "Wake-ups by delay. Counts are on a logarithmic scale.",
				      .width = width};
	int rc = chart_hists(&f, &(struct chart_axis){"late", UNIT_SECONDS, SCALE_LOG}, charts, n, out);
	free(charts);
	rows_free(&rows);
	buf_free(&sub);
	return rc;
}
