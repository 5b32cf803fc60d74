/* SPDX-License-Identifier: MIT */
/*
 * A report as one HTML file. It needs no network, can be read on phones and on paper, and has a light and a dark mode.
 */
#ifndef SCTRACE_OUT_HTML_H
#define SCTRACE_OUT_HTML_H

struct buf;
struct table;

/*
 * These functions write a page from top to bottom: first html_begin(), then any number of the other functions in any
 * order, then html_end(). All text is escaped.
 */
void html_begin(struct buf *out, const char *title, const char *subtitle);
/* Appends a list of findings. Each line of `text` is one sentence. Appends nothing if `text` is NULL or empty. */
void html_lessons(struct buf *out, const char *heading, const char *text);
/* Like html_lessons(), for warnings, which look different. */
void html_warnings(struct buf *out, const char *heading, const char *text);
/*
 * Appends the table. A click on the title of a column sorts the table by that column. `note` (or NULL) is printed below
 * the table.
 */
void html_table(struct buf *out, const char *heading, const struct table *t, const char *note);
/*
 * The type of functions that draw a chart. Such a function appends one SVG of `width` pixels to `out` (out/chart.h). It
 * returns 0, or -errno if there is nothing to draw; in that case the page does not have this chart. html_figure() calls
 * the function twice: for wide screens and for phones.
 */
typedef int html_draw_fn(void *ctx, int width, struct buf *out);
void html_figure(struct buf *out, html_draw_fn *draw, void *ctx);
/* Ends the page with `footer`, which says how the page was made, such as the command and the date. */
void html_end(struct buf *out, const char *footer);

/* Text in Markdown. */

/* Appends text that Markdown shows as it is. */
void markdown_text(struct buf *out, const char *text);
/* Appends each line of the text with this prefix. */
void markdown_lines(struct buf *out, const char *prefix, const char *text);
/* Appends lines that Markdown shows one below the other, in a font with a fixed width. */
void markdown_block(struct buf *out, const char *lines);

#endif
