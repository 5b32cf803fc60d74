/* SPDX-License-Identifier: MIT */
/* Draws box plots: quartiles, the median written in the box, Tukey's whiskers, outliers as points. */
#include "base/buf.h"
#include "out/axis.h"
#include "out/chart.h"
#include "out/svg.h"
#include "stats/quantile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define HEIGHT       340.0
#define ROW          24.0
#define SIDE_ROOM    26.0 /* pixels for the median at the right of the last box */
#define OUTLIERS_MAX 100
/*
 * On a linear axis, the whiskers of all boxes span a range. An outlier is left out if it is above this range by more
 * than FAR_SPANS times the length of the range.
 */
#define FAR_SPANS 3.0

/*
 * Where the boxes are drawn. Boxes are vertical, with labels below them. If these labels would touch each other, the
 * boxes are horizontal rows, with labels at the left.
 */
struct boxes {
	const struct chart_box *v;
	size_t n;
	bool rows;
	struct axis value;
	double first, step; /* position of the first box, and distance between boxes */
	double half;        /* half the thickness of a box, in pixels */
	double near, far;   /* positions of the smallest and the largest value, in pixels */
	double limit;       /* an outlier above this value is left out */
};

static double across(const struct boxes *b, size_t i)
{
	return b->first + b->step * ((double)i + 0.5);
}

/*
 * Draws a line of a whisker or a median. `v1` and `v2` are pixels on the axis of the values, and `c1` and `c2` are pixels
 * on the other axis.
 */
static void line(const struct boxes *b, double v1, double c1, double v2, double c2, struct buf *out)
{
	b->rows ? svg_line(out, v1, c1, v2, c2, "w") : svg_line(out, c1, v1, c2, v2, "w");
}

static void rect(const struct boxes *b, double v1, double v2, double c, const char *class, const char *tip,
		 struct buf *out)
{
	double low = fmin(v1, v2);
	double length = fmax(fabs(v2 - v1), 1);
	if (b->rows)
		svg_rect(out, low, c - b->half, length, 2 * b->half, class, tip);
	else
		svg_rect(out, c - b->half, low, 2 * b->half, length, class, tip);
}

/* Returns the limit above which outliers are left out. There is no limit on a logarithmic axis. */
static double outlier_limit(const struct boxes *b, const struct chart_axis *spec)
{
	struct axis_range r = AXIS_RANGE_EMPTY;
	struct axis probe;
	for (size_t i = 0; i < b->n; i++) {
		axis_range_add(&r, b->v[i].box->whisker_low);
		axis_range_add(&r, b->v[i].box->whisker_high);
	}
	if (axis_init(&probe, spec, &r, false, 7) == 0 && probe.log)
		return INFINITY;
	return r.high + FAR_SPANS * fmax(r.high - r.low, 0.02 * fabs(r.high));
}

static int boxes_axis(struct boxes *b, const struct chart_axis *spec, size_t ticks)
{
	struct axis_range r = AXIS_RANGE_EMPTY;
	b->limit = outlier_limit(b, spec);
	for (size_t i = 0; i < b->n; i++) {
		const struct box *box = b->v[i].box;
		axis_range_add(&r, box->whisker_low);
		axis_range_add(&r, box->whisker_high);
		for (size_t k = 0; k < box->noutliers; k++)
			if (box->outliers[k] <= b->limit)
				axis_range_add(&r, box->outliers[k]);
	}
	struct chart_axis fixed = *spec;
	fixed.scale = isfinite(b->limit) ? SCALE_LINEAR : SCALE_LOG;
	return axis_init(&b->value, &fixed, &r, false, ticks);
}

/* Appends the median, or the resolution as its upper limit. */
static void say_median(const struct boxes *b, const struct chart_box *v, struct buf *text)
{
	bool lost = v->box->summary.median < v->resolution;
	buf_adds(text, lost ? "<" : "");
	axis_format(text, b->value.unit, lost ? v->resolution : v->box->summary.median);
}

/*
 * Writes the median of a vertical box: in the box if there is room, otherwise beside the box or below its lower
 * whisker.
 */
