#include "out/html.h"

#include "base/buf.h"
#include "base/escape.h"
#include "base/memory.h"
#include "out/chart.h"
#include "out/svg.h"
#include "out/table.h"

#include <errno.h>
#include <string.h>

/* Nothing may be fetched: what the page needs is in it. */
static const char head[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
	"script-src 'unsafe-inline'\">\n";

static const char style[] =
	"<style>\n"
	":root{--bg:#fff;--ink:#1c2024;--soft:#5f6b76;--rule:#dfe4e8;--head:#f4f6f8;--link:#0072b2;--good:#00734f;"
	"--bad:#b03a00;--warn:#fff6e0;--warnrule:#d9a300}\n"
	"@media screen and (prefers-color-scheme:dark){:root{--bg:#14171a;--ink:#e6e9ec;--soft:#9aa5b0;--rule:#2f363c;"
	"--head:#1d2226;--link:#56b4e9;--good:#3ecfa0;--bad:#ff9150;--warn:#2b2410;--warnrule:#8f6d00}}\n"
	"*{box-sizing:border-box}body{margin:0 auto;max-width:1140px;padding:20px 16px 40px;background:var(--bg);"
	"color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif}\n"
	"h1{font-size:1.6rem;line-height:1.2;margin:.2em 0}h2{font-size:1.15rem;margin:2em 0 .5em}"
	".sub,footer,.note{color:var(--soft)}footer{margin-top:3em;border-top:1px solid var(--rule);padding-top:.8em;"
	"font-size:.85rem;overflow-wrap:anywhere}.note{font-size:.85rem;margin:.4em 0}p,ul.see,.warn{max-width:52rem}\n"
	"ul.see{padding-left:1.2em}ul.see li{margin:.35em 0}\n"
	".warn{background:var(--warn);border-left:4px solid var(--warnrule);padding:.6em 1em;margin:1.2em 0}"
	".warn h2{margin:0 0 .3em;font-size:1rem}.warn ul{margin:0;padding-left:1.1em}\n"
	".scroll{overflow-x:auto;border:1px solid var(--rule);border-radius:6px}"
	"table{border-collapse:collapse;width:100%;font-size:.8rem;font-variant-numeric:tabular-nums}"
	"th,td{padding:.34em .5em;text-align:left;white-space:nowrap;border-bottom:1px solid var(--rule)}"
	"tr:last-child td{border-bottom:0}th{background:var(--head);font-weight:600}"
	".num{text-align:right}.dim{color:var(--soft)}.bold,.total td{font-weight:600}.total td{border-top:2px solid "
	"var(--soft)}.good{color:var(--good)}.bad{color:var(--bad)}\n"
	"table.data th:first-child,table.data td:first-child{position:sticky;left:0;background:var(--bg);z-index:1}"
	"table.data th:first-child{background:var(--head)}"
	"table.data th{cursor:pointer;user-select:none}table.data th[aria-sort=ascending]::after{content:' \\2191'}"
	"table.data th[aria-sort=descending]::after{content:' \\2193'}"
	"table.data th:focus-visible{outline:2px solid var(--link);outline-offset:-2px}\n"
	"table.env td{white-space:normal;overflow-wrap:anywhere;vertical-align:top}tr.diff td{background:var(--warn)}\n"
	"details summary{cursor:pointer;font-weight:600;margin:2em 0 .5em}\n"
	"figure{margin:1.6em 0}figure svg{max-width:100%;height:auto;display:block}figure .narrow{display:none}\n"
	"@media screen and (max-width:620px){figure .wide{display:none}figure .narrow{display:block}"
	"body{padding:12px 12px 32px}table.data .opt{display:none}}\n"
	"@media print{body{max-width:none;padding:0;font-size:10.5pt}.scroll{overflow:visible;border:0}"
	"figure,tr,.warn{break-inside:avoid}h2{break-after:avoid}table{font-size:7pt}th,td{padding:.2em .35em;"
	"white-space:normal}td.num{white-space:nowrap}th{border-bottom:1.5px solid #000}details "
	"summary{list-style:none}}\n"
	"</style>\n</head>\n<body>\n";

/* Sorting by a click: numbers by their exact value, empty cells last, totals where they are. Printing unfolds details. */
static const char script[] =
	"<script>\n"
	"document.querySelectorAll('table.data th').forEach(function(th){\n"
	"th.tabIndex=0;th.title='Sort by this column';\n"
	"function sort(){var tb=th.closest('table').tBodies[0],k=th.cellIndex,"
	"up=th.getAttribute('aria-sort')!=='ascending';\n"
	"th.parentNode.querySelectorAll('th').forEach(function(x){x.removeAttribute('aria-sort')});\n"
	"th.setAttribute('aria-sort',up?'ascending':'descending');\n"
	"function key(r){var c=r.cells[k],v=c.dataset.v;return v!==undefined?+v:(c.textContent||null)}\n"
	"Array.from(tb.rows).filter(function(r){return !r.classList.contains('total')}).sort(function(a,b){\n"
	"var x=key(a),y=key(b);if(x===null||y===null)return (x===null)-(y===null);\n"
	"var n=typeof x===typeof y;var d=n?(typeof x==='number'?x-y:x.localeCompare(y)):(typeof x==='number'?-1:1);\n"
	"return up?d:-d}).forEach(function(r){tb.insertBefore(r,tb.querySelector('tr.total'))})}\n"
	"th.addEventListener('click',sort);\n"
	"th.addEventListener('keydown',function(e){if(e.key==='Enter'||e.key===' '){e.preventDefault();sort()}})});\n"
	"window.addEventListener('beforeprint',function(){document.querySelectorAll('details').forEach("
	"function(d){d.open=true})});\n"
	"</script>\n";

static void element(struct buf *out, const char *name, const char *class, const char *text)
{
	if (!text || !*text)
		return;
	buf_addf(out, class ? "<%s class=\"%s\">" : "<%s>", name, class);
	svg_escape(out, text);
	buf_addf(out, "</%s>\n", name);
}

void html_begin(struct buf *out, const char *title, const char *subtitle)
{
	buf_adds(out, head);
	element(out, "title", NULL, title);
	buf_adds(out, style);
	element(out, "h1", NULL, title);
	element(out, "p", "sub", subtitle);
}

/* The lines of `text` as a list. */
static void list(struct buf *out, const char *class, const char *text)
{
	buf_addf(out, "<ul class=\"%s\">\n", class);
	while (*text) {
		size_t len = strcspn(text, "\n");
		struct buf line = {0};
		buf_add(&line, text, len);
		element(out, "li", NULL, buf_str(&line));
		buf_free(&line);
		text += len + (text[len] == '\n');
	}
	buf_adds(out, "</ul>\n");
}

void html_lessons(struct buf *out, const char *heading, const char *text)
{
	if (!text || !*text)
		return;
	element(out, "h2", NULL, heading);
	list(out, "see", text);
}

void html_warnings(struct buf *out, const char *heading, const char *text)
{
	if (!text || !*text)
		return;
	buf_adds(out, "<section class=\"warn\">\n");
	element(out, "h2", NULL, heading);
	list(out, "see", text);
	buf_adds(out, "</section>\n");
}

void html_table(struct buf *out, const char *heading, const struct table *t, const char *note)
{
	element(out, "h2", NULL, heading);
	buf_adds(out, "<div class=\"scroll\">\n");
	if (table_render(t, TABLE_HTML, NULL, out) < 0)
		out->failed = true;
	buf_adds(out, "</div>\n");
	element(out, "p", "note", note);
}

void html_figure(struct buf *out, html_draw_fn *draw, void *ctx)
{
	static const struct {
		const char *class;
		int width;
	} forms[] = {{"wide", CHART_WIDE}, {"narrow", CHART_NARROW}};
	size_t begin = out->len;
	buf_adds(out, "<figure>\n");
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		buf_addf(out, "<div class=\"%s\">\n", forms[i].class);
		int r = draw(ctx, forms[i].width, out);
		if (r < 0) { /* -EINVAL: there is nothing to draw */
			if (r == -ENOMEM)
				memory_note_failure();
			buf_truncate(out, begin);
			return;
		}
		buf_adds(out, "</div>\n");
	}
	buf_adds(out, "</figure>\n");
}

