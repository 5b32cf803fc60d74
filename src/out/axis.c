/* SPDX-License-Identifier: MIT */
#include "out/axis.h"

#include "base/buf.h"
#include "out/svg.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define AUTO_LOG_RATIO 10

void axis_range_add(struct axis_range *r, double v)
{
	if (!isfinite(v))
		return;
	r->low = fmin(r->low, v);
	r->high = fmax(r->high, v);
	if (v > 0)
		r->least_above_zero = fmin(r->least_above_zero, v);
}

/*
 * A unit with its prefix, such as ms. Each table is in descending order, and its last unit is also used for all smaller
 * values.
 */
struct prefix {
	double least;
	const char *name;
};
static const struct prefix seconds[] = {{1, " s"}, {1e-3, " ms"}, {1e-6, " µs"}, {1e-9, " ns"}, {0, NULL}};
static const struct prefix bytes[] = {{0x1p40, " TiB"}, {0x1p30, " GiB"}, {0x1p20, " MiB"},
				      {0x1p10, " KiB"}, {1, " B"},        {0, NULL}};
static const struct prefix counts[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {0, NULL}};
static const struct prefix percents[] = {{0.01, " %"}, {0, NULL}};
static const struct prefix plain[] = {{1, ""}, {0, NULL}};
static const struct prefix *const prefixes[] = {
	[UNIT_NONE] = plain,   [UNIT_SECONDS] = seconds,  [UNIT_BYTES] = bytes,
	[UNIT_COUNT] = counts, [UNIT_PERCENT] = percents,
};

/* Returns the prefix in which `v` is shown: the largest one that `v` reaches, or else the smallest one. */
static const struct prefix *prefix_for(enum chart_unit unit, double v)
{
	const struct prefix *p = prefixes[unit];
	while (p[1].name && fabs(v) < p->least * 0.9995)
		p++;
	return p;
}

void axis_format(struct buf *out, enum chart_unit unit, double v)
{
	const struct prefix *p = prefix_for(unit, v);
	double x = v / p->least;
	int digits = fabs(x) >= 99.95 || x == 0 ? 0 : fabs(x) >= 9.995 ? 1 : 2;
	char text[40];
	snprintf(text, sizeof(text), "%.*f", digits, x);
	/* Counts and bytes are integers, so "4.00 KiB" becomes "4 KiB". */
	if ((unit == UNIT_COUNT || unit == UNIT_BYTES) && strchr(text, '.')) {
		size_t len = strlen(text);
		while (text[len - 1] == '0')
			len--;
		len -= text[len - 1] == '.';
		text[len] = '\0';
	}
	buf_adds(out, text);
	buf_adds(out, v == 0 && unit != UNIT_PERCENT ? "" : p->name);
}

/*
 * Adds a tick. Its label is the value in units with prefix `p`, with as few digits as possible. If `p` is NULL, the
 * tick has no label.
 */
static void add_tick(struct axis *a, double v, const struct prefix *p)
{
	if (a->nticks == AXIS_TICKS_MAX)
		return;
	struct axis_tick *t = &a->ticks[a->nticks++];
	t->value = v;
	t->label[0] = '\0';
	if (p)
		snprintf(t->label, sizeof(t->label), "%.6g%s", v == 0 ? 0 : v / p->least, v == 0 ? "" : p->name);
}

