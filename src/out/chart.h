/* SPDX-License-Identifier: MIT */
/*
 * Charts of measurements as SVG without external files. They can be read on light and dark backgrounds, and on wide and
 * narrow screens.
 */
#ifndef SCTRACE_OUT_CHART_H
#define SCTRACE_OUT_CHART_H

#include <stdbool.h>
#include <stddef.h>

struct box;
struct buf;
struct hist;

/*
 * The unit of the values. Values are in base units: seconds, bytes, fractions (0.5 is 50 %).
 *
 * Each chart_*() function appends one <svg> element to `out`. It returns 0, or -EINVAL if no value can be shown.
 * Values that are NAN are left out, and so are values that are not above zero on a logarithmic axis. Strings are
 * escaped.
 */
enum chart_unit { UNIT_NONE, UNIT_SECONDS, UNIT_BYTES, UNIT_COUNT, UNIT_PERCENT };
/*
 * SCALE_AUTO means logarithmic if all values are above zero and the greatest is more than 10 times the smallest, and
 * linear otherwise.
 */
enum chart_scale { SCALE_AUTO, SCALE_LINEAR, SCALE_LOG };

struct chart_axis {
	const char *title; /* or NULL */
	enum chart_unit unit;
	enum chart_scale scale;
};

/* The text around a chart. Strings may be NULL. */
struct chart_frame {
	const char *title;
	const char *subtitle;
	const char *note; /* text below the chart: what was left out, how the values were measured */
	int width;        /* pixels; 0: CHART_WIDE. In a narrow chart (FRAME_NARROW), panels are drawn below each
			   * other, not beside each other. */
};
#define CHART_WIDE   860
#define CHART_NARROW 360

/* A series of values over x, drawn as a line. */
struct chart_series {
	const char *name; /* name in the legend, or NULL */
	const double *x, *y;
	const double *low, *high; /* limits of a band around y, such as quartiles; or NULL */
	size_t n;
};

struct chart_panel {
	const char *title;
	struct chart_axis x, y;
	const struct chart_series *series;
	size_t nseries;
	double mark_x;         /* where a dashed vertical line is drawn; NAN: nowhere */
	const char *mark_text; /* text beside that line */
};
/*
 * Draws lines in several panels. For a scan of buffer sizes, the panels show wall time, system time, calls and peak RSS
 * over the buffer size.
 */
int chart_lines(const struct chart_frame *f, const struct chart_panel *panels, size_t n, struct buf *out);

/* A panel of a bar chart, which shows one metric of all subjects. */
struct chart_bar_panel {
	const char *title;
	struct chart_axis axis;
	const double *value;
	const double *low, *high; /* limits of the whiskers, such as quartiles; or NULL */
};
/*
 * Draws `n` rows with labels, and a panel for each metric. Values are horizontal bars from zero, or dots if the axis is
 * logarithmic. The rows form groups of `members` rows, such as one subject in several runs. The position of a row in
 * its group decides its colour. If `members` is 1, there are no groups, and each panel has its own colour.
 */
int chart_bars(const struct chart_frame *f, const char *const *labels, size_t n, size_t members,
	       const struct chart_bar_panel *panels, size_t npanels, struct buf *out);

struct chart_point {
	const char *label;
	double x, y;
	double x_low, x_high; /* range of repeated measurements of x, such as its quartiles; NAN: unknown */
};
/*
 * Draws a trade-off between x and y. A smaller value is better on both axes. Two values count as equal if they differ
 * by less than the fraction `equal` of the larger one, or if their ranges x_low to x_high overlap. A line joins the
 * points for which no other point is better.
 */
int chart_scatter(const struct chart_frame *f, double equal, const struct chart_axis *x, const struct chart_axis *y,
		  const struct chart_point *points, size_t n, struct buf *out);

struct chart_box {
	const char *label;
	const struct box *box;
	size_t group;           /* decides the colour */
	const char *group_name; /* name of the group in the legend, equal for all members of a group; or NULL */
	double resolution;      /* a median below it is written as an upper limit: "<30 ns" */
};
/*
 * Draws box plots (stats/quantile.h), with the median written in the box, and a legend of their colours. Outliers are
 * points, at most 100 for each box, the outermost ones first. Below a vertical box, their number is written. On a
 * linear axis, outliers that are too far away would make the boxes very small, so such outliers are left out, and their
 * number is written instead.
 */
int chart_boxes(const struct chart_frame *f, const struct chart_axis *y, const struct chart_box *boxes, size_t n,
		struct buf *out);

struct chart_hist {
	const char *name;
	const struct hist *hist;
	double unit; /* factor from the histogram's unit to that of the axis: 1e-9 for ns on an axis of seconds */
	double max;  /* the exact maximum; 0: unknown */
	/*
	 * Shows a quantile as the lowest value of its bucket, and not as the middle. Sizes are often powers of two, and
	 * each power of two is the lowest value of a bucket.
	 */
	bool lowest;
};
/*
 * Draws histograms below each other over one x axis. The axis of the counts is logarithmic, so that one late wake-up in
 * a million is visible.
 */
int chart_hists(const struct chart_frame *f, const struct chart_axis *x, const struct chart_hist *hists, size_t n,
		struct buf *out);

/* A period, from `start` to `end` seconds, in which one process ran on a CPU. */
struct chart_slice {
	double start, end;
	size_t who; /* index of the process's series */
	int cpu;
};
struct chart_progress {
	const char *title;
	const struct chart_series *series; /* x is in seconds and y is the fraction of the work that is done; drawn
					    * as a staircase */
	size_t nseries;
	const struct chart_slice *slices;
	size_t nslices;
};
/*
 * Draws the progress of processes over time. Each process has a lane, a horizontal part of the chart. Below the lanes
 * is a strip for each CPU, which shows by the colours of the lanes which process ran on the CPU.
 */
int chart_progress(const struct chart_frame *f, const struct chart_progress *panels, size_t n, struct buf *out);

#endif
