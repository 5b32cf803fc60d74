/* SPDX-License-Identifier: MIT */
/* Draws the pictures of compare and bench that have bars, lines, boxes, histograms or a scatter plot. */
#include "base/memory.h"
#include "base/size.h"
#include "out/chart.h"
#include "present/page.h"
#include "run/judge.h"
#include "stats/quantile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row of a picture: a subject in one run. */
struct row {
	const struct run_subject *s; /* NULL: the run does not contain the subject */
	size_t nth;                  /* index of the run */
	char *label;
};

struct rows {
	VEC(struct row) list;
	const char **labels; /* the labels of all rows, as an array for the chart functions */
};

static char *label_of(const struct page *p, const struct run_subject *s, size_t k, bool single)
{
	struct buf text = {0};
	if (p->n == 1 || !single)
		buf_adds(&text, s->name);
	if (p->n > 1)
		buf_addf(&text, "%s%s", single ? "" : " · ", p->runs[k].label);
	return buf_take(&text);
}

/*
 * Makes a row for each subject of the first run in each of the runs; the rows of one subject follow each other. A
 * subject that could not run has no row if there is only one run.
 */
static void rows_init(struct rows *r, const struct page *p)
{
	const struct run *first = p->runs[0].run;
	for (size_t i = 0; i < first->subjects.n; i++)
		for (size_t k = 0; k < p->n; k++) {
			const struct run_subject *s = &first->subjects.v[i];
			if (p->n == 1 && s->unable)
				continue;
			vec_push(&r->list, (struct row){run_find(p->runs[k].run, s->name), k,
							label_of(p, s, k, first->subjects.n == 1)});
		}
	r->labels = memory_zeroed(r->list.n, sizeof(*r->labels));
	for (size_t i = 0; i < r->list.n; i++)
		r->labels[i] = r->list.v[i].label;
}

static void rows_free(struct rows *r)
{
	for (size_t i = 0; i < r->list.n; i++)
		free(r->list.v[i].label);
	vec_free(&r->list);
	free(r->labels);
}

/* The offset of a figure of METRIC_TIME, for figure_drawn(). */
#define TIME_OF(part) FIGURE(judged.of[METRIC_TIME].part)

struct measure {
	const char *title;
	enum chart_unit unit;
	size_t members[3]; /* offsets of the value and of the ends of its whisker (0: none), for figure_drawn() */
};

static const struct measure compare_measures[] = {
	{"wall time (median)", UNIT_SECONDS, {TIME_OF(median), TIME_OF(q1), TIME_OF(q3)}},
	{"system time (mean)", UNIT_SECONDS, {FIGURE(judged.of[METRIC_SYSTEM].mean)}},
	{"system calls", UNIT_COUNT, {FIGURE(counts.calls)}},
	{"peak resident set", UNIT_BYTES, {FIGURE_PEAK_RSS}},
};
#define MEASURES (sizeof(compare_measures) / sizeof(*compare_measures))

static const struct measure load_measure = {"wall", UNIT_SECONDS, {TIME_OF(mean), TIME_OF(min), TIME_OF(max)}};

/* Returns a new array, to be freed, with a figure of each row (NAN: the row has none), or NULL if `member` is 0. */
static double *rows_values(const struct rows *r, size_t member)
{
	double *v = member ? memory_zeroed(r->list.n, sizeof(*v)) : NULL;
	for (size_t i = 0; member && i < r->list.n; i++) {
		const struct run_subject *s = r->list.v[i].s;
		v[i] = s && !s->unable ? figure_drawn(s, member) : NAN;
	}
	return v;
}

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
		double **v = &owned[3 * m];
		for (size_t k = 0; k < 3; k++)
			v[k] = rows_values(&rows, measures[m].members[k]);
		if (any_finite(v[0], rows.list.n))
			panels[drawn++] = (struct chart_bar_panel){
				measures[m].title, {NULL, measures[m].unit, SCALE_AUTO}, v[0], v[1], v[2]};
	}
	int err = chart_bars(frame, rows.labels, rows.list.n, p->n, panels, drawn, out);
	for (size_t i = 0; i < MEASURES * 3; i++)
		free(owned[i]);
	rows_free(&rows);
	return err;
}

