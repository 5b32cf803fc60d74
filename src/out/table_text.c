/* Prints a table as aligned text. This file chooses the columns that fit; libsmartcols aligns and colours them. */
#include "base/buf.h"
#include "base/memory.h"
#include "out/table_impl.h"
#include "out/width.h"

#include <libsmartcols/libsmartcols.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GAP       "  "
#define GAP_WIDTH 2
#define TEXT_MIN  6  /* the minimum width of a text column that is cut */
#define TAIL_MIN  18 /* the width of a column with COL_TAIL before other columns are left out */

/* The columns of the table that are printed, and their widths. */
struct layout {
	size_t *width; /* width of each column; SIZE_MAX: the column is left out */
	size_t total;
};

static size_t layout_total(const struct table *t, const struct layout *l)
{
	size_t total = 0;
	size_t drawn = 0;
	for (size_t k = 0; k < t->n; k++) {
		if (l->width[k] == SIZE_MAX)
			continue;
		total += l->width[k];
		drawn++;
	}
	return drawn ? total + (drawn - 1) * GAP_WIDTH : 0;
}

/* Returns the width of the widest cell of column `k`. */
static size_t widest_cell(const struct table *t, size_t k)
{
	size_t widest = width_of(t->columns[k].title);
	for (size_t i = 0; i < t->rows.n; i++) {
		size_t w = width_of(table_cell_shown(&t->rows.v[i].cells[k]));
		widest = w > widest ? w : widest;
	}
	return widest;
}

/*
 * Sets the width of each column to that of its widest cell, but at most TAIL_MIN if it has COL_TAIL. Leaves out the
 * columns before `from`, except the first one.
 */
static void layout_measure(const struct table *t, size_t from, struct layout *l)
{
	for (size_t k = 0; k < t->n; k++) {
		l->width[k] = widest_cell(t, k);
		if (t->columns[k].flags & COL_TAIL && l->width[k] > TAIL_MIN)
			l->width[k] = TAIL_MIN;
		if (t->columns[k].flags & COL_DATA_ONLY || (k > 0 && k < from))
			l->width[k] = SIZE_MAX;
	}
}

/* Returns the widest column whose text can still be cut, or t->n if there is none. Numbers are never cut. */
static size_t widest_text(const struct table *t, const struct layout *l)
{
	size_t widest = t->n;
	for (size_t k = 0; k < t->n; k++) {
		if (l->width[k] == SIZE_MAX || l->width[k] <= TEXT_MIN || t->columns[k].flags & COL_RIGHT)
			continue;
		if (widest == t->n || l->width[k] > l->width[widest])
			widest = k;
	}
	return widest;
}

/* Leaves out columns that have `flag`, beginning with the last one, until the others fit into `limit`. */
static void layout_drop(const struct table *t, size_t limit, unsigned flag, struct layout *l)
{
	bool joined = false;
	for (size_t k = t->n; k-- > 0 && (joined || layout_total(t, l) > limit);) {
		if (joined || t->columns[k].flags & flag)
			l->width[k] = SIZE_MAX;
		joined = l->width[k] == SIZE_MAX && t->columns[k].flags & COL_JOINED;
	}
}

/* Returns the total width if all text is cut as far as possible. */
static size_t layout_least(const struct table *t, const struct layout *l)
{
	size_t least = layout_total(t, l);
	for (size_t k = 0; k < t->n; k++)
		if (l->width[k] != SIZE_MAX && l->width[k] > TEXT_MIN && !(t->columns[k].flags & COL_RIGHT))
			least -= l->width[k] - TEXT_MIN;
	return least;
}

/*
 * Tries to make the table at most `limit` columns of the terminal wide. First leaves out columns that may be left out.
 * Then cuts text, but only if the table fits afterwards. The table has the first column and those that begin with
 * `from`.
 */
static void layout_fit(const struct table *t, size_t from, size_t limit, struct layout *l)
{
	layout_measure(t, from, l);
	layout_drop(t, limit, COL_OPTIONAL, l);
	layout_drop(t, limit, COL_SPARE, l);
	layout_drop(t, limit, COL_LAST, l);
	layout_drop(t, limit, COL_NAMED, l);
	layout_drop(t, limit, COL_CONTINUED, l);
	if (from < t->n && t->columns[from].flags & COL_CONTINUED) /* each table has at least one of these columns */
		l->width[from] = widest_cell(t, from);
	for (size_t k = 0; k < t->n; k++)
		if (t->columns[k].flags & COL_TAIL && l->width[k] != SIZE_MAX)
			l->width[k] = widest_cell(t, k);
	while (layout_total(t, l) > limit && layout_least(t, l) <= limit)
		l->width[widest_text(t, l)]--;
	l->total = layout_total(t, l);
}

