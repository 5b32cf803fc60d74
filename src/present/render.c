/* Writes a page in each format. */
#include "base/escape.h"
#include "out/html.h"
#include "out/summary_table.h"
#include "out/width.h"
#include "present/machine.h"
#include "present/page.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define PROSE_WIDTH 100 /* maximum length of a line of text, unless the terminal is narrower */

/* Returns the options of the table (--by, -U, --sort and others) that the user gave when the run was made. */
static struct summary_view view_of(const struct run *r, enum table_format format, const struct table_look *look)
{
	struct summary_view v = {.by = r->view.by, .colour = look && look->colour, .width = look ? look->width : 0};
	auto_buf why = {0};
	v.top = r->view.top >= 1 && r->view.top <= 1e6 ? (unsigned)r->view.top : 0;
	v.format = format == TABLE_CSV         ? SUMMARY_CSV
		   : format == TABLE_MARKDOWN  ? SUMMARY_MARKDOWN
		   : r->view.wide == TRUTH_YES ? SUMMARY_WIDE
					       : SUMMARY_TEXT;
	if (r->view.columns && summary_columns_parse(r->view.columns, &v.columns, &why) < 0)
		v.columns.n = 0;
	if (r->view.sort && summary_sort_parse(r->view.sort, &v.sort, &why) < 0)
		v.sort = 0;
	return v;
}

/*
 * Appends one table of the page in `format`. The calls of a single run of -c are shown by summary_render()
 * (out/summary_table.h).
 */
static void part_render(const struct page *p, const struct page_part *part, enum table_format format,
			const struct table_look *look, struct buf *out)
{
	if (strcmp(part->key, "files") == 0 && p->n == 1 && (format == TABLE_TEXT || format == TABLE_MARKDOWN)) {
		io_render(p->runs[0].run, format, look, out);
	} else if (strcmp(part->key, "calls") != 0 || p->n > 1) {
		table_render(part->table, format, look, out);
	} else {
		struct summary_view v = view_of(p->runs[0].run, format, look);
		summary_render(&p->runs[0].run->calls, &v, out);
	}
}

/* Appends one table of the page as HTML, with `note` (or NULL) below it. */
static void part_html(const struct page *p, const struct page_part *part, const char *note, struct buf *out)
{
	const char *heading = part->heading ? part->heading : "The figures";
	struct table *own = NULL;
	if (strcmp(part->key, "calls") == 0 && p->n == 1) {
		struct summary_view v = view_of(p->runs[0].run, TABLE_HTML, NULL);
		own = summary_table(&p->runs[0].run->calls, &v);
	}
	html_table(out, heading, own ? own : part->table, note);
	table_free(own);
}

/*
 * Appends the text below the table of -c: errors and a histogram if the user requested them, and the lines that -c
 * itself printed there.
 */
static void below_calls(const struct page *p, enum summary_format format, const struct table_look *look,
			struct buf *out)
{
	const struct run *r = p->runs[0].run;
	const struct summary_below below = {r->view.errors == TRUTH_YES, r->view.hist, format, look ? look->width : 0};
	auto_buf lines = {0};
	for (size_t i = 0; i < r->footer.n; i++)
		buf_addf(&lines, "%s\n", r->footer.v[i]);
	summary_render_below(&r->calls, &below, buf_str(&lines), out);
}

static size_t prose_width(const struct table_look *look)
{
	return look->width > 0 && look->width < PROSE_WIDTH ? (size_t)look->width : PROSE_WIDTH;
}

/* Appends a blank line, unless the page is still empty. */
static void gap(struct buf *out)
{
	if (out->len)
		buf_addc(out, '\n');
}

static void text_head(const struct page *p, const struct table_look *look, struct buf *out)
{
	size_t width = prose_width(look);
	wrap_lines(out, "", buf_str(&p->above), width);
	if (p->alarm.len) {
		buf_adds(out, look->colour ? "\033[1;31m" : "");
		wrap_lines(out, "", buf_str(&p->alarm), width);
		buf_adds(out, look->colour ? "\033[0m" : "");
	}
	wrap_lines(out, "", buf_str(&p->head), width);
}

static void text_section(const struct page *p, const struct page_section *s, const struct table_look *look,
			 struct buf *out)
{
	if (s->kind == SECTION_LINES) {
		below_calls(p, SUMMARY_TEXT, look, out);
		return;
	}
	if ((s->kind == SECTION_REASONS && !p->reasons) || !s->text.len)
		return;
	gap(out);
	if (p->n > 1)
		buf_addf(out, "%s\n", s->heading);
	wrap_lines(out, p->n > 1 ? "  " : s->prefix, buf_str(&s->text), prose_width(look));
}