/*
 * Returns "copying 1 MiB, warm cache; Linux 6.1, a CPU, ext4", or only the machines if there are several runs. The page
 * owns the string.
 */
static const char *compare_subtitle(struct page *p)
{
	const struct run *r = p->runs[0].run;
	struct buf text = {0};
	if (p->n > 1)
		return machine_subtitle(p);
	if (r->subjects.n && r->subjects.v[0].strategy) {
		buf_adds(&text, "copying ");
		size_human(&text, (uint64_t)fmax(fmin(r->method.input_bytes, 9e18), 0));
		buf_adds(&text, ", ");
	}
	buf_addf(&text, "%s cache; %s", r->method.cold == TRUTH_YES ? "cold" : "warm", machine_subtitle(p));
	if (r->env.file_system.type)
		buf_addf(&text, ", %s", r->env.file_system.type);
	return page_keep(p, &text);
}

static bool commands(const struct run *r)
{
	return r->subjects.n && !r->subjects.v[0].strategy;
}

int draw_compare(void *page, int width, struct buf *out)
{
	struct page *p = page;
	const struct chart_frame frame = {.title = p->n > 1                   ? "Side by side"
						   : commands(p->runs[0].run) ? "Cost of each command"
									      : "Cost of each strategy",
					  .subtitle = compare_subtitle(p),
					  .note = p->n > 1 ? "Whiskers are the quartiles of the wall time." : NULL,
					  .width = width};
	return draw_bars(p, compare_measures, MEASURES, &frame, out);
}

int draw_loads(void *page, int width, struct buf *out)
{
	const struct chart_frame frame = {"Elapsed time under load", machine_subtitle(page),
					  "bars: mean; whiskers: minimum and maximum", width};
	return draw_bars(page, &load_measure, 1, &frame, out);
}

int draw_tradeoff(void *page, int width, struct buf *out)
{
	struct rows rows = {0};
	rows_init(&rows, page);
	auto_free struct chart_point *points = memory_zeroed(rows.list.n, sizeof(*points));
	for (size_t i = 0; i < rows.list.n; i++) {
		const struct run_subject *s = rows.list.v[i].s;
		const struct sample_summary *time = &s->judged.of[METRIC_TIME];
		points[i] = (struct chart_point){rows.labels[i], time->median, figure_of(s, FIGURE_PEAK_RSS), time->q1,
						 time->q3};
	}
	char note[300];
	snprintf(note, sizeof(note),
		 "Lower and further left is better. No other row beats the blue rows. A dashed line joins those of "
		 "them that are slower but need less memory than the one before. Differences below %.0f %% and "
		 "overlapping quartiles do not count.",
		 100 * RUN_WORTHWHILE);
	const struct chart_frame frame = {"Time against memory", compare_subtitle(page), note, width};
	const struct chart_axis x = {"wall time (median)", UNIT_SECONDS, SCALE_AUTO};
	const struct chart_axis y = {"peak resident set", UNIT_BYTES, SCALE_AUTO};
	int err = chart_scatter(&frame, RUN_WORTHWHILE, &x, &y, points, rows.list.n, out);
	rows_free(&rows);
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
	auto_free const struct run_subject **rows = memory_zeroed(r->subjects.n, sizeof(*rows));
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
		const size_t *members = compare_measures[m].members;
		for (size_t k = 0; k < 3; k++) {
			s->v[m][k] = members[k] ? memory_zeroed(s->n, sizeof(double)) : NULL;
			for (size_t i = 0; members[k] && i < s->n; i++)
				s->v[m][k][i] = figure_drawn(rows[i], members[k]);
		}
	}
	for (size_t i = 0; i < s->n; i++)
		s->x[i] = rows[i]->buffer_bytes;
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

