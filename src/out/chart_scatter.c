/* SPDX-License-Identifier: MIT */
/*
 * Draws a trade-off: a point for each subject, a label near each point, and a line along the best points, the frontier.
 * Labels are placed where they hide as little as possible.
 */
#include "base/buf.h"
#include "base/memory.h"
#include "out/axis.h"
#include "out/chart.h"
#include "out/svg.h"

#include <math.h>
#include <stdlib.h>

#define HEIGHT        420.0
#define LABEL_SIZE    11.0
#define LABEL_SLOTS   48
#define LABEL_MAX     200.0 /* pixels; longer labels are cut */
#define ROUNDS        4
#define KEY_ROW       15.0
#define LABELS_NARROW 6 /* a narrow chart with more points has numbers instead of names */

struct rect {
	double x, y, w, h;
};

struct scatter {
	const struct chart_point *points;
	size_t n;
	double equal; /* values count as equal if they differ by less than this fraction */
	struct axis x, y;
	struct rect plot;
	struct rect *labels; /* where the labels are, one for each point */
	bool numbered;       /* labels are numbers, which a list below the plot explains */
	bool *frontier;
};

static double overlap(const struct rect *a, const struct rect *b)
{
	double w = fmin(a->x + a->w, b->x + b->w) - fmax(a->x, b->x);
	double h = fmin(a->y + a->h, b->y + b->h) - fmax(a->y, b->y);
	return w > 0 && h > 0 ? w * h : 0;
}

static bool shown(const struct scatter *s, size_t i)
{
	return axis_shows(&s->x, s->points[i].x) && axis_shows(&s->y, s->points[i].y);
}

/*
 * Returns position number `slot` for a label of `w` by `h` pixels near the point (`x`, `y`). There are eight directions
 * at six distances.
 */
static struct rect slot_rect(double x, double y, double w, double h, size_t slot)
{
	static const struct {
		double dx, dy; /* direction from the point to the nearest edge of the label */
	} directions[] = {{1, 0}, {-1, 0}, {1, -1}, {1, 1}, {-1, -1}, {-1, 1}, {0, -1}, {0, 1}};
	double dx = directions[slot % 8].dx;
	double dy = directions[slot % 8].dy;
	size_t ring = slot / 8;
	double away = 7 + 13 * (double)ring;
	return (struct rect){x + dx * away - w * (1 - dx) / 2, y + dy * away - h * (1 - dy) / 2, w, h};
}

/* Computes the point (*ex, *ey) where the leader meets its label. A leader is a line from a point to its label. */
static void leader_end(const struct rect *r, double x, double y, double *ex, double *ey)
{
	*ex = fmin(fmax(x, r->x), r->x + r->w);
	*ey = fmin(fmax(y, r->y + 2), r->y + r->h - 2);
}

/* Returns true if the leader from point `i` to a label at `r` crosses `other`. */
static bool leader_crosses(const struct scatter *s, size_t i, const struct rect *r, const struct rect *other)
{
	double x = axis_at(&s->x, s->points[i].x);
	double y = axis_at(&s->y, s->points[i].y);
	double ex;
	double ey;
	leader_end(r, x, y, &ex, &ey);
	for (int k = 1; k < 12; k++) {
		double px = x + (ex - x) * k / 12;
		double py = y + (ey - y) * k / 12;
		if (px > other->x && px < other->x + other->w && py > other->y && py < other->y + other->h)
			return true;
	}
	return false;
}

/*
 * Returns how bad it is to place a label at `r`. It is bad if the label hides other labels or points, or leaves the
 * plot. A larger distance between the label and its point is a little worse.
 */