/* Appends `s`. If it is wider than `width`, appends an ellipsis and the end of `s`. */
static void add_tail(struct buf *out, const char *s, size_t width)
{
	const char *tail = width_of(s) > width ? width_tail(s, width - 1) : s;
	buf_adds(out, tail == s ? "" : "…");
	buf_adds(out, tail);
}

/* Appends `s`. If it is wider than `width`, cuts it and appends an ellipsis. */
static void add_cut(struct buf *out, const char *s, size_t width)
{
	bool fits = width_of(s) <= width;
	buf_add(out, s, fits ? strlen(s) : width_head(s, width - 1));
	buf_adds(out, fits ? "" : "…");
}

static const char *mark_colour(enum table_mark mark)
{
	static const char *const sequences[] = {
		[MARK_NONE] = NULL,       [MARK_DIM] = "\033[2m",  [MARK_BOLD] = "\033[1m",
		[MARK_GOOD] = "\033[32m", [MARK_BAD] = "\033[31m",
	};
	return sequences[mark];
}

/* For the results of libsmartcols, which fails only if it has no memory. */
static void need(bool ok)
{
	if (!ok)
		memory_exhausted();
}

static void add_columns(struct libscols_table *tb, const struct table *t, const struct layout *l)
{
	for (size_t k = 0; k < t->n; k++) {
		if (l->width[k] == SIZE_MAX)
			continue;
		int flags = t->columns[k].flags & COL_RIGHT ? SCOLS_FL_RIGHT : 0;
		struct libscols_column *c = scols_table_new_column(tb, t->columns[k].title, 0, flags);
		need(c && scols_cell_set_color(scols_column_get_header(c), "\033[1m") == 0);
	}
}

static bool has_total(const struct table *t, size_t col)
{
	for (size_t i = 0; i < t->rows.n; i++)
		if (t->rows.v[i].total && *table_cell_shown(&t->rows.v[i].cells[col]))
			return true;
	return false;
}

/* Adds the line of dashes above the totals. Columns without a total have no dashes. */
static void add_rule(struct libscols_table *tb, const struct table *t, const struct layout *l)
{
	bool any = false;
	for (size_t k = 0; k < t->n; k++)
		any |= l->width[k] != SIZE_MAX && t->columns[k].flags & COL_RIGHT && has_total(t, k);
	if (!any)
		return;
	struct libscols_line *line = scols_table_new_line(tb, NULL);
	size_t at = 0;
	for (size_t k = 0; k < t->n; k++) {
		if (l->width[k] == SIZE_MAX)
			continue;
		struct buf dashes = {0};
		if (t->columns[k].flags & COL_RIGHT && has_total(t, k))
			buf_fill(&dashes, '-', l->width[k]);
		need(line && scols_line_set_data(line, at++, buf_str(&dashes)) == 0);
		buf_free(&dashes);
	}
}

/*
 * Breaks `s` at blanks into lines of at most `width` columns, and appends line number `n`. Returns false if there are
 * fewer lines.
 */
static bool add_wrapped(struct buf *out, const char *s, size_t width, size_t n)
{
	for (size_t i = 0; *s; i++) {
		struct buf line = {0};
		size_t used = 0;
		while (*s) {
			size_t len = strspn(s, " ");
			len += strcspn(s + len, " ");
			struct buf word = {0};
			buf_add(&word, s, len);
			size_t w = width_of(buf_str(&word));
			bool fits = used == 0 || used + w <= width;
			if (fits)
				buf_add(&line, s, len);
			buf_free(&word);
			if (!fits)
				break;
			used += w;
			s += len;
		}
		s += strspn(s, " ");
		if (i == n)
			add_cut(out, buf_str(&line), width);
		buf_free(&line);
		if (i == n)
			return true;
	}
	return false;
}

/* Appends the part of a cell that is on line `n` of its row. Returns false if the cell has no such line. */
static bool add_part(struct buf *out, const struct column *col, const char *text, size_t width, size_t n)
{
	if (col->flags & COL_WRAP)
		return add_wrapped(out, text, width, n);
	if (n == 0 && col->flags & COL_TAIL)
		add_tail(out, text, width);
	else if (n == 0)
		add_cut(out, text, width);
	return n == 0;
}

