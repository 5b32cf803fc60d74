/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "out/axis.h"
#include "out/chart.h"
#include "out/svg.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* Draws lines in several panels, for scans of buffer sizes or of parameters. */
#define PANEL_HEIGHT 200.0
#define POINTS_MAX   60 /* if a line has more points than this, no dots are drawn */

struct plot {
	double left, top, right, bottom;
	struct axis x, y;
};

/* Draws a series as one SVG path. A value that cannot be shown interrupts the line. */
static void draw_path(const struct plot *p, const struct chart_series *s, size_t colour, struct buf *out)
{
	bool open = false;
	buf_addf(out, "<path class=\"ln %s\" d=\"", svg_class(SVG_STROKE, colour));
	for (size_t i = 0; i < s->n; i++) {
		bool shown = axis_shows(&p->x, s->x[i]) && axis_shows(&p->y, s->y[i]);
		if (shown)
			buf_addf(out, "%c%.1f %.1f", open ? 'L' : 'M', axis_at(&p->x, s->x[i]),
				 axis_at(&p->y, s->y[i]));
		open = shown;
	}
	buf_adds(out, "\"/>\n");
}

static void draw_band(const struct plot *p, const struct chart_series *s, size_t colour, struct buf *out)
{
	if (!s->low || !s->high)
		return;
	auto_buf d = {0};
	for (size_t i = 0; i < s->n; i++)
		if (axis_shows(&p->x, s->x[i]) && axis_shows(&p->y, s->high[i]))
			buf_addf(&d, "%c%.1f %.1f", d.len ? 'L' : 'M', axis_at(&p->x, s->x[i]),
				 axis_at(&p->y, s->high[i]));
	for (size_t i = s->n; d.len && i-- > 0;)
		if (axis_shows(&p->x, s->x[i]) && axis_shows(&p->y, s->low[i]))
			buf_addf(&d, "L%.1f %.1f", axis_at(&p->x, s->x[i]), axis_at(&p->y, s->low[i]));
	if (d.len)
		buf_addf(out, "<path class=\"%s\" d=\"%sZ\"/>\n", svg_class(SVG_PALE, colour), buf_str(&d));
}

static void draw_points(const struct plot *p, const struct chart_series *s, size_t colour, struct buf *out)
{
	auto_buf tip = {0};
	for (size_t i = 0; s->n <= POINTS_MAX && i < s->n; i++) {
		if (!axis_shows(&p->x, s->x[i]) || !axis_shows(&p->y, s->y[i]))
			continue;
		frame_tip(&tip, s->name, p->x.unit, s->x[i], p->y.unit, s->y[i]);
		svg_circle(out, axis_at(&p->x, s->x[i]), axis_at(&p->y, s->y[i]), 3, svg_class(SVG_FILL, colour),
			   buf_str(&tip));
	}
}

static void draw_mark(const struct plot *p, const struct chart_panel *panel, struct buf *out)
{
	if (!axis_shows(&p->x, panel->mark_x))
		return;
	double x = axis_at(&p->x, panel->mark_x);
	bool left = x > (p->left + p->right) / 2; /* write the text on the side that has more room */
	svg_line(out, x, p->top, x, p->bottom, "d");
	if (panel->mark_text)
		svg_text(out, left ? x - 5 : x + 5, p->top + 11, "l", left ? "end" : "start", panel->mark_text);
}

static int plot_axes(struct plot *p, const struct chart_panel *panel, size_t xticks)
{
	struct axis_range x = AXIS_RANGE_EMPTY;
	struct axis_range y = AXIS_RANGE_EMPTY;
	for (size_t i = 0; i < panel->nseries; i++) {
		const struct chart_series *s = &panel->series[i];
		for (size_t k = 0; k < s->n; k++) {
			if (!isfinite(s->x[k]) || !isfinite(s->y[k]))
				continue;
			axis_range_add(&x, s->x[k]);
			axis_range_add(&y, s->y[k]);
			axis_range_add(&y, s->low ? s->low[k] : NAN);
			axis_range_add(&y, s->high ? s->high[k] : NAN);
		}
	}
	int rc = axis_init(&p->x, &panel->x, &x, false, xticks);
	return rc < 0 ? rc : axis_init(&p->y, &panel->y, &y, true, 5);
}

