#include "out/frame.h"

#include "base/buf.h"
#include "out/axis.h"
#include "out/svg.h"

#include <string.h>

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
			struct buf part = {0};
			buf_add(&part, text, i);
			bool fits = svg_text_width(buf_str(&part), size) <= width;
			buf_free(&part);
			if (fits || !end)
				end = i;
			if (!fits || text[i] == '\0')
				break;
		}
		struct buf line = {0};
		buf_add(&line, text, end);
		if (out)
			svg_text(out, FRAME_MARGIN, y + height, class, "start", buf_str(&line));
		buf_free(&line);
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
