/* SPDX-License-Identifier: MIT */
/* Writes a page in each format. */
#include "base/escape.h"
#include "base/memory.h"
#include "out/html.h"
#include "out/summary_table.h"
#include "out/width.h"
#include "present/page.h"
#include "run/judge.h"
#include "syscall/call_table.h"

#include <jansson.h>
#include <math.h>
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
	width_wrap(out, "", buf_str(&p->above), width);
	if (p->alarm.len) {
		buf_adds(out, look->colour ? "\033[1;31m" : "");
		width_wrap(out, "", buf_str(&p->alarm), width);
		buf_adds(out, look->colour ? "\033[0m" : "");
	}
	width_wrap(out, "", buf_str(&p->head), width);
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
	width_wrap(out, p->n > 1 ? "  " : s->prefix, buf_str(&s->text), prose_width(look));
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
			width_wrap(out, "", part->heading, width);
		part_render(p, part, TABLE_TEXT, look, out);
		if (part->note)
			width_wrap(out, "", part->note, width);
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

void page_say_warnings(const struct page *p, const char *prefix, struct buf *out)
{
	for (size_t i = 0; i < p->sections.n; i++)
		if (p->sections.v[i].kind == SECTION_BEWARE && p->n == 1)
			width_wrap(out, prefix, buf_str(&p->sections.v[i].text), 0);
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

/*
 * Writes all samples as CSV with one sample in each row, the form that spreadsheets and statistics programs can load.
 */

/*
 * A column of the CSV: a metric of each sample, a member that is equal for all samples of a subject, or a parameter of
 * a command.
 */
struct tidy_column {
	enum { TIDY_METRIC, TIDY_FIELD, TIDY_PARAMETER, TIDY_OWN } what; /* TIDY_OWN: a metric of --metric */
	enum metric metric;
	const struct field *field;
	const char *parameter;
	const char *name; /* title of the column in the CSV */
};

struct tidy {
	VEC(struct tidy_column) list;
};

enum { T_RUN, T_NAME, T_SAMPLE, T_FIXED };

static void add_column(struct tidy *y, struct tidy_column c)
{
	for (size_t i = 0; i < y->list.n; i++)
		if ((y->list.v[i].what == TIDY_OWN) == (c.what == TIDY_OWN) && strcmp(y->list.v[i].name, c.name) == 0)
			return;
	vec_push(&y->list, c);
}

static void find_members(struct page *p, struct tidy *y, const struct run_subject *s)
{
	static const char *const keys[] = {"strategy", "buffer_bytes", "group"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct field *x = fields_find(&run_subject_fields, keys[i]);
		if (!field_is_unknown(x, s))
			add_column(y, (struct tidy_column){TIDY_FIELD, 0, x, NULL, x->key});
	}
	for (size_t i = 0; i < s->parameters.n; i++) {
		struct buf name = {0};
		buf_addf(&name, "parameter_%s", s->parameters.v[i].name);
		add_column(y,
			   (struct tidy_column){TIDY_PARAMETER, 0, NULL, s->parameters.v[i].name, page_keep(p, &name)});
	}
}

static void find_metrics(struct tidy *y, const struct run *run, const struct run_subject *s)
{
	for (int m = 0; m < METRICS; m++) {
		const char *name = metric_rows[m].column;
		if (m == METRIC_TIME)
			name = run->bits == RUN_COMPARE                ? "wall_s"
			       : s->unit && strcmp(s->unit, "ns") == 0 ? "value_ns"
								       : "value_s";
		if (s->samples[m].n)
			add_column(y, (struct tidy_column){TIDY_METRIC, (enum metric)m, NULL, NULL, name});
	}
	for (size_t i = 0; i < s->metrics.n; i++)
		if (s->metrics.v[i].name)
			add_column(y, (struct tidy_column){TIDY_OWN, 0, NULL, NULL, s->metrics.v[i].name});
}

static void set_field(struct table *t, size_t col, const struct field *f, const void *object)
{
	const void *at = (const char *)object + f->offset;
	if (field_is_unknown(f, object))
		return;
	if (f->type == FIELD_STRING)
		table_string(t, col, *(char *const *)at);
	else if (f->type == FIELD_INTEGER && fabs(*(const double *)at) < 9e18)
		table_integer(t, col, (long long)*(const double *)at, NULL);
	else if (f->type == FIELD_REAL)
		table_real(t, col, *(const double *)at, NULL);
	else if (f->type == FIELD_TRUTH)
		table_string(t, col, *(const enum truth *)at == TRUTH_YES ? "true" : "false");
}

static void set_sample(struct table *t, size_t col, const struct tidy_column *c, const struct run_subject *s, size_t i)
{
	if (i >= s->samples[c->metric].n)
		return;
	double v = s->samples[c->metric].v[i];
	enum run_unit unit = metric_rows[c->metric].unit;
	if (strcmp(c->name, "value_ns") == 0)
		table_real(t, col, v * 1e9, NULL);
	else if (unit == IN_SECONDS || c->metric == METRIC_THROUGHPUT || !(fabs(v) < 9e18))
		table_real(t, col, v, NULL);
	else
		table_integer(t, col, (long long)v, NULL);
}

static void set_own(struct table *t, size_t col, const struct run_metric *m, size_t i)
{
	if (m && i < m->samples.n && isfinite(m->samples.v[i]))
		table_real(t, col, m->samples.v[i], NULL);
}

static void add_observations(struct table *t, const struct tidy *y, const char *run, const struct run_subject *s)
{
	for (size_t i = 0; i < s->samples[METRIC_TIME].n; i++) {
		table_row(t);
		table_string(t, T_RUN, run);
		table_string(t, T_NAME, s->name);
		table_integer(t, T_SAMPLE, (long long)i + 1, NULL);
		for (size_t k = 0; k < y->list.n; k++) {
			const struct tidy_column *c = &y->list.v[k];
			if (c->what == TIDY_METRIC)
				set_sample(t, T_FIXED + k, c, s, i);
			else if (c->what == TIDY_FIELD)
				set_field(t, T_FIXED + k, c->field, s);
			else if (c->what == TIDY_OWN)
				set_own(t, T_FIXED + k, run_metric_find(s, c->name), i);
			else if (texts_find(&s->parameters, c->parameter))
				table_string(t, T_FIXED + k, texts_find(&s->parameters, c->parameter));
		}
	}
}

static struct table *samples_table(const struct page *p, const struct tidy *y)
{
	auto_free struct column *columns = memory_zeroed(T_FIXED + y->list.n, sizeof(*columns));
	columns[T_RUN] = (struct column){"run", "run", 0};
	columns[T_NAME] = (struct column){"name", "name", 0};
	columns[T_SAMPLE] = (struct column){"sample", "sample", 0};
	for (size_t k = 0; k < y->list.n; k++)
		columns[T_FIXED + k] = (struct column){y->list.v[k].name, y->list.v[k].name, 0};
	struct table *t = table_new(columns, T_FIXED + y->list.n);
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->runs[i].run->subjects.n; k++)
			add_observations(t, y, p->runs[i].label, &p->runs[i].run->subjects.v[k]);
	return t;
}

