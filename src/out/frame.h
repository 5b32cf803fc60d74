/* The parts that all charts share: title, subtitle, legend, note at the bottom. */
#ifndef SCTRACE_OUT_FRAME_H
#define SCTRACE_OUT_FRAME_H

#include "out/chart.h"

#define FRAME_MARGIN 14
#define FRAME_NARROW 560 /* below this width, panels are drawn below each other */

double frame_width(const struct chart_frame *f);
bool frame_is_narrow(const struct chart_frame *f);
/* The top of the drawing area, below title and subtitle. */
double frame_top(const struct chart_frame *f);
/*
 * Writes the complete chart. `body` is what was drawn between frame_top() and `bottom`; frees it. Returns 0 or -ENOMEM.
 */
int frame_finish(const struct chart_frame *f, struct buf *body, double bottom, struct buf *out);
/* Draws a legend starting at (`x`, `y`) and wrapped at `right`. Returns its height, 0 if no name is set. */
double frame_legend(const struct chart_series *series, size_t n, double x, double y, double right, struct buf *out);
/* Writes the tooltip "name: value, value" into `tip`, with the values in their units. */
void frame_tip(struct buf *tip, const char *name, enum chart_unit ux, double x, enum chart_unit uy, double y);

#endif
