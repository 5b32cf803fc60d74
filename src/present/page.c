/* SPDX-License-Identifier: MIT */
#include "present/page.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"
#include "run/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void page_add_part(struct page *p, const char *key, const char *heading, struct table *t, const char *note)
{
	struct page_part part = {key, heading ? memory_copy(heading) : NULL, t, note};
	vec_push(&p->parts, part);
}

struct page_section *page_section(struct page *p, enum section_kind kind, const char *heading, const char *prefix)
{
	for (size_t i = 0; i < p->sections.n; i++)
		if (p->sections.v[i].kind == kind && strcmp(p->sections.v[i].heading, heading) == 0)
			return &p->sections.v[i];
	vec_push(&p->sections, (struct page_section){.heading = heading, .prefix = prefix, .kind = kind});
	return &p->sections.v[p->sections.n - 1];
}

void page_add_section(struct page *p, enum section_kind kind, const char *heading, const char *prefix,
		      const struct strings *lines)
{
	struct page_section *s = lines->n ? page_section(p, kind, heading, prefix) : NULL;
	for (size_t i = 0; i < lines->n; i++)
		buf_addf(&s->text, "%s\n", lines->v[i]);
}

void page_add_figure(struct page *p, const char *name, int (*draw)(void *page, int width, struct buf *out))
{
	vec_push(&p->figures, (struct page_figure){name, draw});
}

const char *page_keep(struct page *p, struct buf *text)
{
	char *s = buf_take(text);
	vec_push(&p->strings, s);
	return s;
}

void page_use_unit(struct page *p, const char *unit)
{
	for (size_t i = 0; i < p->parts.n; i++)
		table_use_unit(p->parts.v[i].table, unit);
}

void page_free(struct page *p)
{
	for (size_t i = 0; i < p->parts.n; i++) {
		table_free(p->parts.v[i].table);
		free(p->parts.v[i].heading);
	}
	for (size_t i = 0; i < p->sections.n; i++)
		buf_free(&p->sections.v[i].text);
	for (size_t i = 0; i < p->strings.n; i++)
		free(p->strings.v[i]);
	vec_free(&p->parts);
	vec_free(&p->sections);
	vec_free(&p->figures);
	vec_free(&p->strings);
	buf_free(&p->title);
	buf_free(&p->subtitle);
	buf_free(&p->above);
	buf_free(&p->alarm);
	buf_free(&p->head);
}

void cell_real(struct table *t, size_t col, double value, struct buf *shown)
{
	table_real(t, col, value, buf_str(shown));
	buf_free(shown);
}

void cell_time(struct table *t, size_t col, double seconds, double scale)
{
	if (isfinite(seconds))
		table_duration(t, col, seconds * scale, "", seconds * 1e9, "");
}

void cell_time_above(struct table *t, size_t col, double seconds, double resolution, double scale)
{
	if (!isfinite(resolution) || !isfinite(seconds) || seconds >= resolution)
		cell_time(t, col, seconds, scale);
	else
		table_duration(t, col, seconds * scale, "<", resolution * 1e9, "");
}

/*
 * Converts a number to an integer. Limits it to the range of the type, because a number from a file may be arbitrarily
 * large.
 */
static long long whole(double x)
{
	return (long long)fmax(fmin(x, 9e18), -9e18);
}

void cell_bytes(struct table *t, size_t col, double bytes)
{
	auto_buf b = {0};
	if (!isfinite(bytes))
		return;
	size_human(&b, (uint64_t)whole(fmax(bytes, 0)));
	table_integer(t, col, whole(bytes), buf_str(&b));
}

void cell_count(struct table *t, size_t col, double n, bool star)
{
	auto_buf b = {0};
	if (!isfinite(n))
		return;
	count_human(&b, (uint64_t)whole(fmax(n, 0)));
	if (star)
		buf_addc(&b, '*');
	table_integer(t, col, whole(n), buf_str(&b));
}

void cell_factor(struct table *t, size_t col, double x)
{
	struct buf b = {0};
	if (isfinite(x))
		factor_human(&b, x);
	cell_real(t, col, x, &b);
}

void cell_share(struct table *t, size_t col, double share)
{
	struct buf b = {0};
	if (!isfinite(share))
		return;
	buf_addf(&b, "%.1f %%", 100 * share);
	cell_real(t, col, share, &b);
}

/* Sets a cell to a number without a unit: four significant digits, or a whole number with commas. */
static void cell_plain(struct table *t, size_t col, double x)
{
	struct buf b = {0};
	if (!isfinite(x))
		return;
	if (fabs(x) >= 10000 && fabs(x) < 1e15) {
		buf_adds(&b, x < 0 ? "-" : "");
		count_human(&b, (uint64_t)llround(fabs(x)));
	} else {
		buf_addf(&b, "%.4g", x);
	}
	cell_real(t, col, x, &b);
}

void cell_metrics(struct table *t, size_t col, const struct strings *names, const struct run_subject *s)
{
	for (size_t i = 0; i < names->n; i++) {
		const struct run_metric *m = run_metric_find(s, names->v[i]);
		if (m && m->judged.n)
			cell_plain(t, col + i, m->judged.median);
	}
}

void cell_printf(struct table *t, size_t col, double x, const char *fmt)
{
	char text[64];
	if (!isfinite(x))
		return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), fmt, x);
#pragma GCC diagnostic pop
	table_real(t, col, x, text);
}

struct table *figures_table(const struct figure_column *columns, size_t n)
{
	auto_free struct column *c = memory_zeroed(n, sizeof(*c));
	for (size_t i = 0; i < n; i++)
		c[i] = (struct column){columns[i].key, columns[i].title, columns[i].flags};
	return table_new(c, n);
}

void figure_cell(struct table *t, size_t col, const struct figure_column *c, const void *object)
{
	const void *at = (const char *)object + c->at;
	double x = c->form == FORM_OWN || c->form == FORM_TEXT ? NAN : *(const double *)at;
	double scale = c->scale > 0 ? c->scale : 1;
	if (c->form == FORM_TIME || c->form == FORM_NS)
		cell_time(t, col, c->form == FORM_NS ? x * 1e-9 : x, scale);
	else if (c->form == FORM_BYTES)
		cell_bytes(t, col, x);
	else if (c->form == FORM_COUNT)
		cell_count(t, col, x, false);
	else if (c->form == FORM_INTEGER && isfinite(x))
		table_integer(t, col, whole(x), NULL);
	else if (c->form == FORM_REAL)
		table_real(t, col, x, NULL);
	else if (c->form == FORM_TEXT)
		table_string(t, col, *(char *const *)at);
}

void figures_row(struct table *t, const struct figure_column *columns, size_t n, const void *object)
{
	table_row(t);
	for (size_t i = 0; i < n; i++)
		figure_cell(t, i, &columns[i], object);
}

double figure_of(const struct run_subject *s, size_t member)
{
	double v = *(const double *)(const void *)((const char *)s + member);
	return member == FIGURE_PEAK_RSS && !(v > 0) ? NAN : v;
}

double figure_drawn(const struct run_subject *s, size_t member)
{
	return member == FIGURE(counts.calls) && run_counted_partly(s) ? NAN : figure_of(s, member);
}