/*
 * Marks the knee, as far as the findings claim one: sets *at to its buffer size and appends the text of the mark.
 * Returns the note of the picture.
 */
static const char *mark_knee(const struct run *r, const struct run_subject *knee, double *at, struct buf *mark)
{
	bool larger = false;
	for (size_t i = 0; i < r->subjects.n && !larger; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		larger = run_usable(s) && strcmp(s->base, knee->base) == 0 && s->buffer_bytes > knee->buffer_bytes;
	}
	if (!larger)
		return "Both axes are logarithmic. Larger buffers are faster, up to the largest one that was tried.";
	if (run_larger_looks_better(r, knee))
		return "Both axes are logarithmic. There are too few runs, or too much noise, to say from which buffer "
		       "size on larger buffers are not faster.";
	bool sure = run_none_pays(r, knee);
	buf_addf(mark, "no gain %sbeyond %s", sure ? "" : "seen ",
		 knee->name + strlen(knee->base) + (*knee->base != '\0'));
	*at = knee->buffer_bytes;
	return sure ? "Both axes are logarithmic. The dashed line marks the smallest buffer for which no larger one is "
		      "faster by 10 % or more."
		    : "Both axes are logarithmic. The dashed line marks the smallest buffer for which no larger one "
		      "was measured to be faster by 10 % or more. There are too few runs, or too much noise, to "
		      "exclude such a gain.";
}

int draw_scan(void *page, int width, struct buf *out)
{
	struct page *p = page;
	const struct run *r = p->runs[0].run;
	const char *scanned = run_scanned(r);
	const struct run_subject *knee = scanned && p->n == 1 ? run_knee(r, scanned) : NULL;
	if (!scanned || (p->n == 1 && !knee))
		return -EINVAL;
	auto_free struct scan_lines *l = memory_zeroed(1, sizeof(*l));
	auto_buf mark = {0};
	struct buf title = {0};
	double at = NAN;
	const char *note = "Wall time is the median, with the quartiles as a band; system time is the mean.";
	if (knee)
		note = mark_knee(r, knee, &at, &mark);
	buf_addf(&title, p->n > 1 ? "%s: cost by buffer size" : "Cost by buffer size", scanned);
	const struct chart_frame frame = {
		.title = page_keep(p, &title), .subtitle = compare_subtitle(p), .note = note, .width = width};
	add_lines(l, p, scanned);
	int err = draw_lines(l, &frame, at, buf_str(&mark), out);
	for (size_t i = 0; i < l->n; i++)
		scan_free(&l->scan[i]);
	return err;
}

/* The title of the picture, and the note below it, for each kind of run. The last row is for all other kinds. */
static const struct boxes_words {
	unsigned kind;
	const char *title, *note, *note_of_several;
} boxes_words[] = {
	{RUN_COMPARE, "Wall time of each run"},
	{RUN_SYSCALL, "Cost of an operation",
	 "Each colour stands for a group of operations. The cost of the measurement itself is subtracted.",
	 "Each colour stands for a run. The cost of the measurement itself is subtracted."},
	{RUN_SWITCH, "Cost of a switch from one task to another",
	 "The kinds ucontext and bare switch without the scheduler. Rows with \"(two CPUs)\" show wake-ups on another "
	 "CPU, not switches."},
	{RUN_SCHED, "Time from the common start to the end of each process"},
	{RUN_LOAD, "Elapsed time under load"},
	{0, "Samples"},
};

/* Returns the text for the colour of this row in the legend, or NULL if all rows have the same colour. */
static const char *colour_name(const struct page *p, const struct row *row)
{
	if (p->n > 1)
		return p->runs[row->nth].label;
	return row->s->group ? row->s->group : row->s->what;
}

/* Returns the colour of the rows of this group among the first `n` boxes, or the next colour if there are none. */
static size_t colour_of_group(const struct chart_box *boxes, size_t n, const char *group)
{
	size_t colour = 0;
	for (size_t i = 0; i < n; i++) {
		if (boxes[i].group_name && strcmp(boxes[i].group_name, group) == 0)
			return boxes[i].group;
		colour = boxes[i].group >= colour ? boxes[i].group + 1 : colour;
	}
	return colour;
}