static void draw_median(const struct boxes *b, const struct chart_box *v, double x, struct buf *out)
{
	const struct box *box = v->box;
	double y = axis_at(&b->value, box->summary.median);
	double high = axis_at(&b->value, box->summary.q3);
	double low = axis_at(&b->value, box->summary.q1);
	auto_buf text = {0};
	say_median(b, v, &text);
	double width = svg_text_width(buf_str(&text), 11);
	bool inside = width < 2 * b->half - 4;
	if (inside && y - high >= 15)
		svg_text(out, x, y - 4, "v", "middle", buf_str(&text));
	else if (inside && low - y >= 15)
		svg_text(out, x, y + 12, "v", "middle", buf_str(&text));
	else if (width < b->step - 2 * b->half - 6)
		svg_text(out, x + b->half + 4, y + 4, "l", "start", buf_str(&text));
	else
		svg_text(out, x, axis_at(&b->value, box->whisker_low) + 13, "l", "middle", buf_str(&text));
}

/*
 * Draws at most OUTLIERS_MAX points, the outermost first. Returns the number of outliers that are left out because they
 * are above b->limit.
 */
static size_t draw_outliers(const struct boxes *b, const struct chart_box *v, double c, struct buf *out)
{
	const struct box *box = v->box;
	size_t beyond = 0;
	size_t drawn = 0;
	auto_buf tip = {0};
	for (size_t i = box->noutliers; i-- > 0;) {
		double value = box->outliers[i];
		if (value > b->limit || !axis_shows(&b->value, value)) {
			beyond++;
			continue;
		}
		if (drawn++ >= OUTLIERS_MAX)
			break;
		/*
		 * Moves the point sideways a little, so that points do not hide each other. The distance is not random,
		 * so the same data always gives the same picture.
		 */
		double at = c + fmin(7, b->half * 0.7) * sin((double)i * 2.4);
		double p = axis_at(&b->value, value);
		buf_clear(&tip);
		axis_format(&tip, b->value.unit, value);
		svg_circle(out, b->rows ? p : at, b->rows ? at : p, 1.8, svg_class(SVG_FILL, v->group), buf_str(&tip));
	}
	return beyond;
}

/*
 * Writes the texts beside a box. At a vertical box, these are the label and the number of outliers. At a horizontal
 * box, these are the label, the median, and the number of outliers that are left out (`beyond`).
 */
static void draw_texts(const struct boxes *b, const struct chart_box *v, double c, size_t beyond, struct buf *out)
{
	char outliers[64];
	auto_buf text = {0};
	auto_buf label = {0};
	size_t n = v->box->noutliers;
	snprintf(outliers, sizeof(outliers), beyond ? "%zu outlier%s, %zu off scale" : "%zu outlier%s", n,
		 n == 1 ? "" : "s", beyond);
	if (b->rows) {
		say_median(b, v, &text);
		svg_cut(&label, v->label, 12, b->near - 12);
		svg_text(out, b->near - 8, c + 4, "t", "end", buf_str(&label));
		svg_text(out, b->far + 8, c + 4, "v", "start", buf_str(&text));
		snprintf(outliers, sizeof(outliers), "%zu beyond ▸", beyond);
		svg_text(out, b->far - 3, c + 4, "l", "end", beyond ? outliers : "");
	} else {
		svg_text(out, c, b->near + 17, "t", "middle", v->label);
		svg_text(out, c, b->near + 32, "m sm", "middle", outliers);
	}
}