/* Adds line `n` of a row to the table. If no cell has such a line, adds nothing and returns false. */
static bool add_line(struct libscols_table *tb, const struct table *t, const struct layout *l, const struct row *r,
		     size_t n)
{
	struct buf text = {0};
	bool any = n == 0;
	struct libscols_line *line = scols_table_new_line(tb, NULL);
	size_t at = 0;
	for (size_t k = 0; k < t->n; k++) {
		if (l->width[k] == SIZE_MAX)
			continue;
		const struct cell *c = &r->cells[k];
		any |= add_part(&text, &t->columns[k], table_cell_shown(c), l->width[k], n);
		need(line && scols_line_set_data(line, at, buf_str(&text)) == 0);
		buf_free(&text);
		const char *colour = mark_colour(c->mark != MARK_NONE ? c->mark : r->mark);
		need(!colour || scols_cell_set_color(scols_line_get_cell(line, at), colour) == 0);
		at++;
	}
	if (!any)
		scols_table_remove_line(tb, line);
	return any;
}

static void fill(struct libscols_table *tb, const struct table *t, const struct layout *l)
{
	bool ruled = false;
	add_columns(tb, t, l);
	for (size_t i = 0; i < t->rows.n; i++) {
		if (t->rows.v[i].total && !ruled)
			add_rule(tb, t, l);
		ruled |= t->rows.v[i].total;
		for (size_t n = 0; add_line(tb, t, l, &t->rows.v[i], n); n++)
			;
	}
}

/* Appends the lines of `text`, each after `indent`. Removes blanks at the ends of lines, which come from padding. */
static void add_lines(struct buf *out, const char *text, const char *indent)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		size_t used = len;
		while (used && text[used - 1] == ' ')
			used--;
		if (used)
			buf_adds(out, indent ? indent : "");
		buf_add(out, text, used);
		buf_addc(out, '\n');
		text += len + (text[len] == '\n');
	}
}

static void print(const struct table *t, const struct table_look *look, const struct layout *l, struct buf *out)
{
	struct libscols_table *tb = scols_new_table();
	char *text = NULL;
	need(tb != NULL);
	fill(tb, t, l);
	need(scols_table_set_column_separator(tb, GAP) == 0);
	scols_table_enable_colors(tb, look->colour);
	scols_table_enable_noencoding(tb, 1); /* the cells have already been escaped */
	scols_table_set_termforce(tb, SCOLS_TERMFORCE_ALWAYS);
	scols_table_set_termwidth(tb, l->total);
	/* If memory runs out, libsmartcols may return success without any text. */
	need(scols_print_table_to_string(tb, &text) == 0 && text);
	add_lines(out, text, look->indent);
	free(text);
	scols_unref_table(tb);
}

/* Names the columns that the user named, but for which the table has no room. */
static void say_left_out(const struct table *t, const struct table_look *look, const struct layout *l, struct buf *out)
{
	struct buf text = {0};
	for (size_t k = 0; k < t->n; k++)
		if (t->columns[k].flags & COL_NAMED && !(t->columns[k].flags & COL_DATA_ONLY) &&
		    l->width[k] == SIZE_MAX)
			buf_addf(&text, "%s%s", text.len ? ", " : "not shown, because the table would be too wide: ",
				 t->columns[k].title);
	if (text.len)
		buf_add_wrapped(out, buf_str(&text), look->indent ? (int)strlen(look->indent) : 0, 2, look->width);
	buf_free(&text);
}

/* Returns the column with which the next of the tables begins, or t->n if there is none. */
static size_t continued_at(const struct table *t, size_t from, const struct layout *l)
{
	while (from < t->n && !(t->columns[from].flags & COL_CONTINUED && l->width[from] == SIZE_MAX))
		from++;
	return from;
}

void table_render_text(const struct table *t, const struct table_look *look, struct buf *out)
{
	struct layout l = {.width = memory_zeroed(t->n, sizeof(*l.width))};
	locale_t before = width_begin();
	/* Without a UTF-8 locale, libsmartcols would not terminate if the text is UTF-8. */
	need(before != (locale_t)0);
	size_t indent = look->indent ? strlen(look->indent) : 0;
	size_t limit = look->width > 0 && (size_t)look->width > indent ? (size_t)look->width - indent : SIZE_MAX;
	layout_fit(t, 1, limit, &l);
	if (l.total)
		print(t, look, &l, out);
	for (size_t from = 1; (from = continued_at(t, from, &l)) < t->n;) {
		layout_fit(t, from, limit, &l);
		buf_addc(out, '\n');
		print(t, look, &l, out);
	}
	say_left_out(t, look, &l, out);
	width_end(before);
	free(l.width);
}
