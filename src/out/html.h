/* A report as one HTML file: no network, readable on a phone and on paper, light and dark. */
#ifndef SCTRACE_OUT_HTML_H
#define SCTRACE_OUT_HTML_H

#include <stddef.h>

struct buf;
struct table;

/*
 * A page is written from top to bottom: html_begin(), any of the parts in any order, html_end(). All text is escaped.
 * Memory that ran out shows in out->failed.
 */
void html_begin(struct buf *out, const char *title, const char *subtitle);
/* `text` in sentences, one a line: what there is to see. Nothing where it is NULL or empty. */
void html_lessons(struct buf *out, const char *heading, const char *text);
/* The same as warnings, set off. */
void html_warnings(struct buf *out, const char *heading, const char *text);
/* The table, sorted by a click on a column's title; `note` (or NULL) below. */
void html_table(struct buf *out, const char *heading, const struct table *t, const char *note);
/*
 * A picture, drawn twice, wide and for phones: `draw` appends one SVG of `width` to `out` (out/chart.h) and returns 0, or
 * -errno: then the picture is left out, silently, for there was nothing to draw.
 */
typedef int html_draw_fn(void *ctx, int width, struct buf *out);
void html_figure(struct buf *out, html_draw_fn *draw, void *ctx);
/* `footer`: how it was made, e.g. the command and the date. */
void html_end(struct buf *out, const char *footer);

#endif