static void draw_box(const struct boxes *b, size_t i, struct buf *out)
{
	const struct chart_box *v = &b->v[i];
	double c = across(b, i);
	double q1 = axis_at(&b->value, v->box->summary.q1);
	double q3 = axis_at(&b->value, v->box->summary.q3);
	double median = axis_at(&b->value, v->box->summary.median);
	double low = axis_at(&b->value, v->box->whisker_low);
	double high = axis_at(&b->value, v->box->whisker_high);
	char class[24];
	snprintf(class, sizeof(class), "bx %s %s", svg_class(SVG_PALE, v->group), svg_class(SVG_STROKE, v->group));
	line(b, low, c, q1, c, out);
	line(b, q3, c, high, c, out);
	line(b, low, c - b->half / 2, low, c + b->half / 2, out);
	line(b, high, c - b->half / 2, high, c + b->half / 2, out);
	rect(b, q1, q3, c, "bg", NULL, out);
	rect(b, q1, q3, c, class, v->label, out);
	line(b, median, c - b->half, median, c + b->half, out);
	size_t beyond = draw_outliers(b, v, c, out);
	if (!b->rows)
		draw_median(b, v, c, out);
	draw_texts(b, v, c, beyond, out);
}

#define GROUPS_MAX 16

/* Draws a legend of the colours that starts at `top`. Returns its height. */
static double draw_legend(const struct boxes *b, const struct chart_frame *f, double top, struct buf *out)
{
	struct chart_series groups[GROUPS_MAX] = {0};
	size_t n = 0;
	for (size_t i = 0; i < b->n; i++) {
		if (b->v[i].group >= GROUPS_MAX || !b->v[i].group_name)
			continue;
		groups[b->v[i].group].name = b->v[i].group_name;
		n = b->v[i].group >= n ? b->v[i].group + 1 : n;
	}
	return frame_legend(groups, n, top, frame_width(f) - FRAME_MARGIN, out);
}

static double widest_label(const struct chart_box *v, size_t n)
{
	double widest = 0;
	for (size_t i = 0; i < n; i++)
		widest = fmax(widest, svg_text_width(v[i].label, 12));
	return widest;
}

/* Draws the boxes as horizontal rows. Returns the bottom of the chart. */
static double draw_rows(struct boxes *b, const struct chart_frame *f, const char *title, struct buf *out)
{
	double top = frame_top(f) + 6;
	top += draw_legend(b, f, top, out);
	double bottom = top + ROW * (double)b->n;
	b->near = FRAME_MARGIN + fmin(widest_label(b->v, b->n) + 8, frame_width(f) * 0.45);
	b->far = frame_width(f) - FRAME_MARGIN - 58;
	b->first = top;
	b->step = ROW;
	b->half = 7;
	axis_place(&b->value, b->near, b->far);
	axis_draw_x(&b->value, top, bottom, title, out);
	for (size_t i = 0; i < b->n; i++)
		draw_box(b, i, out);
	return bottom + (title ? 40 : 24);
}

static double draw_columns(struct boxes *b, const struct chart_frame *f, const char *title, struct buf *out)
{
	double top = frame_top(f) + 8;
	top += draw_legend(b, f, top, out);
	double right = frame_width(f) - FRAME_MARGIN;
	b->near = top + HEIGHT;
	b->far = top;
	b->half = fmin(b->step * 0.3, 44);
	axis_place(&b->value, b->near, b->far);
	axis_draw_y(&b->value, b->first, right, title, out);
	svg_line(out, b->first, b->near, right, b->near, "a");
	for (size_t i = 0; i < b->n; i++)
		draw_box(b, i, out);
	return b->near + 38;
}

int chart_boxes(const struct chart_frame *f, const struct chart_axis *y, const struct chart_box *boxes, size_t n,
		struct buf *out)
{
	struct boxes b = {.v = boxes, .n = n};
	struct buf body = {0};
	if (!n || boxes_axis(&b, y, 7) < 0)
		return -EINVAL;
	b.first = FRAME_MARGIN + axis_label_width(&b.value) + 10 + (y->title ? 18 : 0);
	b.step = (frame_width(f) - FRAME_MARGIN - SIDE_ROOM - b.first) / (double)n;
	b.rows = fmax(widest_label(boxes, n), 86) > b.step - 4;
	if (b.rows)
		boxes_axis(&b, y, (size_t)fmax(frame_width(f) / 130, 3));
	double bottom = b.rows ? draw_rows(&b, f, y->title, &body) : draw_columns(&b, f, y->title, &body);
	frame_finish(f, &body, bottom, out);
	return 0;
}