/* A value in words: lists joined, numbers as they are, nothing for null. */
static void value_text(const json_t *v, struct buf *out)
{
	size_t i;
	json_t *x;
	if (json_is_string(v))
		buf_adds(out, json_string_value(v));
	else if (json_is_integer(v))
		buf_addf(out, "%lld", (long long)json_integer_value(v));
	else if (json_is_real(v))
		buf_addf(out, "%.6g", json_real_value(v));
	else if (json_is_boolean(v))
		buf_adds(out, json_is_true(v) ? "yes" : "no");
	json_array_foreach(v, i, x)
	{
		buf_adds(out, i ? ", " : "");
		value_text(x, out);
	}
}

/* Machines of one run each; `path` walks down their common keys. */
struct sheet {
	const json_t *const *envs;
	size_t n;
	struct buf *out;
};

static const json_t *at_path(const json_t *v, const char *group, const char *key)
{
	v = group ? json_object_get(v, group) : v;
	return json_object_get(v, key);
}

/* Does it change by itself, so that a difference tells nothing? */
static bool is_volatile(const char *key)
{
	static const char *const keys[] = {"date", "uptime_s", "mhz",   "available_bytes", "free_bytes",
					   "1min", "5min",     "15min", "directory"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

static void sheet_row(const struct sheet *s, const char *group, const char *key)
{
	struct buf cells = {0};
	bool differ = false;
	bool any = false;
	for (size_t i = 0; i < s->n; i++) {
		const json_t *v = at_path(s->envs[i], group, key);
		struct buf text = {0};
		value_text(v, &text);
		any |= text.len > 0;
		/* Objects compare by content; what is unknown on one side is no difference. */
		const json_t *first = at_path(s->envs[0], group, key);
		differ |= !json_is_null(v) && !json_is_null(first) && !json_equal((json_t *)v, (json_t *)first);
		buf_adds(&cells, "<td>");
		svg_escape(&cells, buf_str(&text));
		buf_adds(&cells, "</td>");
		buf_free(&text);
	}
	if (any) {
		buf_adds(s->out, differ && !is_volatile(key) ? "<tr class=\"diff\"><td class=\"dim\">"
							     : "<tr><td class=\"dim\">");
		if (group) {
			svg_escape(s->out, group);
			buf_adds(s->out, ": ");
		}
		svg_escape(s->out, key);
		buf_addf(s->out, "</td>%s</tr>\n", buf_str(&cells));
	}
	buf_free(&cells);
}

void html_environments(struct buf *out, const char *const *names, const json_t *const *envs, size_t n)
{
	struct sheet s = {envs, n, out};
	const char *key;
	const char *inner;
	json_t *v;
	json_t *w;
	if (!n || !json_is_object(envs[0]))
		return;
	buf_adds(out, "<details><summary>The machine</summary>\n<div class=\"scroll\"><table class=\"env\">\n");
	if (n > 1) {
		buf_adds(out, "<thead><tr><th></th>");
		for (size_t i = 0; i < n; i++)
			element(out, "th", NULL, names[i]);
		buf_adds(out, "</tr></thead>\n");
	}
	json_object_foreach((json_t *)envs[0], key, v)
	{
		if (!json_is_object(v))
			sheet_row(&s, NULL, key);
		json_object_foreach(v, inner, w) sheet_row(&s, key, inner);
	}
	buf_adds(out, "</table></div></details>\n");
}

void html_end(struct buf *out, const char *footer)
{
	element(out, "footer", NULL, footer);
	buf_adds(out, script);
	buf_adds(out, "</body>\n</html>\n");
}
