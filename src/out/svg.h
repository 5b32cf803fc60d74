/* SPDX-License-Identifier: MIT */
/* Draws SVG: text, lines and boxes. The style sheet gives each class colours that suit light and dark backgrounds. */
#ifndef SCTRACE_OUT_SVG_H
#define SCTRACE_OUT_SVG_H

#include <stddef.h>

struct buf;

#define SVG_COLOURS 8 /* number of colours for series: classes s0 to s7 for strokes, and f0 to f7 for fills */

/*
 * Begins a picture of `width` by `height` pixels with a style sheet and a background. Screen readers read `title`. The
 * classes are, for text: t text, m muted, sm small, h heading (together with ht: large), n number inside a mark, v value
 * beside a mark, l label with a halo; for lines: g grid (gm at minor ticks), a axis, w whisker, d dashed line, ln line of
 * a series; bx outline of a box; sN and fN stroke and fill of series N, and, together with fN, p and b for paler fills.
 */
void svg_begin(struct buf *out, double width, double height, const char *title);
void svg_end(struct buf *out);
/* Draws text, which is escaped. `y` is its base line. `anchor` is "start", "middle" or "end". */
void svg_text(struct buf *out, double x, double y, const char *class, const char *anchor, const char *text);
/* Draws the title of a vertical axis: muted text, centred at `y`, and rotated to the left by 90 degrees. */
void svg_text_up(struct buf *out, double x, double y, const char *text);
void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *class);
/* These draw a shape. `tip` is the text of its tooltip, or NULL. */
void svg_rect(struct buf *out, double x, double y, double w, double h, const char *class, const char *tip);
void svg_circle(struct buf *out, double x, double y, double r, const char *class, const char *tip);
/* Appends text with the reserved characters of XML escaped. Leaves out characters that cannot be printed. */
void svg_escape(struct buf *out, const char *text);
/* Returns the approximate width of `text` at font size `size`. It is never smaller than the real width. */
double svg_text_width(const char *text, double size);
/* Appends `text` at font size `size`. If it is wider than `width`, cuts it and appends an ellipsis. */
void svg_cut(struct buf *out, const char *text, double size, double width);
/*
 * Returns the classes that svg_begin() defines for series `i`, as a static string: the stroke of a line, the fill of a
 * point, or the paler fills of a bar (SVG_BAR), and of a box or a band (SVG_PALE). Because there are 8 colours, series
 * 9 has the classes of series 1.
 */
enum svg_paint { SVG_STROKE, SVG_FILL, SVG_BAR, SVG_PALE };
const char *svg_class(enum svg_paint paint, size_t i);

#endif