/*
 * Adds a row for each bucket of a histogram: the lower limit of its delays, and how many wake-ups had a delay in the
 * bucket.
 */
static void add_bins(struct table *t, const char *run, const struct run_subject *s)
{
	for (uint32_t i = 0; i < s->hist.n; i++) {
		if (!s->hist.count[i])
			continue;
		table_row(t);
		table_string(t, 0, run);
		table_string(t, 1, s->name);
		table_integer(t, 2, (long long)hist_bucket_low(s->hist.first + i), NULL);
		table_integer(t, 3, (long long)s->hist.count[i], NULL);
	}
}

static struct table *bins_table(const struct page *p)
{
	static const struct column columns[] = {
		{"run", "run", 0}, {"name", "name", 0}, {"least_ns", "least_ns", 0}, {"count", "count", 0}};
	struct table *t = table_new(columns, 4);
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->runs[i].run->subjects.n; k++)
			add_bins(t, p->runs[i].label, &p->runs[i].run->subjects.v[k]);
	return t;
}

/* Makes the table for runs of -c. Each row is one system call in one group of --by. */
static struct table *calls_table(const struct page *p)
{
	static const struct column columns[] = {
		{"run", "", 0},    {"name", "", 0},     {"group", "", 0},   {"calls", "", 0},   {"errors", "", 0},
		{"bytes", "", 0},  {"total_ns", "", 0}, {"mean_ns", "", 0}, {"p50_ns", "", 0},  {"p90_ns", "", 0},
		{"p99_ns", "", 0}, {"min_ns", "", 0},   {"max_ns", "", 0},  {"cost_ns", "", 0}, {"judged", "", 0},
		{"waits", "", 0},  {"waited_ns", "", 0}};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < p->n; i++) {
		const struct summary *s = &p->runs[i].run->calls;
		for (size_t g = 0; g < s->groups.n; g++)
			for (size_t k = 0; k < s->groups.v[g]->calls.n; k++) {
				const struct call_stats *c = s->groups.v[g]->calls.v[k];
				const double times[] = {c->ns,
							call_stats_mean(c),
							call_stats_quantile(c, 0.5),
							call_stats_quantile(c, 0.9),
							call_stats_quantile(c, 0.99),
							c->min_ns,
							c->max_ns,
							c->cost_ns};
				auto_buf name = {0};
				syscall_name(&name, c->arch, c->nr);
				table_row(t);
				table_string(t, 0, p->runs[i].label);
				table_string(t, 1, buf_str(&name));
				table_string(t, 2, s->groups.v[g]->name);
				table_integer(t, 3, (long long)call_stats_calls(c), NULL);
				table_integer(t, 4, (long long)c->errors, NULL);
				table_integer(t, 5, (long long)c->bytes, NULL);
				for (size_t n = 0; c->returned && n < sizeof(times) / sizeof(*times); n++)
					table_real(t, 6 + n, times[n], NULL);
				table_integer(t, 14, (long long)c->judged, NULL);
				if (c->judged) {
					table_integer(t, 15, (long long)c->waits, NULL);
					table_real(t, 16, c->waited_ns, NULL);
				}
			}
	}
	return t;
}

/* Appends all samples as CSV, with one sample in each row. */
static void page_samples_csv(struct page *p, struct buf *out)
{
	struct tidy y = {0};
	unsigned kind = p->runs[0].run->bits;
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->runs[i].run->subjects.n; k++)
			find_members(p, &y, &p->runs[i].run->subjects.v[k]);
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->runs[i].run->subjects.n; k++)
			find_metrics(&y, p->runs[i].run, &p->runs[i].run->subjects.v[k]);
	struct table *t = kind == RUN_COUNT     ? calls_table(p)
			  : kind == RUN_LATENCY ? bins_table(p)
						: samples_table(p, &y);
	table_render(t, TABLE_CSV, NULL, out);
	table_free(t);
	vec_free(&y.list);
}

void page_render(struct page *p, const char *format, const struct table_look *look, struct buf *out)
{
	bool csv = strcmp(format, "csv") == 0;
	if (strcmp(format, "samples") == 0 || (csv && p->n > 1))
		page_samples_csv(p, out);
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