/* Draws a panel between `left` and `right` that starts at `top`. Returns its height or -errno. */
static double draw_panel(const struct chart_panel *panel, double left, double labels, double right, double top,
			 struct buf *out)
{
	struct plot p = {.right = right - 8, .top = top + 26};
	int rc = plot_axes(&p, panel, (size_t)((right - left) / 75));
	if (rc < 0)
		return rc;
	p.bottom = p.top + PANEL_HEIGHT;
	p.left = left + labels;
	axis_place(&p.x, p.left, p.right);
	axis_place(&p.y, p.bottom, p.top);
	svg_text(out, p.left, top + 14, "h", "start", panel->title ? panel->title : "");
	axis_draw_y(&p.y, p.left, p.right, panel->y.title, out);
	axis_draw_x(&p.x, p.top, p.bottom, panel->x.title, out);
	for (size_t i = 0; i < panel->nseries; i++)
		draw_band(&p, &panel->series[i], i, out);
	for (size_t i = 0; i < panel->nseries; i++) {
		draw_path(&p, &panel->series[i], i, out);
		draw_points(&p, &panel->series[i], i, out);
	}
	draw_mark(&p, panel, out);
	return 26 + PANEL_HEIGHT + (panel->x.title ? 44 : 28);
}

/*
 * Returns the width that the labels of the y axis need at the left. It is equal for all panels, so that their plots are
 * aligned.
 */
static double label_room(const struct chart_panel *panels, size_t n)
{
	double room = 0;
	for (size_t i = 0; i < n; i++) {
		struct plot p;
		if (plot_axes(&p, &panels[i], 4) == 0)
			room = fmax(room, axis_label_width(&p.y) + 10 + (panels[i].y.title ? 18 : 0));
	}
	return room;
}

int chart_lines(const struct chart_frame *f, const struct chart_panel *panels, size_t n, struct buf *out)
{
	auto_buf body = {0};
	double width = frame_width(f) - 2 * FRAME_MARGIN;
	size_t columns = frame_is_narrow(f) || n == 1 ? 1 : 2;
	double cell = (width - 18 * (double)(columns - 1)) / (double)columns;
	double y = frame_top(f);
	/* All panels show the same subjects, so one legend is enough. */
	if (n && panels[0].nseries > 1)
		y += frame_legend(panels[0].series, panels[0].nseries, y, FRAME_MARGIN + width, &body);
	double labels = label_room(panels, n);
	double row = 0;
	size_t drawn = 0;
	for (size_t i = 0; i < n; i++) {
		size_t column = drawn % columns;
		double left = FRAME_MARGIN + (double)column * (cell + 18);
		double height = draw_panel(&panels[i], left, labels, left + cell, y, &body);
		if (height < 0)
			continue; /* the panel has no value that its scale can show */
		drawn++;
		row = fmax(row, height);
		if (column + 1 == columns) {
			y += row;
			row = 0;
		}
	}
	if (!drawn) {
		return -EINVAL;
	}
	frame_finish(f, &body, y + row, out);
	return 0;
}

/* Draws the progress of processes over time as staircases, each in a lane, and which process ran on each CPU. */
#define HEIGHT    190.0 /* height of all lanes together; larger if a lane would be lower than LANE */
#define LANE      56.0
#define LANE_GAP  14.0
#define STRIP     16.0
#define NAME_SIZE 12.0 /* font size of names */

static void draw_stairs(const struct chart_series *s, const struct axis *x, const struct axis *y, size_t colour,
			struct buf *out)
{
	bool open = false;
	double last_x = -INFINITY;
	double last_y = -INFINITY;
	buf_addf(out, "<path class=\"ln %s\" d=\"", svg_class(SVG_STROKE, colour));
	for (size_t i = 0; i < s->n; i++) {
		if (!axis_shows(x, s->x[i]) || !axis_shows(y, s->y[i]))
			continue;
		double px = axis_at(x, s->x[i]);
		double py = axis_at(y, s->y[i]);
		/*
		 * A step that is smaller than a pixel would only make the file larger. The last step is always drawn,
		 * because the line ends there.
		 */
		if (open && i + 1 < s->n && px - last_x < 0.4 && last_y - py < 0.4)
			continue;
		open ? buf_addf(out, "H%.1fV%.1f", px, py) : buf_addf(out, "M%.1f %.1f", px, py);
		open = true;
		last_x = px;
		last_y = py;
	}
	buf_adds(out, "\"/>\n");
}

/*
 * Draws a strip for each CPU. Even slices that are narrower than a pixel are drawn with their real width. Returns the
 * height.
 */
static double draw_strips(const struct chart_progress *p, const struct axis *x, double top, struct buf *out)
{
	int cpus[64];
	size_t n = 0;
	for (size_t i = 0; i < p->nslices; i++) {
		const struct chart_slice *s = &p->slices[i];
		size_t row = 0;
		while (row < n && cpus[row] != s->cpu)
			row++;
		if (row == n && n < sizeof(cpus) / sizeof(*cpus))
			cpus[n++] = s->cpu;
		if (row >= n)
			continue;
		double y = top + (STRIP + 4) * (double)row;
		double left = axis_at(x, s->start);
		svg_rect(out, left, y, fmax(axis_at(x, s->end) - left, 0.15), STRIP, svg_class(SVG_FILL, s->who), NULL);
	}
	for (size_t i = 0; i < n; i++) {
		char text[24];
		snprintf(text, sizeof(text), "CPU %d", cpus[i]);
		svg_text(out, x->from - 7, top + (STRIP + 4) * (double)i + 12, "m", "end", text);
	}
	return (STRIP + 4) * (double)n;
}

