/* SPDX-License-Identifier: MIT */
#include "out/table.h"

#include "base/buf.h"
#include "base/escape.h"
#include "base/memory.h"
#include "base/size.h"
#include "out/svg.h"
#include "out/table_text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool for_programs(const struct column *c)
{
	return !(c->flags & (COL_TEXT_ONLY | COL_ALIGNED));
}

static bool key_is_taken(const struct table *t, size_t before, const char *key)
{
	for (size_t k = 0; k < before; k++)
		if (for_programs(&t->columns[k]) && strcmp(t->columns[k].key, key) == 0)
			return true;
	return false;
}

/*
 * Gives a column another key if a column before it has the same one. Keys may be names that users chose, such as those
 * of metrics, and a member of a JSON object would replace the other one.
 */
static void make_unique(struct table *t, size_t k)
{
	auto_buf key = {0};
	const char *given = t->columns[k].key;
	buf_adds(&key, given);
	for (int i = 2; for_programs(&t->columns[k]) && key_is_taken(t, k, buf_str(&key)); i++) {
		buf_clear(&key);
		buf_addf(&key, "%s_%d", given, i);
	}
	if (strcmp(buf_str(&key), given) != 0) {
		t->columns[k].key = memory_copy(buf_str(&key));
		vec_push(&t->keys, (char *)t->columns[k].key);
	}
}

struct table *table_new(const struct column *columns, size_t n)
{
	struct table *t = memory_zeroed(1, sizeof(*t));
	t->columns = memory_zeroed(n, sizeof(*columns));
	memcpy(t->columns, columns, n * sizeof(*columns));
	t->n = n;
	for (size_t k = 0; k < n; k++)
		make_unique(t, k);
	return t;
}

static void cell_clear(struct cell *c)
{
	free(c->text);
	free(c->shown);
	*c = (struct cell){.mark = c->mark};
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->rows.n; i++) {
		for (size_t k = 0; k < t->n; k++)
			cell_clear(&t->rows.v[i].cells[k]);
		free(t->rows.v[i].cells);
	}
	for (size_t i = 0; i < t->keys.n; i++)
		free(t->keys.v[i]);
	vec_free(&t->keys);
	vec_free(&t->rows);
	free(t->columns);
	free(t);
}

void table_row(struct table *t)
{
	struct row r = {.cells = memory_zeroed(t->n, sizeof(*r.cells))};
	vec_push(&t->rows, r);
}

void table_total(struct table *t)
{
	table_row(t);
	t->rows.v[t->rows.n - 1].total = true;
}

/* Returns the cell of the current row in column `col`, after emptying it. Returns NULL if there is no such cell. */
static struct cell *cell_at(struct table *t, size_t col)
{
	if (!t->rows.n || col >= t->n)
		return NULL;
	struct cell *c = &t->rows.v[t->rows.n - 1].cells[col];
	cell_clear(c);
	return c;
}

static void cell_show(struct cell *c, const char *text)
{
	struct buf b = {0};
	escape_line(&b, text, strlen(text));
	c->shown = buf_take(&b);
}

void table_string(struct table *t, size_t col, const char *value)
{
	struct cell *c = cell_at(t, col);
	if (!c || !value)
		return;
	c->kind = CELL_STRING;
	c->text = memory_copy(value);
	cell_show(c, value);
}

void table_integer(struct table *t, size_t col, long long value, const char *shown)
{
	struct cell *c = cell_at(t, col);
	if (!c)
		return;
	char text[32];
	snprintf(text, sizeof(text), "%lld", value);
	c->kind = CELL_INTEGER;
	c->integer = value;
	cell_show(c, shown ? shown : text);
}

void table_real(struct table *t, size_t col, double value, const char *shown)
{
	struct cell *c = cell_at(t, col);
	if (!c)
		return;
	char text[32];
	snprintf(text, sizeof(text), "%.6g", value);
	c->kind = isfinite(value) ? CELL_REAL : CELL_EMPTY;
	c->real = value;
	if (shown || isfinite(value))
		cell_show(c, shown ? shown : text);
}

