/* The pictures: a buffer scan, bars of all rows, and time against memory. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/outfile.h"
#include "base/size.h"
#include "out/chart.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool usable(const struct subject *s)
{
	return !s->unable && s->wall.of.n > 0;
}

/* What a picture shows of a row; NAN where it is not known. */
static double wall(const struct subject *s)
{
	return s->wall.of.median;
}

static double wall_q1(const struct subject *s)
{
	return s->wall.of.q1;
}

static double wall_q3(const struct subject *s)
{
	return s->wall.of.q3;
}

static double system_time(const struct subject *s)
{
	return s->system.of.mean;
}

static double calls(const struct subject *s)
{
	/* What was counted over a part of the input has no place on the axis of the others. */
	return s->counted && !s->partly ? (double)s->calls : NAN;
}

static double peak_rss(const struct subject *s)
{
	return s->peak_rss > 0 ? s->peak_rss : NAN;
}

static double buffer(const struct subject *s)
{
	return (double)s->buffer;
}

typedef double value_fn(const struct subject *s);

static const struct measure {
	const char *title;
	enum chart_unit unit;
	value_fn *value, *low, *high;
} measures[] = {
	{"wall time (median)", UNIT_SECONDS, wall, wall_q1, wall_q3},
	{"system time (mean)", UNIT_SECONDS, system_time, NULL, NULL},
	{"system calls", UNIT_COUNT, calls, NULL, NULL},
	{"peak resident set", UNIT_BYTES, peak_rss, NULL, NULL},
};
#define MEASURES (sizeof(measures) / sizeof(*measures))

/* The rows a picture is of. */
struct rows {
	const struct subject **v;
	size_t n;
};

/* All that ran, or those called `name` alone, by growing buffer. */
static struct rows rows_of(const struct compare *c, const char *name)
{
	struct rows r = {.v = calloc(c->subjects.n + 1, sizeof(void *))};
	for (size_t i = 0; r.v && i < c->subjects.n; i++) {
		const struct subject *s = c->subjects.v[i];
		if (!usable(s) || (name && (!s->buffer || strcmp(s->name, name) != 0)))
			continue;
		size_t at = r.n++;
		for (; name && at > 0 && r.v[at - 1]->buffer > s->buffer; at--)
			r.v[at] = r.v[at - 1];
		r.v[at] = s;
	}
	return r;
}

/* NULL where nothing is asked for, and where there is no memory, which sets `failed`. */
static double *values(const struct rows *r, value_fn *value, bool *failed)
{
	double *v = value && r->v ? calloc(r->n + 1, sizeof(*v)) : NULL;
	for (size_t i = 0; v && i < r->n; i++)
		v[i] = value(r->v[i]);
	*failed |= value && !v;
	return v;
}

/* Is anything known of a measure? Calls may not have been counted, peaks not be permitted. */
static bool any_value(const struct compare *c, const struct measure *m)
{
	for (size_t i = 0; i < c->subjects.n; i++)
		if (usable(c->subjects.v[i]) && isfinite(m->value(c->subjects.v[i])))
			return true;
	return false;
}

static void subtitle(const struct compare *c, struct buf *out)
{
	if (c->subjects.v[0]->strategy) {
		buf_adds(out, "copying ");
		size_human(out, c->work.size);
		buf_adds(out, ", ");
	}
	buf_addf(out, "%s cache", c->opt.cold ? "cold" : "warm");
	const char *kernel = json_string_value(json_object_get(json_object_get(c->env, "kernel"), "release"));
	const char *cpu = json_string_value(json_object_get(json_object_get(c->env, "cpu"), "model"));
	buf_addf(out, "; Linux %s, %s, %s", kernel ? kernel : "?", cpu ? cpu : "?", c->fs.mount.type);
}

/* One line a strategy or command that has several buffers, in a panel a measure. */
struct scan_lines {
	struct chart_series series[MEASURES][8];
	double *owned[MEASURES * 8 * 4];
	size_t n, nowned;
	bool failed; /* for want of memory */
};