/* Returns the range of times of all panels, which have the same x axis, so that they can be compared. */
static struct axis_range times(const struct chart_progress *panels, size_t n)
{
	struct axis_range r = AXIS_RANGE_EMPTY;
	axis_range_add(&r, 0);
	for (const struct chart_progress *p = panels; p < panels + n; p++) {
		for (size_t i = 0; i < p->nseries; i++)
			for (size_t k = 0; k < p->series[i].n; k++)
				axis_range_add(&r, p->series[i].x[k]);
		for (size_t i = 0; i < p->nslices; i++)
			axis_range_add(&r, p->slices[i].end);
	}
	return r;
}

static int panel_axes(const struct chart_progress *p, const struct axis_range *rx, struct axis *x, struct axis *y,
		      double width)
{
	struct axis_range ry = {0, 1, 1};
	int rc = axis_init(x, &(struct chart_axis){.unit = UNIT_SECONDS, .scale = SCALE_LINEAR}, rx, true,
			   (size_t)(width / 80));
	return rc < 0 ? rc
		      : axis_init(y, &(struct chart_axis){.unit = UNIT_PERCENT, .scale = SCALE_LINEAR}, &ry, true,
				  p->nseries > 1 ? 2 : 5);
}

/*
 * Draws the lane of process `i` from `top` to `bottom`. The name of the process is in the upper left corner, because a
 * staircase begins at the bottom, or to the right of a staircase that ends there.
 */
static void draw_lane(const struct chart_progress *p, size_t i, const struct axis *x, struct axis *y, double top,
		      double bottom, struct buf *out)
{
	const struct chart_series *s = &p->series[i];
	axis_place(y, bottom, top);
	axis_draw_y(y, x->from, x->to, NULL, out);
	draw_stairs(s, x, y, i, out);
	if (!s->name)
		return;
	double end = s->n ? axis_at(x, s->x[s->n - 1]) : x->from;
	double width = 28 + svg_text_width(s->name, NAME_SIZE);
	double left = end < x->from + width && end + width < x->to ? end : x->from;
	svg_rect(out, left + 8, top + 9, 14, 4, svg_class(SVG_FILL, i), NULL);
	svg_text(out, left + 28, top + 15, "t", "start", s->name);
}

/* Draws one panel that starts at `top`. Returns its height or -errno. */
static double draw_progress_panel(const struct chart_progress *p, const struct axis_range *rx, double left,
				  double right, double top, struct buf *out)
{
	struct axis x;
	struct axis y;
	int rc = panel_axes(p, rx, &x, &y, right - left);
	if (rc < 0)
		return rc;
	double plot = top + 26;
	double lanes = (double)p->nseries;
	double lane = lanes > 1 ? fmax((HEIGHT - LANE_GAP * (lanes - 1)) / lanes, LANE) : HEIGHT;
	double bottom = plot + (lane + LANE_GAP) * fmax(lanes, 1) - LANE_GAP;
	svg_text(out, left, top + 14, "h", "start", p->title ? p->title : "");
	axis_place(&x, left, right);
	auto_buf rows = {0};
	double strips = p->nslices ? draw_strips(p, &x, bottom + 8, &rows) + 8 : 0;
	axis_draw_x(&x, plot, bottom + strips, NULL, out);
	buf_add(out, buf_str(&rows), rows.len); /* drawn after the grid, which would otherwise hide the strips */
	for (size_t i = 0; i < p->nseries; i++) {
		double from = plot + (lane + LANE_GAP) * (double)i;
		draw_lane(p, i, &x, &y, from, from + lane, out);
	}
	return bottom + strips + 30 - top;
}

int chart_progress(const struct chart_frame *f, const struct chart_progress *panels, size_t n, struct buf *out)
{
	auto_buf body = {0};
	double y = frame_top(f);
	size_t drawn = 0;
	struct axis_range rx = times(panels, n);
	for (size_t i = 0; i < n; i++) {
		double height = draw_progress_panel(&panels[i], &rx, FRAME_MARGIN + 50,
						    frame_width(f) - FRAME_MARGIN - 6, y, &body);
		if (height < 0)
			continue;
		drawn++;
		y += height;
	}
	if (!drawn) {
		return -EINVAL;
	}
	frame_finish(f, &body, y, out);
	return 0;
}
