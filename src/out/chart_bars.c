/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/memory.h"
#include "out/axis.h"
#include "out/chart.h"
#include "out/svg.h"
#include "stats/hist.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Draws horizontal bars with whiskers, and a panel for each metric. */
#define ROW         22.0
#define BAR         13.0
#define GROUP_GAP   6.0
#define GAP         16.0
#define BOLD        1.12 /* width of bold letters relative to normal ones */
#define LABEL_LEAST 80.0
#define VALUE_ROOM  58.0 /* pixels for the value at the right of the longest bar */

/* Where the rows of a panel are drawn. */
struct rows {
	const char *const *labels;
	size_t n;
	double left, right; /* edges of the panel; labels are to the left of `left` */
	double top;
	size_t members; /* number of rows in a group; 1: there are no groups */
};

/* Returns the top of row `i`. There is a gap between groups. */
static double row_at(const struct rows *r, size_t i)
{
	size_t group = r->members > 1 ? i / r->members : 0;
	return r->top + 24 + ROW * (double)i + GROUP_GAP * (double)group;
}

static double whisker(const double *values, size_t i)
{
	return values ? values[i] : NAN;
}

static void draw_bar(const struct axis *a, const struct chart_bar_panel *p, size_t i, double y, const char *name,
		     size_t colour, struct buf *out)
{
	double v = p->value[i];
	if (!axis_shows(a, v)) {
		svg_text(out, a->from + 5, y + BAR / 2 + 4, "m", "start", isfinite(v) ? "0" : "–");
		return;
	}
	auto_buf text = {0};
	auto_buf tip = {0};
	axis_format(&text, p->axis.unit, v);
	buf_addf(&tip, "%s: %s", name, buf_str(&text));
	/* The length of a bar means nothing on a logarithmic axis, so a dot is drawn instead. */
	if (a->log)
		svg_circle(out, axis_at(a, v), y + BAR / 2, 4, svg_class(SVG_BAR, colour), buf_str(&tip));
	else
		svg_rect(out, a->from, y, axis_at(a, v) - a->from, BAR, svg_class(SVG_BAR, colour), buf_str(&tip));
	double low = whisker(p->low, i);
	double high = whisker(p->high, i);
	double end = axis_at(a, v) + (a->log ? 4 : 0);
	if (axis_shows(a, low) && axis_shows(a, high)) {
		double mid = y + BAR / 2;
		svg_line(out, axis_at(a, low), mid, axis_at(a, high), mid, "w");
		svg_line(out, axis_at(a, low), mid - 3.5, axis_at(a, low), mid + 3.5, "w");
		svg_line(out, axis_at(a, high), mid - 3.5, axis_at(a, high), mid + 3.5, "w");
		end = fmax(end, axis_at(a, high));
	}
	svg_text(out, end + 5, y + BAR / 2 + 4, "t", "start", buf_str(&text));
}

static int panel_axis(struct axis *a, const struct chart_bar_panel *p, const struct rows *r)
{
	struct axis_range range = AXIS_RANGE_EMPTY;
	for (size_t i = 0; i < r->n; i++) {
		axis_range_add(&range, p->value[i]);
		axis_range_add(&range, whisker(p->low, i));
		axis_range_add(&range, whisker(p->high, i));
	}
	/*
	 * A time of zero, which means less than the kernel's clock tick, is shown as text. It must not prevent a
	 * logarithmic scale.
	 */
	struct chart_axis spec = p->axis;
	if (spec.scale == SCALE_AUTO && range.low == 0 && range.high > 10 * range.least_above_zero)
		spec.scale = SCALE_LOG;
	double width = r->right - r->left - VALUE_ROOM;
	int rc = axis_init(a, &spec, &range, true, (size_t)fmax(2, width / 70));
	if (rc == 0 && a->log) {
		/* The axis begins at half the smallest value, so that this value is not at the edge. */
		struct axis_range lower = range;
		lower.least_above_zero = range.least_above_zero / 2;
		rc = axis_init(a, &spec, &lower, true, (size_t)fmax(2, width / 48));
	}
	axis_place(a, r->left, r->right - VALUE_ROOM);
	return rc;
}

static void draw_panel(const struct chart_bar_panel *p, const struct rows *r, size_t colour, struct buf *out)
{
	struct axis a;
	double bottom = row_at(r, r->n - 1) + ROW;
	svg_text(out, r->left, r->top + 14, "h", "start", p->title ? p->title : "");
	if (panel_axis(&a, p, r) < 0) {
		svg_text(out, r->left, r->top + 24 + ROW, "m", "start", "no values");
		return;
	}
	axis_draw_x(&a, r->top + 22, bottom, a.log ? "log scale" : NULL, out);
	for (size_t i = 0; i < r->n; i++)
		draw_bar(&a, p, i, row_at(r, i) + (ROW - BAR) / 2, r->labels[i],
			 r->members > 1 ? i % r->members : colour, out);
}