static double *keep(struct scan_lines *l, const struct rows *r, value_fn *value)
{
	double *v = values(r, value, &l->failed);
	if (v)
		l->owned[l->nowned++] = v;
	return v;
}

static void add_line(struct scan_lines *l, const struct compare *c, const char *name)
{
	struct rows r = rows_of(c, name);
	l->failed |= !r.v;
	for (size_t m = 0; m < MEASURES && r.n > 1; m++)
		l->series[m][l->n] = (struct chart_series){.name = name,
							   .x = keep(l, &r, buffer),
							   .y = keep(l, &r, measures[m].value),
							   .low = keep(l, &r, measures[m].low),
							   .high = keep(l, &r, measures[m].high),
							   .n = r.n};
	l->n += r.n > 1;
	free(r.v);
}

/* Is it the first row of its name? */
static bool first_of_name(const struct compare *c, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(c->subjects.v[k]->name, c->subjects.v[i]->name) == 0)
			return false;
	return true;
}

static void add_lines(struct scan_lines *l, const struct compare *c)
{
	for (size_t i = 0; i < c->subjects.n && l->n < 8; i++)
		if (c->subjects.v[i]->buffer && first_of_name(c, i))
			add_line(l, c, c->subjects.v[i]->name);
}

int compare_draw_scan(void *ctx, int width, struct buf *out)
{
	const struct compare *c = ctx;
	const char *name = compare_scanned(c);
	const struct subject *knee = name ? compare_knee(c, name) : NULL;
	if (!knee)
		return -EINVAL;
	struct scan_lines *l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	add_lines(l, c);
	struct buf mark = {0};
	struct buf sub = {0};
	buf_adds(&mark, "stops paying: ");
	size_format(&mark, knee->buffer);
	subtitle(c, &sub);
	struct chart_panel panels[MEASURES];
	size_t n = 0;
	for (size_t m = 0; m < MEASURES; m++)
		if (any_value(c, &measures[m]))
			panels[n++] = (struct chart_panel){.title = measures[m].title,
							   .x = {"buffer", UNIT_BYTES, SCALE_LOG},
							   .y = {NULL, measures[m].unit, SCALE_LOG},
							   .series = l->series[m],
							   .nseries = l->n,
							   .mark_x = (double)knee->buffer,
							   .mark_text = m ? NULL : buf_str(&mark)};
	const struct chart_frame frame = {.title = "What a buffer's size costs",
					  .subtitle = buf_str(&sub),
					  .note = "Both axes are logarithmic. Dashed: the least buffer that no larger "
						  "one is seen to beat by 10 %.",
					  .width = width};
	int err = l->failed ? -ENOMEM : chart_lines(&frame, panels, n, out);
	for (size_t i = 0; i < l->nowned; i++)
		free(l->owned[i]);
	free(l);
	buf_free(&mark);
	buf_free(&sub);
	return err;
}

static void labels_free(char **labels, size_t n)
{
	for (size_t i = 0; labels && i < n; i++)
		free(labels[i]);
	free(labels);
}

/* Labels of all rows; labels_free() them. NULL: memory ran out. */
static char **labels_of(const struct rows *r)
{
	char **labels = calloc(r->n + 1, sizeof(*labels));
	for (size_t i = 0; labels && i < r->n; i++) {
		struct buf b = {0};
		compare_label(&b, r->v[i]);
		labels[i] = buf_take(&b);
		if (!labels[i]) {
			labels_free(labels, i);
			return NULL;
		}
	}
	return labels;
}

