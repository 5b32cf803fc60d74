/* How a report leaves: text, Markdown, JSON, CSV, HTML. */
#include "cmd/report/report.h"

#include "base/escape.h"
#include "cmd/put.h"
#include "out/html.h"
#include "out/summary_table.h"
#include "run/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *text_at(const json_t *o, const char *path)
{
	const char *s = json_string_value(report_member(o, path));
	return s ? s : "unknown";
}

/* "kvm: bench-syscall of 2026-..., Linux 6.1.0, AMD ..., sctrace 0.1.0" */
static void run_line(const struct report *r, const struct report_run *run, struct buf *out)
{
	buf_addf(out, "%s: %s of %s, Linux %s, %s", run->label, r->kind, text_at(run->doc, "date"),
		 text_at(run->doc, "environment.kernel.release"), text_at(run->doc, "environment.cpu.model"));
	const char *hypervisor = json_string_value(report_member(run->doc, "environment.hypervisor"));
	if (hypervisor)
		buf_addf(out, " in %s", hypervisor);
	buf_addf(out, ", sctrace %s", text_at(run->doc, "sctrace_version"));
}

static void command_line(const struct report_run *run, struct buf *out)
{
	size_t i;
	json_t *word;
	json_array_foreach(json_object_get(run->doc, "command"), i, word)
		buf_addf(out, "%s%s", i ? " " : "", json_string_value(word) ? json_string_value(word) : "?");
}

static void section(struct buf *out, bool markdown, size_t width, const char *heading, const struct buf *text)
{
	if (!text->len)
		return;
	buf_addf(out, markdown ? "\n## %s\n\n" : "\n%s\n", heading);
	put_lines(out, markdown ? "- " : "  ", buf_str(text), width);
}

/* A part as text or Markdown; the calls of a single `-c` run are shown as `-c` shows them. */
static int render_part(const struct report *r, const struct report_part *p, bool markdown,
		       const struct table_look *look, struct buf *out)
{
	buf_addf(out, markdown ? "\n## %s\n\n" : "\n%s\n", p->heading);
	if (strcmp(p->key, "calls") != 0 || r->runs.n > 1)
		return table_render(p->table, markdown ? TABLE_MARKDOWN : TABLE_TEXT, look, out);
	struct summary_view v = {.format = markdown ? SUMMARY_MARKDOWN : SUMMARY_TEXT, .colour = look->colour};
	return summary_render(&r->runs.v[0].calls, &v, out);
}

/* Text and Markdown: the same parts in the same order. */
static int render_text(struct report *r, bool markdown, const struct table_look *look, struct buf *out)
{
	/* Prose is broken for a terminal, and where the width is not known; Markdown's readers do it themselves. */
	size_t width = markdown ? 0 : look->width > 0 && look->width < 100 ? (size_t)look->width : 100;
	for (size_t i = 0; i < r->runs.n; i++) {
		struct buf line = {0};
		run_line(r, &r->runs.v[i], &line);
		put_wrapped(out, markdown ? "- " : "", buf_str(&line), line.len, width);
		buf_free(&line);
	}
	section(out, markdown, width, "Where the machines differ", &r->differences);
	for (size_t i = 0; i < r->parts.n; i++) {
		const struct report_part *p = &r->parts.v[i];
		int rc = render_part(r, p, markdown, look, out);
		if (rc < 0)
			return rc;
		buf_adds(out, p->note && markdown ? "\n" : "");
		if (p->note)
			put_wrapped(out, "", p->note, strlen(p->note), width);
	}
	section(out, markdown, width, "What there is to see", &r->lessons);
	section(out, markdown, width, "Notes", &r->notes);
	return out->failed ? -ENOMEM : 0;
}

/* A buffer's lines as an array of strings. */
static json_t *line_array(const struct buf *b)
{
	json_t *a = json_array();
	for (const char *at = buf_str(b); *at;) {
		size_t len = strcspn(at, "\n");
		json_array_append_new(a, json_stringn(at, len));
		at += len + (at[len] == '\n');
	}
	return a;
}