static double widest_label(const char *const *labels, size_t n, double limit)
{
	double widest = 0;
	for (size_t i = 0; i < n; i++)
		widest = fmax(widest, svg_text_width(labels[i], 12));
	return fmin(widest + 10, limit);
}

/*
 * Returns the width that remains for the labels of the rows if the panels are beside each other and none of their
 * titles is cut.
 */
static double beside_panels(double width, const struct chart_bar_panel *panels, size_t n)
{
	double widest = 0;
	for (size_t i = 0; i < n; i++)
		widest = fmax(widest, svg_text_width(panels[i].title ? panels[i].title : "", 12) * BOLD);
	return fmax(width - (double)n * widest - GAP * (double)(n - 1), LABEL_LEAST);
}

static void draw_labels(const struct rows *r, struct buf *out)
{
	auto_buf cut = {0};
	for (size_t i = 0; i < r->n; i++) {
		buf_clear(&cut);
		svg_cut(&cut, r->labels[i], 12, r->left - 12);
		svg_text(out, r->left - 8, row_at(r, i) + ROW / 2 + 4, "t", "end", buf_str(&cut));
	}
}

int chart_bars(const struct chart_frame *f, const char *const *labels, size_t n, size_t members,
	       const struct chart_bar_panel *panels, size_t npanels, struct buf *out)
{
	if (!n || !npanels || !members)
		return -EINVAL;
	struct buf body = {0};
	double width = frame_width(f) - 2 * FRAME_MARGIN;
	bool stacked = frame_is_narrow(f);
	double most = stacked ? width : beside_panels(width, panels, npanels);
	double label = widest_label(labels, n, fmin(width * 0.42, most));
	double room = width - label;
	double cell = stacked ? room : (room - GAP * (double)(npanels - 1)) / (double)npanels;
	double height = row_at(&(struct rows){.members = members}, n - 1) + ROW + 44;
	double y = frame_top(f);
	for (size_t i = 0; i < npanels; i++) {
		double left = FRAME_MARGIN + label + (stacked ? 0 : (double)i * (cell + GAP));
		struct rows r = {labels, n, left, left + cell, y, members};
		if (stacked || i == 0)
			draw_labels(&r, &body);
		draw_panel(&panels[i], &r, i, &body);
		if (stacked)
			y += height;
	}
	frame_finish(f, &body, stacked ? y : y + height, out);
	return 0;
}

/* Draws histograms below each other over one x axis. */
#define PANEL    92.0
#define HIST_GAP 26.0
#define COARSE   3 /* minimum width of a column in pixels */

/*
 * The counts that are drawn, one for each column of `width` pixels. A column may contain several buckets of the
 * histogram, and a wide bucket may cover several columns.
 */
struct columns {
	double *count;
	size_t n;
	double width;
};

static double bucket_low(const struct chart_hist *h, uint32_t i)
{
	return (double)hist_bucket_low(h->hist->first + i) * h->unit;
}

/* Returns the middle of a bucket. It is above zero for every bucket, so a logarithmic axis can show it. */
static double bucket_middle(const struct chart_hist *h, uint32_t i)
{
	double low = bucket_low(h, i);
	return low > 0 ? (low + bucket_low(h, i + 1) - h->unit) / 2 : h->unit / 2;
}

/*
 * Adds `count` to the columns between `from` and `to`, which are in pixels from the beginning of the axis. A large
 * count is distributed over these columns, and a small count is added to the middle column.
 */
static void spread(struct columns *c, double from, double to, double count)
{
	double first = fmax(from / c->width, 0);
	double last = fmin(to / c->width, (double)c->n);
	if (count < 8 || last - first < 1e-6) {
		size_t k = (size_t)fmax((first + last) / 2, 0);
		c->count[k < c->n ? k : c->n - 1] += count;
		return;
	}
	for (size_t k = (size_t)first; k < c->n && (double)k < last; k++) {
		double part = fmin(last, (double)k + 1) - fmax(first, (double)k);
		c->count[k] += count * part / (last - first);
	}
}

/* If the buckets stand for their lowest values, each is drawn as one column, and is not distributed over two. */
static void fill_columns(struct columns *c, const struct chart_hist *h, const struct axis *x)
{
	for (uint32_t i = 0; i < h->hist->n; i++) {
		double from = axis_at(x, bucket_low(h, i)) - x->from;
		double to = h->lowest ? from : axis_at(x, bucket_low(h, i + 1)) - x->from;
		if (h->hist->count[i])
			spread(c, from, to, (double)h->hist->count[i]);
	}
}

/*
 * Returns the width of the columns in pixels: that of the widest bucket, but at least COARSE and at most 16. If columns
 * were narrower than a bucket, some of them could be empty between two others.
 */
