/* SPDX-License-Identifier: MIT */
#include "out/table_text.h"

#include "base/buf.h"
#include "base/memory.h"
#include "out/width.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Prints a table as aligned text: chooses the columns that fit, aligns them, and colours them. */
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
		[MARK_NONE] = "",         [MARK_DIM] = "\033[2m",  [MARK_BOLD] = "\033[1m",
		[MARK_GOOD] = "\033[32m", [MARK_BAD] = "\033[31m",
	};
	return sequences[mark];
}

/* The text of a table while it is made, line by line. */
struct printer {
	const struct table *t;
	const struct table_look *look;
	const struct layout *l;
	struct buf *out;
	size_t blanks; /* blanks that the next text of this line needs before it */
	bool begun;    /* the line contains text */
};

/* Appends a cell of column `k` to the line. A line has no blanks at its end. */
static void add_cell(struct printer *p, size_t k, const char *text, enum table_mark mark)
{
	size_t used = width_of(text);
	size_t pad = used < p->l->width[k] ? p->l->width[k] - used : 0;
	bool right = p->t->columns[k].flags & COL_RIGHT;
	const char *colour = p->look->colour ? mark_colour(mark) : "";
	if (!*text) {
		p->blanks += pad + GAP_WIDTH;
		return;
	}
	if (!p->begun)
		buf_adds(p->out, p->look->indent ? p->look->indent : "");
	buf_fill(p->out, ' ', p->blanks + (right ? pad : 0));
	buf_addf(p->out, "%s%s%s", colour, text, *colour ? "\033[0m" : "");
	p->blanks = GAP_WIDTH + (right ? 0 : pad);
	p->begun = true;
}

static void end_line(struct printer *p)
{
	buf_addc(p->out, '\n');
	p->blanks = 0;
	p->begun = false;
}

static void add_titles(struct printer *p)
{
	for (size_t k = 0; k < p->t->n; k++)
		if (p->l->width[k] != SIZE_MAX)
			add_cell(p, k, p->t->columns[k].title, MARK_BOLD);
	end_line(p);
}

static bool has_total(const struct table *t, size_t col)
{
	for (size_t i = 0; i < t->rows.n; i++)
		if (t->rows.v[i].total && *table_cell_shown(&t->rows.v[i].cells[col]))
			return true;
	return false;
}

/* Adds the line of dashes above the totals. Columns without a total have no dashes. */
static void add_rule(struct printer *p)
{
	bool any = false;
	for (size_t k = 0; k < p->t->n; k++) {
		auto_buf dashes = {0};
		if (p->l->width[k] == SIZE_MAX)
			continue;
		if (p->t->columns[k].flags & COL_RIGHT && has_total(p->t, k))
			buf_fill(&dashes, '-', p->l->width[k]);
		add_cell(p, k, buf_str(&dashes), MARK_NONE);
		any |= dashes.len > 0;
	}
	if (any)
		end_line(p);
	p->blanks = 0;
}

/*
 * Breaks `s` at blanks into lines of at most `width` columns, and appends line number `n`. Returns false if there are
 * fewer lines.
 */
static bool add_wrapped(struct buf *out, const char *s, size_t width, size_t n)
{
	for (size_t i = 0; *s; i++) {
		auto_buf line = {0};
		size_t used = 0;
		while (*s) {
			size_t len = strspn(s, " ");
			len += strcspn(s + len, " ");
			auto_buf word = {0};
			buf_add(&word, s, len);
			size_t w = width_of(buf_str(&word));
			bool fits = used == 0 || used + w <= width;
			if (fits)
				buf_add(&line, s, len);
			if (!fits)
				break;
			used += w;
			s += len;
		}
		s += strspn(s, " ");
		if (i == n)
			add_cut(out, buf_str(&line), width);
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

/* Adds line `n` of a row. If no cell has such a line, adds nothing and returns false. */
static bool add_line(struct printer *p, const struct row *r, size_t n)
{
	bool any = n == 0;
	for (size_t k = 0; k < p->t->n; k++) {
		auto_buf text = {0};
		const struct cell *c = &r->cells[k];
		if (p->l->width[k] == SIZE_MAX)
			continue;
		any |= add_part(&text, &p->t->columns[k], table_cell_shown(c), p->l->width[k], n);
		add_cell(p, k, buf_str(&text), c->mark != MARK_NONE ? c->mark : r->mark);
	}
	if (any)
		end_line(p);
	p->blanks = 0;
	return any;
}

/* Returns true if a column after the first one has text in this row. */
static bool says_something(const struct table *t, const struct row *r, const struct layout *l)
{
	for (size_t k = 1; k < t->n; k++)
		if (l->width[k] != SIZE_MAX && *table_cell_shown(&r->cells[k]))
			return true;
	return false;
}

/* Prints the table. `further`: it continues another table, so rows that would only repeat a name are left out. */
static void print(const struct table *t, const struct table_look *look, const struct layout *l, bool further,
		  struct buf *out)
{
	struct printer p = {.t = t, .look = look, .l = l, .out = out};
	bool ruled = false;
	add_titles(&p);
	for (size_t i = 0; i < t->rows.n; i++) {
		if (further && !says_something(t, &t->rows.v[i], l))
			continue;
		if (t->rows.v[i].total && !ruled)
			add_rule(&p);
		ruled |= t->rows.v[i].total;
		for (size_t n = 0; add_line(&p, &t->rows.v[i], n); n++)
			;
	}
}

/* Names the columns that the user named, but for which the table has no room. */
static void say_left_out(const struct table *t, const struct table_look *look, const struct layout *l, struct buf *out)
{
	auto_buf text = {0};
	for (size_t k = 0; k < t->n; k++)
		if (t->columns[k].flags & COL_NAMED && !(t->columns[k].flags & COL_DATA_ONLY) &&
		    l->width[k] == SIZE_MAX)
			buf_addf(&text, "%s%s", text.len ? ", " : "not shown, because the table would be too wide: ",
				 t->columns[k].title);
	if (text.len)
		buf_add_wrapped(out, buf_str(&text), look->indent ? (int)strlen(look->indent) : 0, 2, look->width);
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
	size_t indent = look->indent ? strlen(look->indent) : 0;
	size_t limit = look->width > 0 && (size_t)look->width > indent ? (size_t)look->width - indent : SIZE_MAX;
	layout_fit(t, 1, limit, &l);
	if (l.total)
		print(t, look, &l, false, out);
	for (size_t from = 1; (from = continued_at(t, from, &l)) < t->n;) {
		layout_fit(t, from, limit, &l);
		buf_addc(out, '\n');
		print(t, look, &l, true, out);
	}
	say_left_out(t, look, &l, out);
	free(l.width);
}
