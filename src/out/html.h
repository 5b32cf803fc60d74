/* A report as one HTML file: works without network, on phones and on paper, in light and dark mode. */
#ifndef SCTRACE_OUT_HTML_H
#define SCTRACE_OUT_HTML_H

#include <stddef.h>

struct buf;
struct table;

/*
 * A page is written from top to bottom: html_begin(), then any parts in any order, then html_end(). All text is
 * escaped. If memory runs out, out->failed is set.
 */
void html_begin(struct buf *out, const char *title, const char *subtitle);
/* `text` contains findings, one sentence a line. Appends nothing if it is NULL or empty. */
void html_lessons(struct buf *out, const char *heading, const char *text);
/* The same for warnings, set apart. */
void html_warnings(struct buf *out, const char *heading, const char *text);
/* The table, which a click on a column's title sorts; `note` (or NULL) follows it. */
void html_table(struct buf *out, const char *heading, const struct table *t, const char *note);
/*
 * Draws a chart, once wide and once for phones: appends one SVG of `width` to `out` (out/chart.h) and returns 0, or
 * -errno. Then the chart is left out silently, because there was nothing to draw.
 */
typedef int html_draw_fn(void *ctx, int width, struct buf *out);
void html_figure(struct buf *out, html_draw_fn *draw, void *ctx);
/* `footer` says how the page was made, such as the command and the date. */
void html_end(struct buf *out, const char *footer);

#endif