static json_t *runs_json(const struct report *r)
{
	json_t *a = json_array();
	for (size_t i = 0; i < r->runs.n; i++) {
		const struct report_run *run = &r->runs.v[i];
		json_t *env = json_object_get(run->doc, "environment");
		json_array_append_new(a, json_pack("{s:o, s:o, s:s, s:s, s:O}", "label", run_string(run->label), "file",
						   run_string(run->path), "date", text_at(run->doc, "date"),
						   "sctrace_version", text_at(run->doc, "sctrace_version"),
						   "environment", env ? env : json_null()));
	}
	return a;
}

static int render_json(const struct report *r, struct buf *out)
{
	json_t *o = json_pack("{s:s, s:o, s:o, s:o, s:o}", "kind", r->kind, "runs", runs_json(r), "differences",
			      line_array(&r->differences), "lessons", line_array(&r->lessons), "notes",
			      line_array(&r->notes));
	for (size_t i = 0; o && i < r->parts.n; i++) {
		struct buf text = {0};
		json_t *rows = NULL;
		if (table_render(r->parts.v[i].table, TABLE_JSON, NULL, &text) == 0)
			rows = json_loads(buf_str(&text), 0, NULL);
		buf_free(&text);
		if (json_object_set_new(o, r->parts.v[i].key, rows) < 0) {
			json_decref(o);
			return -ENOMEM;
		}
	}
	char *text = o ? json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
	json_decref(o);
	if (!text)
		return -ENOMEM;
	escape_json(out, text);
	buf_addc(out, '\n');
	free(text);
	return 0;
}

static void html_head(const struct report *r, struct buf *out)
{
	struct buf title = {0};
	struct buf sub = {0};
	buf_addf(&title, "%s: ", r->kind);
	for (size_t i = 0; i < r->runs.n; i++) {
		buf_addf(&title, "%s%s", i ? " and " : "", r->runs.v[i].label);
		run_line(r, &r->runs.v[i], &sub);
		buf_adds(&sub, i + 1 < r->runs.n ? "; " : "");
	}
	html_begin(out, buf_str(&title), buf_str(&sub));
	buf_free(&title);
	buf_free(&sub);
}

static void html_machines(const struct report *r, struct buf *out)
{
	const char **names = calloc(r->runs.n, sizeof(*names));
	const json_t **envs = calloc(r->runs.n, sizeof(*envs));
	for (size_t i = 0; names && envs && i < r->runs.n; i++) {
		names[i] = r->runs.v[i].label;
		envs[i] = json_object_get(r->runs.v[i].doc, "environment");
	}
	if (names && envs)
		html_environments(out, names, envs, r->runs.n);
	else
		out->failed = true;
	free(names);
	free(envs);
}

static int render_html(struct report *r, struct buf *out)
{
	struct buf footer = {0};
	html_head(r, out);
	html_lessons(out, "What there is to see", buf_str(&r->lessons));
	html_warnings(out, "Where the machines differ", buf_str(&r->differences));
	html_warnings(out, "Notes", buf_str(&r->notes));
	for (size_t i = 0; i < r->figures.n; i++)
		html_figure(out, r->figures.v[i].draw, r);
	for (size_t i = 0; i < r->parts.n; i++)
		html_table(out, r->parts.v[i].heading, r->parts.v[i].table, r->parts.v[i].note);
	html_machines(r, out);
	for (size_t i = 0; i < r->runs.n; i++) {
		buf_addf(&footer, "%s%s: ", i ? "; " : "", r->runs.v[i].label);
		command_line(&r->runs.v[i], &footer);
	}
	html_end(out, buf_str(&footer));
	buf_free(&footer);
	return out->failed ? -ENOMEM : 0;
}

int report_render(struct report *r, const struct table_look *look, struct buf *out)
{
	const char *format = r->opt.format ? r->opt.format : "text";
	if (strcmp(format, "csv") == 0)
		return report_csv(r, out);
	if (strcmp(format, "json") == 0)
		return render_json(r, out);
	if (strcmp(format, "html") == 0)
		return render_html(r, out);
	return render_text(r, strcmp(format, "markdown") == 0, look, out);
}