/* Returns the value nearest to `v` that is 1, 2 or 5 times a power of ten. */
static double nice_step(double v)
{
	double power = pow(10, floor(log10(v)));
	double m = v / power;
	return power * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

static void linear_ticks(struct axis *a, size_t wanted)
{
	const struct prefix *p = prefix_for(a->unit, fmax(fabs(a->low), fabs(a->high)));
	double step = nice_step((a->high - a->low) / p->least / (double)wanted) * p->least;
	if (a->unit == UNIT_COUNT && step < 1)
		step = 1;
	for (double i = ceil(a->low / step - 1e-9); i * step <= a->high * (1 + 1e-9) && a->nticks < AXIS_TICKS_MAX; i++)
		add_tick(a, i * step, p);
}

/*
 * Adds ticks at powers of ten. If these are too many for labels, only every second (third, ...) tick has a label. If
 * the range contains at most two powers of ten, the ticks at 2 and 5 times a power have labels as well. On a short
 * range, the other multiples have ticks without labels.
 */
static void decade_ticks(struct axis *a, size_t wanted)
{
	int first = (int)ceil(log10(a->low) - 1e-9);
	int last = (int)floor(log10(a->high) + 1e-9);
	int every = (int)ceil((double)(last - first + 1) / (double)wanted);
	bool few = last - first < 2;
	for (int e = first - 1; e <= last; e++)
		for (int m = 1; m <= 9; m++) {
			double v = m * pow(10, e);
			bool labelled = m == 1 ? (e - first) % (every > 0 ? every : 1) == 0 : few && (m == 2 || m == 5);
			if (a->unit == UNIT_COUNT && v < 1)
				continue; /* counts have no fractions */
			if (v >= a->low * (1 - 1e-9) && v <= a->high * (1 + 1e-9) &&
			    (labelled || (last - first < 4 && wanted > 3)))
				add_tick(a, v, labelled ? prefix_for(a->unit, v) : NULL);
		}
}

/* Adds ticks at powers of two, which are the usual sizes of buffers and files. */
static void binary_ticks(struct axis *a, size_t wanted)
{
	static const int steps[] = {1, 2, 5, 10, 20};
	int first = (int)ceil(log2(a->low) - 1e-9);
	int last = (int)floor(log2(a->high) + 1e-9);
	size_t s = 0;
	while (s + 1 < sizeof(steps) / sizeof(*steps) && (size_t)((last - first) / steps[s] + 1) > wanted)
		s++;
	for (int e = first; e <= last; e++)
		if (e % steps[s] == 0)
			add_tick(a, ldexp(1, e), prefix_for(UNIT_BYTES, ldexp(1, e)));
}

static size_t labelled_ticks(const struct axis *a)
{
	size_t n = 0;
	for (size_t i = 0; i < a->nticks; i++)
		n += a->ticks[i].label[0] != '\0';
	return n;
}

static void set_range(struct axis *a, const struct axis_range *r, bool zero)
{
	if (a->log) {
		double span = log10(r->high / r->least_above_zero);
		double pad = pow(10, fmax(span * 0.05, span < 0.5 ? 0.15 : 0.02));
		a->low = r->least_above_zero / pad;
		a->high = r->high * pad;
		return;
	}
	a->low = zero && r->low > 0 ? 0 : r->low;
	a->high = zero && r->high < 0 ? 0 : r->high;
	double span = a->high - a->low;
	if (span <= 0)
		span = a->high != 0 ? fabs(a->high) : 1;
	if (!zero || a->low < 0)
		a->low -= span * 0.05;
	a->high += span * 0.05;
}

int axis_init(struct axis *a, const struct chart_axis *spec, const struct axis_range *r, bool zero, size_t ticks)
{
	*a = (struct axis){.unit = spec->unit};
	bool wide = r->low > 0 && r->high > r->low * AUTO_LOG_RATIO;
	a->log = spec->scale == SCALE_LOG || (spec->scale == SCALE_AUTO && wide);
	if (r->low > r->high || (a->log && !isfinite(r->least_above_zero)))
		return -EINVAL;
	set_range(a, r, zero);
	if (a->log)
		a->unit == UNIT_BYTES ? binary_ticks(a, ticks) : decade_ticks(a, ticks);
	if (!a->log || (labelled_ticks(a) < 2 && a->high < a->low * 10)) {
		a->nticks = 0;
		linear_ticks(a, ticks);
	}
	return 0;
}

void axis_place(struct axis *a, double from, double to)
{
	a->from = from;
	a->to = to;
}

bool axis_shows(const struct axis *a, double v)
{
	return isfinite(v) && (!a->log || v > 0);
}

double axis_at(const struct axis *a, double v)
{
	double part;
	if (a->log)
		part = v > 0 ? log(v / a->low) / log(a->high / a->low) : 0;
	else
		part = (v - a->low) / (a->high - a->low);
	part = fmin(fmax(part, -0.02), 1.02);
	return a->from + part * (a->to - a->from);
}

double axis_label_width(const struct axis *a)
{
	double widest = 0;
	for (size_t i = 0; i < a->nticks; i++)
		widest = fmax(widest, svg_text_width(a->ticks[i].label, 12));
	return widest;
}

/* Returns the smallest n so that the labels of every n-th tick that has a label do not touch each other. */
static size_t label_stride(const struct axis *a)
{
	for (size_t stride = 1;; stride++) {
		double end = -INFINITY; /* where the previous label ends */
		size_t nth = 0;
		bool touch = false;
		for (size_t i = 0; i < a->nticks; i++) {
			if (!a->ticks[i].label[0] || nth++ % stride != 0)
				continue;
			double x = axis_at(a, a->ticks[i].value);
			double half = svg_text_width(a->ticks[i].label, 12) / 2;
			touch |= x - half < end + 6;
			end = x + half;
		}
		if (!touch)
			return stride;
	}
}

void axis_draw_x(const struct axis *a, double top, double bottom, const char *title, struct buf *out)
{
	size_t stride = label_stride(a);
	size_t nth = 0;
	for (size_t i = 0; i < a->nticks; i++) {
		const struct axis_tick *t = &a->ticks[i];
		double x = axis_at(a, t->value);
		svg_line(out, x, top, x, bottom, t->label[0] ? "g" : "gm");
		if (t->label[0] && nth++ % stride == 0)
			svg_text(out, x, bottom + 16, "m", "middle", t->label);
	}
	svg_line(out, a->from, bottom, a->to, bottom, "a");
	if (title)
		svg_text(out, (a->from + a->to) / 2, bottom + 34, "m", "middle", title);
}

void axis_draw_y(const struct axis *a, double left, double right, const char *title, struct buf *out)
{
	for (size_t i = 0; i < a->nticks; i++) {
		const struct axis_tick *t = &a->ticks[i];
		double y = axis_at(a, t->value);
		svg_line(out, left, y, right, y, t->label[0] ? "g" : "gm");
		if (t->label[0])
			svg_text(out, left - 7, y + 4, "m", "end", t->label);
	}
	if (title)
		svg_text_up(out, left - axis_label_width(a) - 16, (a->from + a->to) / 2, title);
}

#define LINE_HEIGHT 16

double frame_width(const struct chart_frame *f)
{
	return f->width > 0 ? f->width : CHART_WIDE;
}

bool frame_is_narrow(const struct chart_frame *f)
{
	return frame_width(f) < FRAME_NARROW;
}

/*
 * Draws `text` in lines that are at most `width` wide, starting at `y`. If `out` is NULL, only computes the height.
 * Returns the height.
 */
static double wrapped(const char *text, double width, double size, double y, const char *class, struct buf *out)
{
	double height = 0;
	while (text && *text) {
		size_t end = 0; /* end of the part of the text that fits into the line */
		for (size_t i = 1;; i++) {
			if (text[i] != ' ' && text[i] != '\0')
				continue;
			auto_buf part = {0};
			buf_add(&part, text, i);
			bool fits = svg_text_width(buf_str(&part), size) <= width;
			if (fits || !end)
				end = i;
			if (!fits || text[i] == '\0')
				break;
		}
		auto_buf line = {0};
		buf_add(&line, text, end);
		if (out)
			svg_text(out, FRAME_MARGIN, y + height, class, "start", buf_str(&line));
		height += size * 1.35;
		text += end + strspn(text + end, " ");
	}
	return height;
}

/*
 * Draws the title and the subtitle. If `out` is NULL, only computes their height. Returns the y coordinate of the
 * bottom of the subtitle.
 */
static double head(const struct chart_frame *f, struct buf *out)
{
	double width = frame_width(f) - 2 * FRAME_MARGIN;
	double y = FRAME_MARGIN + 13;
	y += wrapped(f->title, width * 0.92, 16, y, "h ht", out); /* bold text is wider than svg_text_width() says */
	y += wrapped(f->subtitle, width, 12, y - 2, "m", out);
	return y - 4;
}

double frame_top(const struct chart_frame *f)
{
	return head(f, NULL);
}

void frame_finish(const struct chart_frame *f, struct buf *body, double bottom, struct buf *out)
{
	double width = frame_width(f) - 2 * FRAME_MARGIN;
	double note = wrapped(f->note, width, 12, 0, "m", NULL);
	svg_begin(out, frame_width(f), bottom + (note > 0 ? note + 8 : 0) + FRAME_MARGIN, f->title ? f->title : "");
	head(f, out);
	buf_add(out, buf_str(body), body->len);
	wrapped(f->note, width, 12, bottom + 16, "m", out);
	svg_end(out);
	buf_free(body);
}

double frame_legend(const struct chart_series *series, size_t n, double y, double right, struct buf *out)
{
	double x = FRAME_MARGIN;
	double height = 0;
	for (size_t i = 0; i < n; i++) {
		if (!series[i].name)
			continue;
		double width = 22 + svg_text_width(series[i].name, 12) + 14;
		if (height == 0)
			height = LINE_HEIGHT + 4;
		if (x > FRAME_MARGIN && x + width > right) {
			x = FRAME_MARGIN;
			y += LINE_HEIGHT;
			height += LINE_HEIGHT;
		}
		svg_rect(out, x, y + 4, 14, 4, svg_class(SVG_FILL, i), NULL);
		svg_text(out, x + 20, y + 11, "t", "start", series[i].name);
		x += width;
	}
	return height;
}

void frame_tip(struct buf *tip, const char *name, enum chart_unit ux, double x, enum chart_unit uy, double y)
{
	buf_clear(tip);
	if (name)
		buf_addf(tip, "%s: ", name);
	axis_format(tip, ux, x);
	buf_adds(tip, ", ");
	axis_format(tip, uy, y);
}
