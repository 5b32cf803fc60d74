/* Draws SVG: text, lines and boxes with classes that suit light and dark backgrounds. */
#ifndef SCTRACE_OUT_SVG_H
#define SCTRACE_OUT_SVG_H

#include <stddef.h>

struct buf;

#define SVG_COLOURS 8 /* colours of series: classes s0 (stroke) and f0 (fill) to s7 and f7 */

/*
 * Opens a picture of `width` by `height` user units, with a title for screen readers, a style sheet and a background.
 * Classes: t text, m muted, h heading, n number inside a mark, l label with a halo; g grid, a axis, w whisker, d dashed
 * mark; sN and fN series N; fNb a paler fill.
 */
void svg_begin(struct buf *out, double width, double height, const char *title);
void svg_end(struct buf *out);
/* Draws text on its base line, escaped; `anchor` is "start", "middle" or "end". */
void svg_text(struct buf *out, double x, double y, const char *class, const char *anchor, const char *text);
/* The same, rotated by 90 degrees to the left, for the title of a vertical axis. */
void svg_text_up(struct buf *out, double x, double y, const char *class, const char *text);
void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *class);
/* `tip` (or NULL) is a tooltip. */
void svg_rect(struct buf *out, double x, double y, double w, double h, const char *class, const char *tip);
void svg_circle(struct buf *out, double x, double y, double r, const char *class, const char *tip);
/* Appends text with XML's reserved characters escaped and unprintable ones left out. */
void svg_escape(struct buf *out, const char *text);
/* The approximate width of `text` at font size `size`, never too small. */
double svg_text_width(const char *text, double size);
/* Appends `text`, cut and with an ellipsis if it would be wider than `width`. */
void svg_cut(struct buf *out, const char *text, double size, double width);
/* The stroke class of series `i`: "s3" for 3, "s1" for 9. A static string. */
const char *svg_stroke(size_t i);
const char *svg_fill(size_t i);
const char *svg_bar(size_t i);
const char *svg_pale(size_t i);

#endif
