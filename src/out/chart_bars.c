/* Draws horizontal bars with whiskers, and a panel for each metric. */
#include "base/buf.h"
#include "out/axis.h"
#include "out/chart.h"
#include "out/frame.h"
#include "out/svg.h"

#include <errno.h>
#include <math.h>

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
	struct buf text = {0};
	struct buf tip = {0};
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
	buf_free(&text);
	buf_free(&tip);
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
	struct buf cut = {0};
	for (size_t i = 0; i < r->n; i++) {
		buf_clear(&cut);
		svg_cut(&cut, r->labels[i], 12, r->left - 12);
		svg_text(out, r->left - 8, row_at(r, i) + ROW / 2 + 4, "t", "end", buf_str(&cut));
	}
	buf_free(&cut);
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