/* Returns true if the section is printed above the tables, because it says how the machines of the runs differ. */
static bool stands_above(const struct page *p, const struct page_section *s)
{
	return p->n > 1 && s->kind == SECTION_BEWARE;
}

static void render_text(const struct page *p, const struct table_look *look, struct buf *out)
{
	size_t width = prose_width(look);
	text_head(p, look, out);
	for (size_t i = 0; i < p->sections.n; i++)
		if (stands_above(p, &p->sections.v[i]))
			text_section(p, &p->sections.v[i], look, out);
	for (size_t i = 0; i < p->parts.n; i++) {
		const struct page_part *part = &p->parts.v[i];
		gap(out);
		if (part->heading)
			wrap_lines(out, "", part->heading, width);
		part_render(p, part, TABLE_TEXT, look, out);
		if (part->note)
			wrap_lines(out, "", part->note, width);
	}
	for (size_t i = 0; i < p->sections.n; i++)
		if (!stands_above(p, &p->sections.v[i]))
			text_section(p, &p->sections.v[i], look, out);
}

static void markdown_heading(struct buf *out, const char *text)
{
	buf_adds(out, "## ");
	markdown_text(out, text);
	buf_adds(out, "\n\n");
}

static void markdown_section(const struct page *p, const struct page_section *s, const struct table_look *look,
			     struct buf *out)
{
	if (s->kind == SECTION_LINES) {
		/* The lines would be part of the list of findings. */
		if (p->runs[0].run->io.known)
			buf_addf(out, "%s## %s\n", out->len ? "\n" : "", s->heading);
		below_calls(p, SUMMARY_MARKDOWN, look, out);
		return;
	}
	if ((s->kind == SECTION_REASONS && !p->reasons) || !s->text.len)
		return;
	gap(out);
	markdown_heading(out, s->heading);
	markdown_lines(out, "- ", buf_str(&s->text));
}

static void render_markdown(const struct page *p, const struct table_look *look, struct buf *out)
{
	const struct buf *paragraphs[] = {&p->above, &p->alarm, &p->head};
	for (size_t i = 0; i < sizeof(paragraphs) / sizeof(*paragraphs); i++)
		if (paragraphs[i]->len && !(i == 0 && p->above_only_in_text)) {
			gap(out);
			markdown_lines(out, p->n > 1 ? "- " : "", buf_str(paragraphs[i]));
		}
	for (size_t i = 0; i < p->parts.n; i++) {
		const struct page_part *part = &p->parts.v[i];
		gap(out);
		if (part->heading)
			markdown_heading(out, part->heading);
		part_render(p, part, TABLE_MARKDOWN, NULL, out);
		if (part->note) {
			buf_addc(out, '\n');
			markdown_lines(out, "", part->note);
		}
	}
	for (size_t i = 0; i < p->sections.n; i++)
		markdown_section(p, &p->sections.v[i], look, out);
}

/* Appends the notes of a single run as one paragraph. */
static void join_lines(const struct page *p, struct buf *out)
{
	for (size_t i = 0; i < p->sections.n; i++) {
		const struct page_section *s = &p->sections.v[i];
		if (s->kind != SECTION_NOTES || p->n > 1)
			continue;
		for (const char *c = buf_str(&s->text); *c; c++)
			*c == '\n' ? buf_adds(out, c[1] ? "; " : "") : buf_addc(out, *c);
	}
}

static void html_sections(const struct page *p, enum section_kind kind, struct buf *out)
{
	for (size_t i = 0; i < p->sections.n; i++) {
		const struct page_section *s = &p->sections.v[i];
		if (s->kind == kind && (kind == SECTION_BEWARE || (kind == SECTION_NOTES && p->n > 1)))
			html_warnings(out, s->heading, buf_str(&s->text));
		else if (s->kind == kind && kind != SECTION_NOTES)
			html_lessons(out, s->heading, buf_str(&s->text));
	}
}

