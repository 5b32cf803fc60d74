/* Drawing SVG: text, lines and boxes in classes that look right on light and on dark ground. */
#ifndef SCTRACE_OUT_SVG_H
#define SCTRACE_OUT_SVG_H

#include <stddef.h>

struct buf;

#define SVG_COLOURS 8 /* series colours, classes s0 (stroke) and f0 (fill) to s7 and f7 */

/*
 * Opens a picture `width` by `height` user units with its title for screen readers, style sheet and ground.
 * Classes: t text, m muted, h heading, n number inside a mark, l label with a halo; g grid, a axis, w whisker,
 * d dashed mark; sN and fN series N; fNb a paler fill.
 */
void svg_begin(struct buf *out, double width, double height, const char *title);
void svg_end(struct buf *out);
/* Text at its base line, escaped; `anchor` is "start", "middle" or "end". */
void svg_text(struct buf *out, double x, double y, const char *class, const char *anchor, const char *text);
/* The same turned a quarter to the left, for the title of a vertical axis. */
void svg_text_up(struct buf *out, double x, double y, const char *class, const char *text);
void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *class);
/* `tip` (or NULL) is what hovering shows. */
void svg_rect(struct buf *out, double x, double y, double w, double h, const char *class, const char *tip);
void svg_circle(struct buf *out, double x, double y, double r, const char *class, const char *tip);
/* Appends text with what XML reserves escaped, and what is not printable left out. */
void svg_escape(struct buf *out, const char *text);
/* About how wide `text` is at a font of `size` units, on the safe side. */
double svg_text_width(const char *text, double size);
/* Appends `text`, its end replaced by an ellipsis where it would be wider than `width`. */
void svg_cut(struct buf *out, const char *text, double size, double width);
/* "s3" for (s, 3) and "s1" for (s, 9): the class of series `i`, in static storage of `const` strings. */
const char *svg_stroke(size_t i);
const char *svg_fill(size_t i);
const char *svg_bar(size_t i);
const char *svg_pale(size_t i);

#endif