int compare_draw_bars(void *ctx, int width, struct buf *out)
{
	const struct compare *c = ctx;
	struct rows r = rows_of(c, NULL);
	char **labels = labels_of(&r);
	struct chart_bar_panel panels[MEASURES] = {0};
	struct buf sub = {0};
	subtitle(c, &sub);
	size_t n = 0;
	bool failed = !labels;
	for (size_t m = 0; m < MEASURES; m++)
		if (any_value(c, &measures[m]))
			panels[n++] = (struct chart_bar_panel){.title = measures[m].title,
							       .axis = {NULL, measures[m].unit, SCALE_AUTO},
							       .value = values(&r, measures[m].value, &failed),
							       .low = values(&r, measures[m].low, &failed),
							       .high = values(&r, measures[m].high, &failed)};
	const struct chart_frame frame = {.title = "What each way costs", .subtitle = buf_str(&sub), .width = width};
	int err = failed ? -ENOMEM : chart_bars(&frame, (const char *const *)labels, r.n, panels, n, out);
	for (size_t m = 0; m < MEASURES; m++) {
		free((void *)(uintptr_t)panels[m].value);
		free((void *)(uintptr_t)panels[m].low);
		free((void *)(uintptr_t)panels[m].high);
	}
	labels_free(labels, r.n);
	free(r.v);
	buf_free(&sub);
	return err;
}

int compare_draw_tradeoff(void *ctx, int width, struct buf *out)
{
	const struct compare *c = ctx;
	struct rows r = rows_of(c, NULL);
	char **labels = labels_of(&r);
	struct chart_point *points = calloc(r.n + 1, sizeof(*points));
	struct buf sub = {0};
	subtitle(c, &sub);
	for (size_t i = 0; labels && points && i < r.n; i++)
		points[i] = (struct chart_point){labels[i], wall(r.v[i]), peak_rss(r.v[i])};
	const struct chart_frame frame = {.title = "Time against memory",
					  .subtitle = buf_str(&sub),
					  .note = "Down and left is better; the line joins what nothing beats in both.",
					  .width = width};
	const struct chart_axis x = {"wall time (median)", UNIT_SECONDS, SCALE_AUTO};
	const struct chart_axis y = {"peak resident set", UNIT_BYTES, SCALE_AUTO};
	int err = r.v && labels && points ? chart_scatter(&frame, &x, &y, points, r.n, out) : -ENOMEM;
	free(points);
	labels_free(labels, r.n);
	free(r.v);
	buf_free(&sub);
	return err;
}

/* "x.svg" and "tradeoff" as "x-tradeoff.svg"; no part: the path itself. */
static void part_path(struct buf *out, const char *path, const char *part)
{
	size_t n = strlen(path);
	bool suffix = n > 4 && strcmp(path + n - 4, ".svg") == 0;
	buf_add(out, path, suffix && part ? n - 4 : n);
	if (part)
		buf_addf(out, "-%s%s", part, suffix ? ".svg" : "");
}

int compare_svg(const struct compare *c, const char *path, struct buf *told, struct buf *why)
{
	static const struct {
		const char *part;
		int (*draw)(void *ctx, int width, struct buf *out);
	} pictures[] = {{"scan", compare_draw_scan}, {"bars", compare_draw_bars}, {"tradeoff", compare_draw_tradeoff}};
	/* A scan of one strategy is the picture that was asked for; else the bars are. */
	const char *scanned = compare_scanned(c);
	struct rows scan = rows_of(c, scanned);
	struct rows all = rows_of(c, NULL);
	size_t first = scanned && scan.n == all.n ? 0 : 1;
	free(scan.v);
	free(all.v);
	int err = 0;
	for (size_t i = 0; i < 3 && !err; i++) {
		struct buf picture = {0};
		struct buf name = {0};
		part_path(&name, path, i == first ? NULL : pictures[i].part);
		int drawn = pictures[i].draw((void *)(uintptr_t)c, 0, &picture);
		if (drawn == 0)
			err = outfile_put(buf_str(&name), &picture, why);
		if (drawn == 0 && !err)
			buf_addf(told, "%s%s", told->len ? ", " : "", buf_str(&name));
		buf_free(&picture);
		buf_free(&name);
		err = drawn == -ENOMEM ? drawn : err;
	}
	return err;
}