static void render_html(struct page *p, struct buf *out)
{
	auto_buf below = {0};
	auto_buf footer = {0};
	join_lines(p, &below);
	html_begin(out, buf_str(&p->title), buf_str(&p->subtitle));
	html_lessons(out, "How it was measured", buf_str(&p->head));
	html_warnings(out, "This kernel", buf_str(&p->alarm));
	for (enum section_kind kind = SECTION_FINDINGS; kind <= SECTION_NOTES; kind++)
		html_sections(p, kind, out);
	for (size_t i = 0; i < p->parts.n; i++) {
		const struct page_part *part = &p->parts.v[i];
		const char *note = part->note ? part->note : i == 0 ? buf_str(&below) : NULL;
		part_html(p, part, note, out);
	}
	html_sections(p, SECTION_LINES, out);
	for (size_t i = 0; i < p->figures.n; i++)
		html_figure(out, p->figures.v[i].draw, p);
	html_sections(p, SECTION_REASONS, out);
	machine_html(p->runs, p->n, out);
	page_footer(p, &footer);
	html_end(out, buf_str(&footer));
}

/* Sets member `key` of a JSON object to an array of strings: the lines of all sections of this kind. */
static void set_lines(json_t *o, const char *key, const struct page *p, enum section_kind kind)
{
	json_t *a = json_array();
	for (size_t i = 0; i < p->sections.n; i++)
		if (p->sections.v[i].kind == kind)
			for (const char *at = buf_str(&p->sections.v[i].text); *at;) {
				size_t len = strcspn(at, "\n");
				json_array_append_new(a, json_stringn(at, len));
				at += len + (at[len] == '\n');
			}
	json_object_set_new(o, key, a);
}

static json_t *runs_json(const struct page *p)
{
	json_t *a = json_array();
	for (size_t i = 0; i < p->n; i++) {
		const struct run *r = p->runs[i].run;
		json_array_append_new(a, json_pack("{s:s, s:s, s:s?, s:s?, s:o}", "label", p->runs[i].label, "file",
						   p->runs[i].path, "date", r->date, "sctrace_version", r->version,
						   "environment",
						   r->env.known ? fields_write(&env_fields, &r->env, 0) : json_null()));
	}
	return a;
}

static void tables_json(const struct page *p, struct buf *out)
{
	json_t *o = json_pack("{s:s, s:o}", "kind", p->runs[0].run->kind, "runs", runs_json(p));
	set_lines(o, "differences", p, SECTION_BEWARE);
	set_lines(o, "lessons", p, SECTION_FINDINGS);
	set_lines(o, "notes", p, SECTION_NOTES);
	for (size_t i = 0; i < p->parts.n; i++)
		json_object_set_new(o, p->parts.v[i].key, table_json(p->parts.v[i].table));
	auto_free char *text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	json_decref(o);
	escape_json(out, text);
	buf_addc(out, '\n');
}

static void render_json(const struct page *p, struct buf *out)
{
	struct page tables = {.runs = p->runs, .n = p->n};
	page_of_several(&tables);
	tables_json(&tables, out);
	page_free(&tables);
}

void page_render(struct page *p, const char *format, const struct table_look *look, struct buf *out)
{
	bool csv = strcmp(format, "csv") == 0;
	if (strcmp(format, "samples") == 0 || (csv && p->n > 1))
		samples_csv(p, out);
	else if (csv && p->parts.n)
		part_render(p, &p->parts.v[0], TABLE_CSV, NULL, out);
	else if (strcmp(format, "json") == 0)
		render_json(p, out);
	else if (strcmp(format, "html") == 0)
		render_html(p, out);
	else if (strcmp(format, "markdown") == 0)
		render_markdown(p, look, out);
	else if (!csv)
		render_text(p, look, out);
}

void page_say_warnings(const struct page *p, const char *prefix, struct buf *out)
{
	for (size_t i = 0; i < p->sections.n; i++)
		if (p->sections.v[i].kind == SECTION_BEWARE && p->n == 1)
			wrap_lines(out, prefix, buf_str(&p->sections.v[i].text), 0);
}

/*
 * The kinds of runs for which a single run has a page of its own. For any other kind, a single run is shown by the
 * tables for several runs.
 */
static const struct {
	unsigned kinds;
	void (*fill)(struct page *p);
} singles[] = {
	{RUN_COMPARE, page_of_compare},
	{RUN_TESTS, page_of_test},
	{RUN_BENCH, page_of_bench},
	{RUN_COUNT, page_of_count},
};

void page_make(struct page *p, struct page_run *runs, size_t n)
{
	p->runs = runs;
	p->n = n;
	for (size_t i = 0; i < sizeof(singles) / sizeof(*singles) && n == 1; i++)
		if (singles[i].kinds & runs[0].run->bits) {
			singles[i].fill(p);
			return;
		}
	page_of_several(p);
}
