/* Fills the page of one run of -c: its table and the lines below it. */
#include "out/html.h"
#include "out/summary_table.h"
#include "present/kinds.h"

#include <limits.h>
#include <string.h>

/* Returns the options of the table (--by, -U, --sort and others) that the user gave when the run was made. */
static struct summary_view view_of(const struct run *r, enum table_format format, const struct table_look *look)
{
	struct summary_view v = {.by = r->view.by, .colour = look && look->colour, .width = look ? look->width : 0};
	struct buf why = {0};
	v.format = format == TABLE_CSV         ? SUMMARY_CSV
		   : format == TABLE_MARKDOWN  ? SUMMARY_MARKDOWN
		   : r->view.wide == TRUTH_YES ? SUMMARY_WIDE
					       : SUMMARY_TEXT;
	if (r->view.columns && summary_columns_parse(r->view.columns, &v.columns, &why) < 0)
		v.columns.n = 0;
	if (r->view.sort && summary_sort_parse(r->view.sort, &v.sort, &why) < 0)
		v.sort = 0;
	buf_free(&why);
	return v;
}

void part_render(const struct page *p, const struct page_part *part, enum table_format format,
		 const struct table_look *look, struct buf *out)
{
	if (strcmp(part->key, "files") == 0 && p->n == 1 && (format == TABLE_TEXT || format == TABLE_MARKDOWN)) {
		io_render(&p->runs[0].run->io, format, look, out);
	} else if (strcmp(part->key, "calls") != 0 || p->n > 1) {
		table_render(part->table, format, look, out);
	} else {
		struct summary_view v = view_of(p->runs[0].run, format, look);
		summary_render(&p->runs[0].run->calls, &v, out);
	}
}

void part_html(const struct page *p, const struct page_part *part, const char *note, struct buf *out)
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

void below_calls(const struct page *p, const struct table_look *look, struct buf *out)
{
	const struct run *r = p->runs[0].run;
	int width = look ? look->width : 0;
	if (r->view.errors == TRUTH_YES) {
		buf_addc(out, '\n');
		summary_render_errors(&r->calls, out);
	}
	if (r->view.hist) {
		buf_addc(out, '\n');
		summary_render_hist(&r->calls, r->view.hist, width ? width : 80, out);
	}
	for (size_t i = 0; i < r->footer.n; i++)
		buf_add_wrapped(out, r->footer.v[i], 0, 2, width ? width : INT_MAX);
}

void page_of_count(struct page *p)
{
	const struct run *r = p->runs[0].run;
	if (r->view.calls != TRUTH_NO)
		page_of_several_counts(p);
	if (r->io.known)
		page_add_io(p);
	struct page_section *below = page_section(p, SECTION_LINES, "The program", "");
	buf_adds(&p->title, r->io.known ? "Use of files" : "System calls");
	for (size_t i = 0; i < r->command.n; i++)
		buf_addf(&p->subtitle, "%s%s", i ? " " : "", r->command.v[i]);
	for (size_t i = 0; i < r->footer.n; i++)
		buf_addf(&below->text, "%s\n", r->footer.v[i]);
}