static double cost(const struct scatter *s, size_t self, const struct rect *r, size_t slot)
{
	size_t ring = slot / 8;
	double sum = 6 * (double)ring + 0.5 * (double)(slot % 8);
	for (size_t i = 0; i < s->n; i++) {
		if (!shown(s, i))
			continue;
		if (i != self && s->labels[i].w > 0) {
			sum += 4 * overlap(r, &s->labels[i]);
			sum += leader_crosses(s, self, r, &s->labels[i]) ? 60 : 0;
			sum += leader_crosses(s, i, &s->labels[i], r) ? 60 : 0;
		}
		struct rect dot = {axis_at(&s->x, s->points[i].x) - 5, axis_at(&s->y, s->points[i].y) - 5, 10, 10};
		sum += 2 * overlap(r, &dot);
	}
	double inside = overlap(r, &s->plot);
	return sum + 8 * (r->w * r->h - inside);
}

/* Appends the text of the label of point `i`: its name, or a number if there is no room for names. */
static void point_text(const struct scatter *s, size_t i, struct buf *text)
{
	buf_clear(text);
	if (s->numbered)
		buf_addf(text, "%zu", i + 1);
	else
		svg_cut(text, s->points[i].label, LABEL_SIZE, LABEL_MAX);
}

static void place_label(struct scatter *s, size_t i)
{
	double x = axis_at(&s->x, s->points[i].x);
	double y = axis_at(&s->y, s->points[i].y);
	auto_buf text = {0};
	point_text(s, i, &text);
	double w = svg_text_width(buf_str(&text), LABEL_SIZE);
	double least = INFINITY;
	for (size_t slot = 0; slot < LABEL_SLOTS; slot++) {
		struct rect r = slot_rect(x, y, w, LABEL_SIZE + 2, slot);
		double c = cost(s, i, &r, slot);
		if (c < least) {
			least = c;
			s->labels[i] = r;
		}
	}
}

static bool is_less_x(const struct scatter *s, const struct chart_point *p, const struct chart_point *q)
{
	return p->x < q->x * (1 - s->equal) && !(p->x_high >= q->x_low);
}

static bool is_less_y(const struct scatter *s, const struct chart_point *p, const struct chart_point *q)
{
	return p->y < q->y * (1 - s->equal);
}

/*
 * Finds the points on the frontier: those for which no other point is smaller on one axis and at most equal on the
 * other.
 */
static void find_frontier(struct scatter *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct chart_point *p = &s->points[i];
		s->frontier[i] = shown(s, i);
		for (size_t k = 0; k < s->n && s->frontier[i]; k++) {
			const struct chart_point *q = &s->points[k];
			bool no_worse = !is_less_x(s, p, q) && !is_less_y(s, p, q);
			if (shown(s, k) && no_worse && (is_less_x(s, q, p) || is_less_y(s, q, p)))
				s->frontier[i] = false;
		}
	}
}

/*
 * Joins the points of the frontier from left to right by a dashed staircase. Leaves out points whose y is not smaller
 * than that of the previous point.
 */
static void draw_frontier(const struct scatter *s, struct buf *out)
{
	auto_buf d = {0};
	double last = -INFINITY;
	const struct chart_point *joined = NULL;
	for (size_t drawn = 0; drawn < s->n; drawn++) {
		size_t next = s->n;
		for (size_t i = 0; i < s->n; i++)
			if (s->frontier[i] && s->points[i].x > last &&
			    (next == s->n || s->points[i].x < s->points[next].x))
				next = i;
		if (next == s->n)
			break;
		last = s->points[next].x;
		if (joined && !is_less_y(s, &s->points[next], joined))
			continue;
		joined = &s->points[next];
		double x = axis_at(&s->x, s->points[next].x);
		double y = axis_at(&s->y, s->points[next].y);
		d.len ? buf_addf(&d, "H%.1fV%.1f", x, y) : buf_addf(&d, "M%.1f %.1f", x, y);
	}
	if (d.len)
		buf_addf(out, "<path class=\"d\" fill=\"none\" d=\"%s\"/>\n", buf_str(&d));
}

