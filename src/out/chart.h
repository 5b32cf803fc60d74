/* Charts of measurements as self-contained SVG, for light and dark backgrounds, wide and narrow. */
#ifndef SCTRACE_OUT_CHART_H
#define SCTRACE_OUT_CHART_H

#include <stdbool.h>
#include <stddef.h>

struct box;
struct buf;
struct hist;

/*
 * Each function appends one <svg> element to `out`. Returns 0, -ENOMEM, or -EINVAL if there is nothing to draw (no
 * value that the scale can show). Values are in base units: seconds, bytes, fractions (0.5 is 50 %). NANs, and on a log
 * scale values that are not above zero, are left out. Strings are escaped.
 */
enum chart_unit { UNIT_NONE, UNIT_SECONDS, UNIT_BYTES, UNIT_COUNT, UNIT_PERCENT };
/* SCALE_AUTO is logarithmic if all values are above zero and the greatest is more than 10 times the least. */
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
	const char *note; /* at the bottom: what was left out, how it was measured */
	int width;        /* 0: CHART_WIDE. Below 560, panels are drawn below each other. */
};
#define CHART_WIDE   860
#define CHART_NARROW 360

/* Values over x, joined by a line. */
struct chart_series {
	const char *name; /* in the legend; or NULL */
	const double *x, *y;
	const double *low, *high; /* a band around y (quartiles), or NULL */
	size_t n;
};

struct chart_panel {
	const char *title;
	struct chart_axis x, y;
	const struct chart_series *series;
	size_t nseries;
	double mark_x;         /* position of a dashed line (the knee); NAN: none */
	const char *mark_text; /* beside it */
};
/* Lines in several panels, such as a buffer scan: wall time, system time, calls, peak RSS against buffer size. */
int chart_lines(const struct chart_frame *f, const struct chart_panel *panels, size_t n, struct buf *out);

/* One metric of all subjects. */
struct chart_bar_panel {
	const char *title;
	struct chart_axis axis;
	const double *value;
	const double *low, *high; /* whiskers (quartiles), or NULL */
};
/* Horizontal bars from zero, or dots if the axis is logarithmic: `n` labelled rows, and a panel for each metric. */
int chart_bars(const struct chart_frame *f, const char *const *labels, size_t n, const struct chart_bar_panel *panels,
	       size_t npanels, struct buf *out);

/* The same with rows in groups of `members` (a subject in several runs), coloured by their position in the group. */
int chart_bars_grouped(const struct chart_frame *f, const char *const *labels, size_t n, size_t members,
		       const struct chart_bar_panel *panels, size_t npanels, struct buf *out);

struct chart_point {
	const char *label;
	double x, y;
	double x_low, x_high; /* the noise of x, such as its quartiles; NAN: none */
};
/*
 * A trade-off, in which less is better for both axes. Two values count as equal if they differ by less than the share
 * `equal` of the larger one, or if their noise overlaps. A line joins the points that no other point beats.
 */
int chart_scatter(const struct chart_frame *f, double equal, const struct chart_axis *x, const struct chart_axis *y,
		  const struct chart_point *points, size_t n, struct buf *out);

struct chart_box {
	const char *label;
	const struct box *box;
	size_t group;           /* colour */
	const char *group_name; /* in the legend, equal for all of a group; or NULL */
};
/*
 * Box plots (stats/box.h) with a legend of their colours, and the median written in the box. Outliers are points, at
 * most a few hundred for each box (the outermost first); their number is written below the box. Outliers so far away
 * that they would flatten the boxes (linear scale) are left out and counted at the edge.
 */
int chart_boxes(const struct chart_frame *f, const struct chart_axis *y, const struct chart_box *boxes, size_t n,
		struct buf *out);

struct chart_hist {
	const char *name;
	const struct hist *hist;
	double unit; /* the histogram's unit in the axis's base unit: 1e-9 for ns on an axis of seconds */
	double max;  /* the exact greatest value, if it is known; otherwise 0 */
};
/*
 * Histograms below each other on one x axis. Counts have a log scale, so that one late wake-up in a million is visible.
 */
int chart_hists(const struct chart_frame *f, const struct chart_axis *x, const struct chart_hist *hists, size_t n,
		struct buf *out);

/* A period from `start` to `end` seconds in which one process had a CPU. */
struct chart_slice {
	double start, end;
	size_t who; /* index of its series */
	int cpu;
};
struct chart_progress {
	const char *title;
	const struct chart_series *series; /* x: seconds, y: fraction done; drawn as a staircase */
	size_t nseries;
	const struct chart_slice *slices;
	size_t nslices;
};
/*
 * Progress of processes over time, with a lane for each. Below the lanes, a strip for each CPU shows in the lanes'
 * colours which process had it.
 */
int chart_progress(const struct chart_frame *f, const struct chart_progress *panels, size_t n, struct buf *out);

#endif
