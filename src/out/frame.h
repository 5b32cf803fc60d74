/* The parts that all charts have in common: title, subtitle, legend, and the note below the chart. */
#ifndef SCTRACE_OUT_FRAME_H
#define SCTRACE_OUT_FRAME_H

#include "out/chart.h"

#define FRAME_MARGIN 14
#define FRAME_NARROW 560 /* pixels; in narrower charts, panels are drawn below each other */

/* Returns the width of the chart in pixels. */
double frame_width(const struct chart_frame *f);
/* Returns true if the chart is narrower than FRAME_NARROW. */
bool frame_is_narrow(const struct chart_frame *f);
/* Returns the top of the drawing area, which is below the title and the subtitle. */
double frame_top(const struct chart_frame *f);
/*
 * Writes the complete chart. `body` contains what the caller has drawn between frame_top() and `bottom`, and is freed.
 */
void frame_finish(const struct chart_frame *f, struct buf *body, double bottom, struct buf *out);
/*
 * Draws a legend that starts at the left margin and at `y`, and is wrapped at `right`. Returns its height, or 0 if no
 * series has a name.
 */
double frame_legend(const struct chart_series *series, size_t n, double y, double right, struct buf *out);
/* Writes "name: x, y" into `tip`, the text of a tooltip. The values have units. */
void frame_tip(struct buf *tip, const char *name, enum chart_unit ux, double x, enum chart_unit uy, double y);

#endif