static void duration_show(struct cell *c, const char *unit)
{
	struct buf b = {0};
	buf_adds(&b, c->before);
	if (c->ns == 0)
		buf_addc(&b, '0');
	else
		duration_in(&b, c->ns, unit);
	buf_adds(&b, c->text);
	free(c->shown);
	c->shown = buf_take(&b);
}

void table_duration(struct table *t, size_t col, double value, const char *before, double ns, const char *after)
{
	table_real(t, col, value, "");
	struct cell *c = t->rows.n && col < t->n ? &t->rows.v[t->rows.n - 1].cells[col] : NULL;
	if (!c || !isfinite(ns))
		return;
	c->before = before;
	c->ns = ns;
	c->text = memory_copy(after);
	duration_show(c, NULL);
}

void table_use_unit(struct table *t, const char *unit)
{
	for (size_t i = 0; i < t->rows.n; i++)
		for (size_t k = 0; k < t->n; k++)
			if (t->rows.v[i].cells[k].before)
				duration_show(&t->rows.v[i].cells[k], unit);
}

void table_mark_row(struct table *t, enum table_mark mark)
{
	if (t->rows.n)
		t->rows.v[t->rows.n - 1].mark = mark;
}

void table_mark_cell(struct table *t, size_t col, enum table_mark mark)
{
	if (t->rows.n && col < t->n)
		t->rows.v[t->rows.n - 1].cells[col].mark = mark;
}

void table_hide_if_empty(struct table *t, size_t col)
{
	for (size_t i = 0; i < t->rows.n; i++)
		if (*table_cell_shown(&t->rows.v[i].cells[col]))
			return;
	t->columns[col].flags |= COL_DATA_ONLY;
}

size_t table_rows(const struct table *t)
{
	return t->rows.n;
}

/* Returns true if the column is in text, Markdown and HTML. */
static bool for_people(const struct column *c)
{
	return !(c->flags & (COL_DATA_ONLY | COL_ALIGNED));
}

static void csv_cell(struct buf *out, const struct cell *c)
{
	if (c->kind == CELL_STRING)
		escape_csv(out, table_cell_shown(c));
	else if (c->kind == CELL_INTEGER)
		buf_addf(out, "%lld", c->integer);
	else if (c->kind == CELL_REAL)
		buf_addf(out, "%.15g", c->real);
}

/* Appends a line of CSV: row `r`, or the keys of the columns if `r` is NULL. */
static void csv_line(const struct table *t, const struct row *r, struct buf *out)
{
	const char *sep = "";
	for (size_t k = 0; k < t->n; k++) {
		if (!for_programs(&t->columns[k]))
			continue;
		buf_adds(out, sep);
		if (r)
			csv_cell(out, &r->cells[k]);
		else
			escape_csv(out, t->columns[k].key);
		sep = ",";
	}
	buf_addc(out, '\n');
}

static void render_csv(const struct table *t, struct buf *out)
{
	csv_line(t, NULL, out);
	for (size_t i = 0; i < t->rows.n; i++)
		if (!t->rows.v[i].total)
			csv_line(t, &t->rows.v[i], out);
}

/* Appends text to a cell of a Markdown table. Escapes characters that would end the cell or begin a markup. */
static void markdown_text(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (strchr("|\\*_`<>[]", *s))
			buf_addc(out, '\\');
		buf_addc(out, *s);
	}
}

/* Appends row `r`, or the titles of the columns if `r` is NULL. */
static void markdown_row(const struct table *t, const struct row *r, struct buf *out)
{
	buf_addc(out, '|');
	for (size_t k = 0; k < t->n; k++) {
		if (!for_people(&t->columns[k]))
			continue;
		const char *text = r ? table_cell_shown(&r->cells[k]) : t->columns[k].title;
		const char *bold = r && *text && (r->total || r->mark == MARK_BOLD) ? "**" : "";
		buf_addf(out, " %s", bold);
		markdown_text(out, text);
		buf_addf(out, "%s |", bold);
	}
	buf_addc(out, '\n');
}