static double column_width(const struct chart_hist *h, const struct axis *x)
{
	double widest = COARSE;
	for (uint32_t i = 0; i < h->hist->n; i++)
		if (h->hist->count[i] && bucket_low(h, i) > 0)
			widest = fmax(widest, axis_at(x, bucket_low(h, i + 1)) - axis_at(x, bucket_low(h, i)));
	return fmin(widest, 16);
}

static double tallest(const struct columns *c)
{
	double most = 0;
	for (size_t i = 0; i < c->n; i++)
		most = fmax(most, c->count[i]);
	return most;
}

static void draw_bars(const struct columns *c, const struct axis *x, const struct axis *y, size_t colour,
		      struct buf *out)
{
	buf_addf(out, "<path class=\"%s\" d=\"", svg_class(SVG_FILL, colour));
	for (size_t i = 0; i < c->n; i++) {
		if (c->count[i] <= 0)
			continue;
		double left = x->from + c->width * (double)i;
		/* The scale begins below one, so that a count of one is visible. */
		buf_addf(out, "M%.1f %.1fV%.1fH%.1fV%.1fZ", left, y->from, axis_at(y, fmax(c->count[i], 0.6)),
			 left + c->width - 0.4, y->from);
	}
	buf_adds(out, "\"/>\n");
}

/* Writes "p50 3.1 µs, p99 7.9 µs, max 55 µs, n 100k", or only the last parts if there is little room. */
static void draw_caption(const struct chart_hist *h, const struct axis *x, double y, struct buf *out)
{
	static const struct {
		const char *name;
		double q;
	} points[] = {{"p50 ", 0.5}, {"p99 ", 0.99}, {"max ", 1}};
	double room = x->to - x->from - svg_text_width(h->name, 13) - 12;
	for (size_t first = 0; first < sizeof(points) / sizeof(*points); first++) {
		auto_buf text = {0};
		for (size_t i = first; i < sizeof(points) / sizeof(*points); i++) {
			buf_adds(&text, points[i].name);
			/*
			 * A quantile is the middle of a bucket. This can be greater than the exact maximum, which is
			 * shown instead.
			 */
			double at = hist_quantile(h->hist, points[i].q);
			if (h->lowest)
				at = (double)hist_bucket_low(hist_bucket((uint64_t)at));
			if (h->max > 0)
				at = points[i].q == 1 ? h->max : fmin(at, h->max);
			axis_format(&text, x->unit, at * h->unit);
			buf_adds(&text, ", ");
		}
		buf_adds(&text, "n ");
		axis_format(&text, UNIT_COUNT, (double)h->hist->total);
		bool fits = svg_text_width(buf_str(&text), 12) <= room;
		if (fits)
			svg_text(out, x->to, y, "m", "end", buf_str(&text));
		if (fits)
			return;
	}
}

static void draw_one(const struct chart_hist *h, const struct axis *x, double top, size_t colour, struct buf *out)
{
	struct columns c = {.width = column_width(h, x)};
	c.n = (size_t)((x->to - x->from) / c.width) + 1;
	c.count = memory_zeroed(c.n, sizeof(*c.count));
	fill_columns(&c, h, x);
	struct axis y;
	struct axis_range r = {0.6, fmax(tallest(&c), 10), 0.6};
	axis_init(&y, &(struct chart_axis){.unit = UNIT_COUNT, .scale = SCALE_LOG}, &r, true, 4);
	axis_place(&y, top + PANEL, top);
	axis_draw_y(&y, x->from, x->to, NULL, out);
	draw_bars(&c, x, &y, colour, out);
	svg_text(out, x->from, top - 6, "h", "start", h->name);
	draw_caption(h, x, top - 6, out);
	free(c.count);
}

int chart_hists(const struct chart_frame *f, const struct chart_axis *x, const struct chart_hist *hists, size_t n,
		struct buf *out)
{
	struct axis_range r = AXIS_RANGE_EMPTY;
	struct axis a;
	struct buf body = {0};
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < hists[i].hist->n; k++)
			axis_range_add(&r, hists[i].hist->count[k] ? bucket_middle(&hists[i], k) : NAN);
	double left = FRAME_MARGIN + 44;
	double right = frame_width(f) - FRAME_MARGIN - 6;
	int rc = axis_init(&a, x, &r, false, (size_t)((right - left) / 75));
	if (rc < 0)
		return rc;
	axis_place(&a, left, right);
	double top = frame_top(f) + HIST_GAP;
	double step = PANEL + HIST_GAP + 8;
	axis_draw_x(&a, top, top + step * (double)n - HIST_GAP - 8, x->title, &body);
	for (size_t i = 0; i < n; i++)
		draw_one(&hists[i], &a, top + step * (double)i, i, &body);
	frame_finish(f, &body, top + step * (double)n - HIST_GAP - 8 + (x->title ? 40 : 24), out);
	return 0;
}