/*
 * Returns the index of the colour of a row. If there are several runs, each run has a colour. Otherwise, each group of
 * operations has a colour, and switches, wake-ups and switches at user level have one each. `boxes` are those of the
 * rows before it.
 */
static size_t colour_of(const struct page *p, const struct row *row, const struct chart_box *boxes, size_t n)
{
	if (p->n > 1)
		return row->nth;
	if (row->s->group)
		return colour_of_group(boxes, n, row->s->group);
	if (row->s->what)
		return strcmp(row->s->what, "user-level") == 0 ? 2 : strcmp(row->s->what, "wake-up") == 0;
	return 0;
}

static int make_boxes(const struct page *p, const struct rows *rows, struct box *boxes, struct chart_box *drawn,
		      size_t *n)
{
	for (size_t i = 0; i < rows->list.n; i++) {
		const struct row *row = &rows->list.v[i];
		if (!row->s || !run_usable(row->s))
			continue;
		int rc = box_init(&boxes[*n], row->s->samples[METRIC_TIME].v, row->s->samples[METRIC_TIME].n);
		if (rc < 0)
			return rc;
		drawn[*n] =
			(struct chart_box){row->label, &boxes[*n], colour_of(p, row, drawn, *n), colour_name(p, row),
					   row->s->resolution_ns > 0 ? row->s->resolution_ns * 1e-9 : 0};
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
	struct page *p = page;
	const struct run *r = p->runs[0].run;
	const struct boxes_words *words = boxes_words;
	while (words->kind && words->kind != r->bits)
		words++;
	struct rows rows = {0};
	struct buf title = {0};
	size_t n = 0;
	rows_init(&rows, p);
	auto_free struct box *boxes = memory_zeroed(rows.list.n, sizeof(*boxes));
	auto_free struct chart_box *drawn = memory_zeroed(rows.list.n, sizeof(*drawn));
	int rc = make_boxes(p, &rows, boxes, drawn, &n);
	buf_adds(&title, words->title);
	if (r->subjects.n == 1 && p->n > 1)
		buf_addf(&title, ": %s", r->subjects.v[0].name);
	const struct chart_frame f = {.title = page_keep(p, &title),
				      .subtitle = machine_subtitle(p),
				      .note = p->n > 1 && words->note_of_several ? words->note_of_several
					      : words->note                      ? words->note
							    : "Boxes: quartiles and median; whiskers: the outermost "
							      "values within 1.5 interquartile ranges.",
				      .width = width};
	if (rc == 0)
		rc = chart_boxes(&f, &(struct chart_axis){NULL, UNIT_SECONDS, scale_for(boxes, n)}, drawn, n, out);
	for (size_t i = 0; i < n; i++)
		box_free(&boxes[i]);
	rows_free(&rows);
	return rc;
}

int draw_latencies(void *page, int width, struct buf *out)
{
	struct rows rows = {0};
	rows_init(&rows, page);
	auto_free struct chart_hist *charts = memory_zeroed(rows.list.n, sizeof(*charts));
	size_t n = 0;
	for (size_t i = 0; i < rows.list.n; i++) {
		const struct run_subject *s = rows.list.v[i].s;
		if (s && s->hist.n)
			charts[n++] = (struct chart_hist){rows.list.v[i].label, &s->hist, 1e-9,
							  isfinite(s->max_ns) ? s->max_ns : 0};
	}
	const struct chart_frame f = {"Delay of timer wake-ups under load", machine_subtitle(page),
				      "Wake-ups by delay. Counts are on a logarithmic scale.", width};
	int rc = chart_hists(&f, &(struct chart_axis){"delay", UNIT_SECONDS, SCALE_LOG}, charts, n, out);
	rows_free(&rows);
	return rc;
}