static void draw_points(const struct scatter *s, struct buf *out)
{
	auto_buf tip = {0};
	for (size_t i = 0; i < s->n; i++) {
		const struct chart_point *p = &s->points[i];
		if (!shown(s, i))
			continue;
		double x = axis_at(&s->x, p->x);
		double y = axis_at(&s->y, p->y);
		const struct rect *r = &s->labels[i];
		/* If a label is not close to its point, a line joins them. */
		double nx;
		double ny;
		leader_end(r, x, y, &nx, &ny);
		if (hypot(nx - x, ny - y) > 12)
			svg_line(out, x, y, nx, ny, "a");
		frame_tip(&tip, p->label, s->x.unit, p->x, s->y.unit, p->y);
		svg_circle(out, x, y, 4.5, svg_class(SVG_FILL, s->frontier[i] ? 0 : 7), buf_str(&tip));
		point_text(s, i, &tip);
		svg_text(out, r->x, r->y + LABEL_SIZE - 1, "l", "start", buf_str(&tip));
	}
}

/* Writes the list that explains the numbers, in two columns. Returns its height. */
static double draw_key(const struct scatter *s, double width, double y, struct buf *out)
{
	size_t rows = s->n / 2 + s->n % 2;
	for (size_t i = 0; i < s->n && rows > 0; i++) {
		auto_buf text = {0};
		double x = FRAME_MARGIN + (i < rows ? 0 : width / 2);
		buf_addf(&text, "%zu  ", i + 1);
		svg_cut(&text, s->points[i].label, 12, width / 2 - 28);
		svg_text(out, x, y + 14 + KEY_ROW * (double)(i % rows), shown(s, i) ? "t" : "m", "start",
			 buf_str(&text));
	}
	return 10 + KEY_ROW * (double)rows;
}

static int scatter_axes(struct scatter *s, const struct chart_axis *x, const struct chart_axis *y)
{
	struct axis_range rx = AXIS_RANGE_EMPTY;
	struct axis_range ry = AXIS_RANGE_EMPTY;
	for (size_t i = 0; i < s->n; i++) {
		if (!isfinite(s->points[i].x) || !isfinite(s->points[i].y))
			continue;
		axis_range_add(&rx, s->points[i].x);
		axis_range_add(&ry, s->points[i].y);
	}
	int rc = axis_init(&s->x, x, &rx, false, (size_t)(s->plot.w / 75));
	return rc < 0 ? rc : axis_init(&s->y, y, &ry, true, 7);
}

int chart_scatter(const struct chart_frame *f, double equal, const struct chart_axis *x, const struct chart_axis *y,
		  const struct chart_point *points, size_t n, struct buf *out)
{
	double top = frame_top(f) + 8;
	double right = frame_width(f) - FRAME_MARGIN - 6;
	struct scatter s = {.points = points, .n = n, .equal = equal, .plot = {0, top, right, HEIGHT}};
	struct buf body = {0};
	s.numbered = frame_is_narrow(f) && n > LABELS_NARROW;
	int rc = scatter_axes(&s, x, y);
	if (rc < 0)
		return rc;
	s.labels = memory_zeroed(n, sizeof(*s.labels));
	s.frontier = memory_zeroed(n, sizeof(*s.frontier));
	double left = FRAME_MARGIN + axis_label_width(&s.y) + 10 + (y->title ? 18 : 0);
	s.plot = (struct rect){left, top, right - left, HEIGHT};
	axis_place(&s.x, left, right);
	axis_place(&s.y, top + HEIGHT, top);
	axis_draw_y(&s.y, left, right, y->title, &body);
	axis_draw_x(&s.x, top, top + HEIGHT, x->title, &body);
	find_frontier(&s);
	draw_frontier(&s, &body);
	/* Each round moves each label to its best position, while all other labels stay where they are. */
	for (size_t i = 0; i < n * ROUNDS; i++)
		if (shown(&s, i % n))
			place_label(&s, i % n);
	draw_points(&s, &body);
	double bottom = top + HEIGHT + (x->title ? 40 : 24);
	if (s.numbered)
		bottom += draw_key(&s, right - FRAME_MARGIN, bottom, &body);
	frame_finish(f, &body, bottom, out);
	free(s.labels);
	free(s.frontier);
	return 0;
}
