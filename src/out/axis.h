/* SPDX-License-Identifier: MIT */
/* The axes of charts: the range of values that an axis shows, and its ticks with their labels. */
#ifndef SCTRACE_OUT_AXIS_H
#define SCTRACE_OUT_AXIS_H

#include "out/chart.h"

#include <math.h>

#define AXIS_TICKS_MAX 64

struct axis_tick {
	double value;
	char label[24]; /* "" for a minor tick */
};

struct axis {
	bool log;
	enum chart_unit unit;
	double low, high; /* the range shown; `low` is above 0 on a logarithmic axis */
	double from, to;  /* positions of `low` and `high` in pixels; from > to for a vertical axis */
	struct axis_tick ticks[AXIS_TICKS_MAX];
	size_t nticks;
};

/* A range of values, which grows as values are added. Initialise it with AXIS_RANGE_EMPTY. */
struct axis_range {
	double low, high, least_above_zero;
};
#define AXIS_RANGE_EMPTY                                                                                               \
	{                                                                                                              \
		INFINITY, -INFINITY, INFINITY                                                                          \
	}
void axis_range_add(struct axis_range *r, double v); /* ignores NAN */

/*
 * Initialises an axis that shows range `r` and has about `ticks` labels. If `zero` is set, a linear axis includes 0.
 * The caller must then set the axis's position in pixels by axis_place(). Returns 0, or -EINVAL if the range contains
 * no value that can be shown.
 */
int axis_init(struct axis *a, const struct chart_axis *spec, const struct axis_range *r, bool zero, size_t ticks);
/* Sets the positions of the ends of the axis, in pixels. */
void axis_place(struct axis *a, double from, double to);
/* Returns true if the axis can show the value, which must be finite and, on a logarithmic axis, above zero. */
bool axis_shows(const struct axis *a, double v);
/*
 * Returns the position of a value in pixels. A value far outside the range of the axis gets a position just outside the
 * axis.
 */
double axis_at(const struct axis *a, double v);
/* Appends a value with three significant digits and its unit: "1.25 ms", "4 KiB", "12.3k", "98 %". */
void axis_format(struct buf *out, enum chart_unit unit, double v);
/* Returns the width of the widest tick label in pixels at font size 12. */
double axis_label_width(const struct axis *a);

/*
 * axis_draw_x() draws the grid and the labels of an x axis below the plot, which extends from `top` to `bottom`.
 * axis_draw_y() draws the grid and the labels of a y axis at the left of the plot.
 */
void axis_draw_x(const struct axis *a, double top, double bottom, const char *title, struct buf *out);
void axis_draw_y(const struct axis *a, double left, double right, const char *title, struct buf *out);

/* The parts that all charts have in common: title, subtitle, legend, and the note below the chart. */

#define FRAME_MARGIN 14
#define FRAME_NARROW 560 /* pixels; in narrower charts, panels are drawn below each other */

/* Returns the width of the chart in pixels. */
double frame_width(const struct chart_frame *f);
/* Returns true if the chart is narrower than FRAME_NARROW. */
bool frame_is_narrow(const struct chart_frame *f);
/* Returns the top of the drawing area, which is below the title and the subtitle. */
double frame_top(const struct chart_frame *f);
/*
 * Writes the complete chart. `body` contains what the caller has drawn between frame_top() and `bottom`, and is freed.
 */
void frame_finish(const struct chart_frame *f, struct buf *body, double bottom, struct buf *out);
/*
 * Draws a legend that starts at the left margin and at `y`, and is wrapped at `right`. Returns its height, or 0 if no
 * series has a name.
 */
double frame_legend(const struct chart_series *series, size_t n, double y, double right, struct buf *out);
/* Writes "name: x, y" into `tip`, the text of a tooltip. The values have units. */
void frame_tip(struct buf *tip, const char *name, enum chart_unit ux, double x, enum chart_unit uy, double y);

#endif
