/* What all pictures have around them: title, subtitle, legend, note at the foot. */
#ifndef SCTRACE_OUT_FRAME_H
#define SCTRACE_OUT_FRAME_H

#include "out/chart.h"

#define FRAME_MARGIN 14
#define FRAME_NARROW 560 /* below this width panels stand below each other */

double frame_width(const struct chart_frame *f);
bool frame_is_narrow(const struct chart_frame *f);
/* Where the drawing may begin, below title and subtitle. */
double frame_top(const struct chart_frame *f);
/*
 * Writes the whole picture: `body` is what was drawn between frame_top() and `bottom`; it is freed. Returns 0 or -ENOMEM.
 */
int frame_finish(const struct chart_frame *f, struct buf *body, double bottom, struct buf *out);
/* Draws a legend from (`x`, `y`) on, wrapped at `right`; returns its height, 0 where no name is set. */
double frame_legend(const struct chart_series *series, size_t n, double x, double y, double right, struct buf *out);
/* "name: value, value": a tip of values in their units; in static-free storage of `tip`. */
void frame_tip(struct buf *tip, const char *name, enum chart_unit ux, double x, enum chart_unit uy, double y);

#endif
