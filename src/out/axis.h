/* Axes: which part of the numbers is shown, where ticks stand, and how they read. */
#ifndef SCTRACE_OUT_AXIS_H
#define SCTRACE_OUT_AXIS_H

#include "out/chart.h"

#define AXIS_TICKS_MAX 64

struct axis_tick {
	double value;
	char label[24]; /* "" for a minor one */
};

struct axis {
	bool log;
	enum chart_unit unit;
	double low, high;   /* shown range; 0 < low where log */
	double from, to;    /* in pixels; from > to for a vertical axis */
	double label_scale; /* linear: all labels in one unit */
	struct axis_tick ticks[AXIS_TICKS_MAX];
	size_t nticks;
};

/* The range of values, kept while they are looked at. */
struct axis_range {
	double low, high, least_above_zero;
};
void axis_range_init(struct axis_range *r);
void axis_range_add(struct axis_range *r, double v); /* NAN: nothing */

/*
 * Makes an axis for the range, with about `ticks` labels; `zero`: a linear one begins at 0. Pixels are set by
 * axis_place(). 0, or -EINVAL where the range holds nothing to show.
 */
int axis_init(struct axis *a, const struct chart_axis *spec, const struct axis_range *r, bool zero, size_t ticks);
void axis_place(struct axis *a, double from, double to);
/* Is the value on the axis' scale at all (finite, above zero where log)? */
bool axis_shows(const struct axis *a, double v);
/* Pixel of a value; held a little outside the axis at most. */
double axis_at(const struct axis *a, double v);
/* Appends a value with three significant digits and its unit: "1.25 ms", "4 KiB", "12.3k", "98 %". */
void axis_format(struct buf *out, enum chart_unit unit, double v);
/* The widest tick label in pixels at a font of 12. */
double axis_label_width(const struct axis *a);

/* Draws grid and labels: an x axis below the plot (top..bottom), a y axis at its left (left..right). */
void axis_draw_x(const struct axis *a, double top, double bottom, const char *title, struct buf *out);
void axis_draw_y(const struct axis *a, double left, double right, const char *title, struct buf *out);

#endif
