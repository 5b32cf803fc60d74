/* Axes: the range of values that is shown, and the ticks with their labels. */
#ifndef SCTRACE_OUT_AXIS_H
#define SCTRACE_OUT_AXIS_H

#include "out/chart.h"

#define AXIS_TICKS_MAX 64

struct axis_tick {
	double value;
	char label[24]; /* "" for a minor tick */
};

struct axis {
	bool log;
	enum chart_unit unit;
	double low, high;   /* the range shown; 0 < low if log */
	double from, to;    /* in pixels; from > to for a vertical axis */
	double label_scale; /* linear axes: all labels use this unit */
	struct axis_tick ticks[AXIS_TICKS_MAX];
	size_t nticks;
};

/* A range of values, which grows as values are added. */
struct axis_range {
	double low, high, least_above_zero;
};
void axis_range_init(struct axis_range *r);
void axis_range_add(struct axis_range *r, double v); /* ignores NAN */

/*
 * Makes an axis for the range with about `ticks` labels. With `zero`, a linear axis begins at 0. axis_place() sets the
 * pixels. Returns 0, or -EINVAL if the range contains nothing to show.
 */
int axis_init(struct axis *a, const struct chart_axis *spec, const struct axis_range *r, bool zero, size_t ticks);
void axis_place(struct axis *a, double from, double to);
/* True if the axis can show the value (finite, and above zero on a log scale). */
bool axis_shows(const struct axis *a, double v);
/* The pixel of a value, limited to just outside the axis. */
double axis_at(const struct axis *a, double v);
/* Appends a value with three significant digits and its unit: "1.25 ms", "4 KiB", "12.3k", "98 %". */
void axis_format(struct buf *out, enum chart_unit unit, double v);
/* The widest tick label in pixels at a font of 12. */
double axis_label_width(const struct axis *a);

/*
 * Draws the grid and the labels of an x axis below the plot (top to bottom), or of a y axis at its left (left to
 * right).
 */
void axis_draw_x(const struct axis *a, double top, double bottom, const char *title, struct buf *out);
void axis_draw_y(const struct axis *a, double left, double right, const char *title, struct buf *out);

#endif
