/* SPDX-License-Identifier: MIT */
#include "out/html.h"

#include "base/buf.h"
#include "out/chart.h"
#include "out/svg.h"
#include "out/table.h"
#include "out/width.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* The page must not load anything, so it contains its style sheet and its script. */
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
	".whole{white-space:nowrap}ul.see{padding-left:1.2em}ul.see li{margin:.35em 0}\n"
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
	/* A table that is wider than the text may use the whole width of the window. */
	"@media screen{body>.scroll{position:relative;left:50%;transform:translateX(-50%);width:max-content;"
	"min-width:100%;max-width:calc(100vw - 48px)}}\n"
	"figure{margin:1.6em 0}figure svg{max-width:100%;height:auto;display:block}figure .narrow{display:none}\n"
	"@media screen and (max-width:620px){figure .wide{display:none}figure .narrow{display:block}"
	"body{padding:12px 12px 32px}table.data .opt{display:none}}\n"
	"@media print{body{max-width:none;padding:0;font-size:10.5pt}.scroll{overflow:visible;border:0}"
	"figure,tr,.warn{break-inside:avoid}h2{break-after:avoid}table{font-size:7pt}th,td{padding:.2em .35em;"
	"white-space:normal}td.num{white-space:nowrap}th{border-bottom:1.5px solid #000}details "
	"summary{list-style:none}}\n"
	"</style>\n</head>\n<body>\n";

/*
 * A click on the title of a column sorts the table by that column. Numbers are sorted by their exact value, empty cells
 * come last, and totals stay at the end. Before the browser prints the page, the script opens all <details> elements.
 */
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

/*
 * Appends the first `len` bytes of `text`, a sentence. The browser must not break a line within an option ("--runs"), or
 * before a percent sign. It may break the lines within a word of more than WORD_MAX bytes, such as a path.
 */
#define WORD_MAX 40
static void sentence(struct buf *out, const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		auto_buf word = {0};
		size_t n = strcspn(text + at, " \n");
		buf_add(&word, text + at, n);
		bool whole = n <= WORD_MAX && strstr(buf_str(&word), "--");
		buf_adds(out, whole ? "<span class=\"whole\">" : "");
		svg_escape(out, buf_str(&word));
		buf_adds(out, whole ? "</span>" : "");
		at += n;
		if (at < len)
			buf_adds(out, text[++at] == '%' ? "&#160;" : " ");
	}
}

void html_begin(struct buf *out, const char *title, const char *subtitle)
{
	buf_adds(out, head);
	element(out, "title", NULL, title);
	buf_adds(out, style);
	element(out, "h1", NULL, title);
	element(out, "p", "sub", subtitle);
}

void html_lessons(struct buf *out, const char *heading, const char *text)
{
	if (!text || !*text)
		return;
	element(out, "h2", NULL, heading);
	buf_adds(out, "<ul class=\"see\">\n");
	while (*text) {
		size_t len = strcspn(text, "\n");
		buf_adds(out, len ? "<li>" : "");
		sentence(out, text, len);
		buf_adds(out, len ? "</li>\n" : "");
		text += len + (text[len] == '\n');
	}
	buf_adds(out, "</ul>\n");
}

void html_warnings(struct buf *out, const char *heading, const char *text)
{
	if (!text || !*text)
		return;
	buf_adds(out, "<section class=\"warn\">\n");
	html_lessons(out, heading, text);
	buf_adds(out, "</section>\n");
}

void html_table(struct buf *out, const char *heading, const struct table *t, const char *note)
{
	element(out, "h2", NULL, heading);
	buf_adds(out, "<div class=\"scroll\">\n");
	table_render(t, TABLE_HTML, NULL, out);
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
		if (draw(ctx, forms[i].width, out) < 0) { /* -EINVAL: there is nothing to draw */
			buf_truncate(out, begin);
			return;
		}
		buf_adds(out, "</div>\n");
	}
	buf_adds(out, "</figure>\n");
}

void html_end(struct buf *out, const char *footer)
{
	element(out, "footer", NULL, footer);
	buf_adds(out, script);
	buf_adds(out, "</body>\n</html>\n");
}

/* An underscore within a word (copy_file_range) needs no escape. */
void markdown_text(struct buf *out, const char *text)
{
	for (const char *c = text; *c; c++) {
		bool in_word = c > text && isalnum((unsigned char)c[-1]) && isalnum((unsigned char)c[1]);
		if (strchr("\\*`<[]", *c) || (*c == '_' && !in_word))
			buf_addc(out, '\\');
		buf_addc(out, *c);
	}
}

void markdown_lines(struct buf *out, const char *prefix, const char *text)
{
	auto_buf shown = {0};
	markdown_text(&shown, text);
	width_wrap(out, prefix, buf_str(&shown), 0);
}

void markdown_block(struct buf *out, const char *lines)
{
	buf_addf(out, "```\n%s```\n", lines);
}