static void render_markdown(const struct table *t, struct buf *out)
{
	markdown_row(t, NULL, out);
	buf_addc(out, '|');
	for (size_t k = 0; k < t->n; k++)
		if (for_people(&t->columns[k]))
			buf_adds(out, t->columns[k].flags & COL_RIGHT ? " ---: |" : " --- |");
	buf_addc(out, '\n');
	for (size_t i = 0; i < t->rows.n; i++)
		markdown_row(t, &t->rows.v[i], out);
}

static json_t *json_cell(const struct cell *c)
{
	if (c->kind == CELL_INTEGER)
		return json_integer(c->integer);
	if (c->kind == CELL_REAL)
		return json_real(c->real);
	if (c->kind != CELL_STRING)
		return json_null();
	json_t *exact = json_string(c->text); /* NULL: the text is not UTF-8 */
	return exact ? exact : json_string(table_cell_shown(c));
}

json_t *table_json(const struct table *t)
{
	json_t *array = json_array();
	for (size_t i = 0; i < t->rows.n; i++) {
		if (t->rows.v[i].total)
			continue;
		json_t *o = json_object();
		for (size_t k = 0; k < t->n; k++)
			if (for_programs(&t->columns[k]))
				json_object_set_new(o, t->columns[k].key, json_cell(&t->rows.v[i].cells[k]));
		json_array_append_new(array, o);
	}
	return array;
}

static void render_json(const struct table *t, struct buf *out)
{
	json_t *array = table_json(t);
	auto_free char *text = json_dumps(array, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	escape_json(out, text);
	buf_addc(out, '\n');
	json_decref(array);
}

/* Returns the class for cells that are hidden on a narrow screen. */
static const char *html_optional(const struct column *col)
{
	return col->flags & (COL_OPTIONAL | COL_SPARE) ? " opt" : "";
}

static void html_cell(struct buf *out, const struct column *col, const struct cell *c, enum table_mark mark)
{
	static const char *const classes[] = {
		[MARK_DIM] = " dim", [MARK_BOLD] = " bold", [MARK_GOOD] = " good", [MARK_BAD] = " bad"};
	const char *class = mark != MARK_NONE ? classes[mark] : "";
	buf_addf(out, "<td class=\"%s%s%s\"", col->flags & COL_RIGHT ? "num" : "txt", html_optional(col), class);
	if (c->kind == CELL_INTEGER)
		buf_addf(out, " data-v=\"%lld\"", c->integer);
	else if (c->kind == CELL_REAL)
		buf_addf(out, " data-v=\"%.15g\"", c->real);
	buf_addc(out, '>');
	svg_escape(out, table_cell_shown(c));
	buf_adds(out, "</td>");
}

static void render_html(const struct table *t, struct buf *out)
{
	buf_adds(out, "<table class=\"data\">\n<thead><tr>");
	for (size_t k = 0; k < t->n; k++) {
		if (!for_people(&t->columns[k]))
			continue;
		buf_addf(out, "<th scope=\"col\" class=\"%s%s\">", t->columns[k].flags & COL_RIGHT ? "num" : "txt",
			 html_optional(&t->columns[k]));
		svg_escape(out, t->columns[k].title);
		buf_adds(out, "</th>");
	}
	buf_adds(out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct row *r = &t->rows.v[i];
		buf_adds(out, r->total ? "<tr class=\"total\">" : "<tr>");
		for (size_t k = 0; k < t->n; k++)
			if (for_people(&t->columns[k]))
				html_cell(out, &t->columns[k], &r->cells[k],
					  r->cells[k].mark ? r->cells[k].mark : r->mark);
		buf_adds(out, "</tr>\n");
	}
	buf_adds(out, "</tbody></table>\n");
}

void table_render(const struct table *t, enum table_format format, const struct table_look *look, struct buf *out)
{
	static void (*const writers[])(const struct table *, struct buf *) = {
		[TABLE_CSV] = render_csv,
		[TABLE_MARKDOWN] = render_markdown,
		[TABLE_JSON] = render_json,
		[TABLE_HTML] = render_html,
	};
	static const struct table_look plain = {0};
	if (format == TABLE_TEXT)
		table_render_text(t, look ? look : &plain, out);
	else
		writers[format](t, out);
}
