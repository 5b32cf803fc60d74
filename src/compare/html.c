/* The comparison as one HTML page. */
#include "compare/compare.h"

#include "base/buf.h"
#include "config.h"
#include "out/html.h"
#include "out/table.h"

#include <errno.h>
#include <stdint.h>

/* The command line, and by which version. */
static void footer(const struct compare *c, struct buf *out)
{
	const char *date = json_string_value(json_object_get(c->env, "date"));
	buf_addf(out, "sctrace %s, %s:", SCTRACE_VERSION, date ? date : "");
	buf_adds(out, " sctrace");
	for (int i = 0; i < c->argc; i++)
		buf_addf(out, " %s", c->argv[i]);
}

/* Lines as sentences of one paragraph. */
static void notes(const struct compare *c, struct buf *out)
{
	struct buf lines = {0};
	compare_notes(c, &lines);
	for (const char *p = buf_str(&lines); *p; p++) {
		if (*p != '\n')
			buf_addc(out, *p);
		else if (p[1])
			buf_adds(out, "; ");
	}
	buf_free(&lines);
}

static void heading(const struct compare *c, struct buf *out)
{
	const struct subject *s = c->subjects.v[0];
	buf_adds(out, s->strategy ? "Ways of copying " : "Commands compared");
	if (s->strategy)
		compare_title(c, out);
}

int compare_html(const struct compare *c, struct buf *out)
{
	struct buf text[6] = {0}; /* title, host, notes, lessons, reasons, footer */
	struct table *t = compare_table(c, false);
	if (!t)
		return -ENOMEM;
	heading(c, &text[0]);
	const char *host = json_string_value(json_object_get(c->env, "host"));
	buf_addf(&text[1], "on %s", host ? host : "this machine");
	notes(c, &text[2]);
	compare_lessons(c, &text[3]);
	compare_explain(c, &text[4]);
	footer(c, &text[5]);
	struct buf warnings = {0};
	compare_warn_say(c, "", &warnings);

	html_begin(out, buf_str(&text[0]), buf_str(&text[1]));
	html_lessons(out, "What to see", buf_str(&text[3]));
	html_warnings(out, "Beware", buf_str(&warnings));
	html_table(out, "The figures", t, buf_str(&text[2]));
	void *ctx = (void *)(uintptr_t)c;
	html_figure(out, compare_draw_scan, ctx);
	html_figure(out, compare_draw_bars, ctx);
	html_figure(out, compare_draw_tradeoff, ctx);
	html_lessons(out, "Why each costs what it costs", buf_str(&text[4]));
	html_environments(out, (const char *const[]){host ? host : "this machine"}, (const json_t *const[]){c->env}, 1);
	html_end(out, buf_str(&text[5]));

	table_free(t);
	buf_free(&warnings);
	for (size_t i = 0; i < 6; i++)
		buf_free(&text[i]);
	return out->failed ? -ENOMEM : 0;
}
