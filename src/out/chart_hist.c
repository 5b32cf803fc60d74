/* Draws histograms below each other over one x axis. */
#include "base/buf.h"
#include "base/memory.h"
#include "out/axis.h"
#include "out/chart.h"
#include "out/frame.h"
#include "out/svg.h"
#include "stats/hist.h"

#include <math.h>
#include <stdlib.h>

#define PANEL  92.0
#define GAP    26.0
#define COARSE 3 /* minimum width of a column in pixels */

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
		struct buf text = {0};
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
		buf_free(&text);
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
	double top = frame_top(f) + GAP;
	double step = PANEL + GAP + 8;
	axis_draw_x(&a, top, top + step * (double)n - GAP - 8, x->title, &body);
	for (size_t i = 0; i < n; i++)
		draw_one(&hists[i], &a, top + step * (double)i, i, &body);
	frame_finish(f, &body, top + step * (double)n - GAP - 8 + (x->title ? 40 : 24), out);
	return 0;
}
