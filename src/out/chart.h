/* Pictures of measurements as self-contained SVG, for light and dark ground, wide and narrow. */
#ifndef SCTRACE_OUT_CHART_H
#define SCTRACE_OUT_CHART_H

#include <stdbool.h>
#include <stddef.h>

struct box;
struct buf;
struct hist;

/*
 * Every function appends one <svg> element to `out` and returns 0, -ENOMEM, or -EINVAL where there is nothing to draw
 * (no value that the scale can show). Values are in the unit's base: seconds, bytes, fractions (0.5 is 50 %).
 * NANs, and what is not above zero on a log scale, are left out. Strings are escaped.
 */
enum chart_unit { UNIT_NONE, UNIT_SECONDS, UNIT_BYTES, UNIT_COUNT, UNIT_PERCENT };
/* SCALE_AUTO is logarithmic where the greatest value is more than 10 times the least, and all are above zero. */
enum chart_scale { SCALE_AUTO, SCALE_LINEAR, SCALE_LOG };

struct chart_axis {
	const char *title; /* or NULL */
	enum chart_unit unit;
	enum chart_scale scale;
};

/* What stands around a picture; strings may be NULL. */
struct chart_frame {
	const char *title;
	const char *subtitle;
	const char *note; /* at the foot: what was left out, how it was measured */
	int width;        /* 0: CHART_WIDE. Below 560 panels stand below each other. */
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
	double mark_x;         /* a dashed line there (the knee); NAN: none */
	const char *mark_text; /* beside it */
};
/* Lines in several panels, e.g. a buffer scan: wall, system time, calls, peak RSS against buffer size. */
int chart_lines(const struct chart_frame *f, const struct chart_panel *panels, size_t n, struct buf *out);

/* One measure of all subjects. */
struct chart_bar_panel {
	const char *title;
	struct chart_axis axis;
	const double *value;
	const double *low, *high; /* whiskers (quartiles), or NULL */
};
/* Horizontal bars from zero, or dots where the axis is logarithmic; `n` labelled rows, a panel for each measure. */
int chart_bars(const struct chart_frame *f, const char *const *labels, size_t n, const struct chart_bar_panel *panels,
	       size_t npanels, struct buf *out);

/* The same with rows in groups of `members` (a subject in several runs): coloured by their place in the group. */
int chart_bars_grouped(const struct chart_frame *f, const char *const *labels, size_t n, size_t members,
		       const struct chart_bar_panel *panels, size_t npanels, struct buf *out);

struct chart_point {
	const char *label;
	double x, y;
};
/* A trade-off: less of both is better; points that no other beats in both are joined by a line. */
int chart_scatter(const struct chart_frame *f, const struct chart_axis *x, const struct chart_axis *y,
		  const struct chart_point *points, size_t n, struct buf *out);

struct chart_box {
	const char *label;
	const struct box *box;
	size_t group;           /* colour */
	const char *group_name; /* in the legend, the same for all of a group; or NULL */
};
/*
 * Box plots (stats/box.h) with a legend of their colours, the median written in the box. Outliers are points, at most some hundred a box (the outermost
 * first); how many there are stands below each box. Far outliers that would flatten the boxes (linear scale) are left
 * out and counted at the edge.
 */
int chart_boxes(const struct chart_frame *f, const struct chart_axis *y, const struct chart_box *boxes, size_t n,
		struct buf *out);

struct chart_hist {
	const char *name;
	const struct hist *hist;
	double unit; /* what 1 in the histogram is in the axis' base: 1e-9 for ns on an axis of seconds */
	double max;  /* the greatest value itself, where it is known better than by its bucket; 0: it is not */
};
/* Histograms below each other on one x axis; counts on a log scale, so that one late wake-up in a million is seen. */
int chart_hists(const struct chart_frame *f, const struct chart_axis *x, const struct chart_hist *hists, size_t n,
		struct buf *out);

/* Who had a CPU from `start` to `end` seconds. */
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
/* Progress of processes over time, a lane for each, and below them a strip for each CPU: who had it, in the lanes' colours. */
int chart_progress(const struct chart_frame *f, const struct chart_progress *panels, size_t n, struct buf *out);

#endif
