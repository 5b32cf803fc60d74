/* SPDX-License-Identifier: MIT */
#include "out/summary_table.h"

#include "base/buf.h"
#include "out/summary_rows.h"
#include "out/table.h"
#include "out/width.h"
#include "syscall/call_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

#define GROUP_LEAST 18 /* the width of the names of groups before columns are left out */

static const struct summary_columns wide = {{SC_NAME, SC_SECONDS, SC_CALLS, SC_ERRORS, SC_PERCENT, SC_AVG, SC_MIN,
					     SC_P50, SC_P90, SC_P99, SC_MAX, SC_STDDEV, SC_BYTES, SC_BYTES_PER_CALL},
					    14};
static const struct summary_columns json = {
	{SC_NAME,     SC_SECONDS, SC_CALLS,  SC_ERRORS, SC_UNFINISHED, SC_RESTARTED, SC_PERCENT, SC_AVG,
	 SC_MIN,      SC_P50,     SC_P90,    SC_P99,    SC_MAX,        SC_STDDEV,    SC_BYTES,   SC_BYTES_PER_CALL,
	 SC_RESOLVED, SC_WAITS,   SC_WAITED, SC_CPU},
	20};

/*
 * Returns true for exit(2), which does not return, and for rt_sigreturn(2), which does not return to its caller. Some
 * engines do not see the ends of these calls.
 */
static bool never_returns(const struct call_stats *c)
{
	const struct syscall_desc *d = syscall_lookup(c->arch, c->nr);
	return d && (d->result == R_NONE || strcmp(d->name, "rt_sigreturn") == 0);
}

/* Returns true if `column` (restarted or unfinished) contains a value other than zero. */
static bool is_news(const struct summary_rows *rows, int column)
{
	for (size_t i = 0; i < rows->lines.n; i++) {
		const struct summary_row *row = &rows->lines.v[i].row;
		if (!rows->lines.v[i].is_group && summary_column_table[column].value(row) > 0 &&
		    !never_returns(row->call))
			return true;
	}
	return false;
}

/*
 * Returns the columns to print: those that the user requested or, by default, those of the format, with the columns
 * restarted, unfinished, waits and waited if they are not empty.
 */
static struct summary_columns columns_of(const struct summary_rows *rows, const struct summary_view *v)
{
	if (v->columns.n)
		return v->columns;
	if (v->format == SUMMARY_JSON)
		return json;
	struct summary_columns c = v->format == SUMMARY_WIDE ? wide : summary_columns_usual;
	if (v->format == SUMMARY_CSV)
		return c;
	static const unsigned char extra[] = {SC_RESTARTED, SC_UNFINISHED};
	for (size_t i = 0; i < sizeof(extra); i++) {
		if (!is_news(rows, extra[i]))
			continue;
		memmove(c.index + 5, c.index + 4, c.n - 4);
		c.index[4] = extra[i];
		c.n++;
	}
	if (rows->total.waits) {
		c.index[c.n++] = SC_WAITS;
		c.index[c.n++] = SC_WAITED;
	}
	return c;
}

/*
 * Computes the width of each column in text. This is the minimum width of the column (if `tight`, the width of its
 * title) or, if larger, the width of its widest cell and a space. Returns the sum of the widths.
 */
static int measure(const struct summary_rows *rows, const struct summary_columns *c, bool tight, int *width)
{
	int sum = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct summary_column *col = &summary_column_table[c->index[i]];
		width[i] = tight ? (int)strlen(col->title) + 1 : col->width;
		for (size_t k = 0; k <= rows->lines.n; k++) {
			auto_buf cell = {0};
			struct summary_row total = {"", &rows->total, rows->total.ns, true};
			const struct summary_row *row = k < rows->lines.n ? &rows->lines.v[k].row : &total;
			summary_cell(c->index[i], row, &cell);
			int need = (int)width_of(buf_str(&cell)) + 1 +
				   (k < rows->lines.n && !rows->lines.v[k].is_group && rows->grouped ? 2 : 0);
			if (need > width[i])
				width[i] = need;
		}
		sum += width[i];
	}
	return sum;
}

/* Leaves out less important columns until the others fit. Keeps the column by which the rows are sorted. */
static void leave_out(struct summary_columns *c, int *width, int total, const struct summary_view *v)
{
	static const unsigned char spare[] = {SC_P50, SC_P99, SC_WAITED, SC_AVG, SC_MAX, SC_WAITS};
	for (size_t k = 0; k < sizeof(spare) && total > v->width; k++)
		for (size_t i = 0; i < c->n; i++) {
			if (c->index[i] != spare[k] || v->sort == spare[k] + 1 || c->named >> spare[k] & 1)
				continue;
			total -= width[i];
			c->n--;
			memmove(c->index + i, c->index + i + 1, c->n - i);
			memmove(width + i, width + i + 1, (c->n - i) * sizeof(*width));
		}
}

static int sum_of(const int *width, size_t n)
{
	int sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += width[i];
	return sum;
}

static size_t name_column(const struct summary_columns *c)
{
	size_t i = 0;
	while (c->index[i] != SC_NAME)
		i++;
	return i;
}

/* Returns the smallest width of the first column. Names of groups can be cut, but names of calls cannot. */
static int least_name_width(const struct summary_rows *rows)
{
	size_t least = GROUP_LEAST;
	for (size_t k = 0; k < rows->lines.n; k++) {
		size_t need = width_of(rows->lines.v[k].name) + (rows->grouped ? 3 : 1);
		least = !rows->lines.v[k].is_group && need > least ? need : least;
	}
	return (int)least;
}

/*
 * Makes the table at most as wide as the terminal, if possible: moves the columns closer together, cuts the names of
 * groups, and leaves out columns. The names get the room that is left.
 */
static void fit(const struct summary_rows *rows, struct summary_columns *c, int *width, const struct summary_view *v)
{
	int total = measure(rows, c, true, width), least = least_name_width(rows);
	int wanted = width[name_column(c)];
	int spare = wanted > least ? wanted - least : 0;
	width[name_column(c)] -= spare;
	leave_out(c, width, total - spare, v);
	int room = v->width - sum_of(width, c->n);
	width[name_column(c)] += room > spare ? spare : room > 0 ? room : 0;
}

/* Replaces the middle of a name that is too wide by an ellipsis: descriptors and paths have the same middle parts. */
static void cut_middle(struct buf *name, size_t width)
{
	if (width_of(buf_str(name)) <= width)
		return;
	auto_free char *whole = buf_take(name);
	buf_add(name, whole, width_head(whole, width / 3));
	buf_adds(name, "…");
	buf_adds(name, width_tail(whole, width - width / 3 - 1));
}

/* Appends one cell. Names are aligned to the left. There is no space before the `first` cell. */
static void put_cell(struct buf *out, const struct summary_column *c, const char *text, int width, bool first)
{
	bool left = c->kind == KIND_NAME;
	int taken = (int)width_of(text) + (left && !first);
	size_t blanks = width > taken ? (size_t)(width - taken) : 0;
	buf_adds(out, left && !first ? " " : "");
	buf_fill(out, ' ', left ? 0 : blanks);
	buf_adds(out, text);
	buf_fill(out, ' ', left ? blanks : 0);
}

static void end_line(struct buf *out)
{
	while (out->len && out->s[out->len - 1] == ' ')
		buf_truncate(out, out->len - 1);
	buf_addc(out, '\n');
}

static void text_line(struct buf *out, const struct summary_columns *c, const int *width, const struct summary_row *row,
		      const char *indent)
{
	for (size_t i = 0; i < c->n; i++) {
		auto_buf cell = {0};
		if (c->index[i] == SC_NAME)
			buf_adds(&cell, indent);
		summary_cell(c->index[i], row, &cell);
		if (c->index[i] == SC_NAME)
			cut_middle(&cell, (size_t)width[i] - 1);
		put_cell(out, &summary_column_table[c->index[i]], buf_str(&cell), width[i], i == 0);
	}
	end_line(out);
}

static void text_total(struct buf *out, const struct summary_rows *rows, const struct summary_columns *c,
		       const int *width)
{
	for (size_t i = 0; i < c->n; i++) {
		int rule = summary_column_table[c->index[i]].rule;
		int extra = width[i] - summary_column_table[c->index[i]].width;
		rule += rule && extra > 0 ? extra : 0;
		rule = rule < width[i] ? rule : width[i] - 1;
		buf_fill(out, ' ', (size_t)(width[i] - rule));
		buf_fill(out, '-', (size_t)rule);
	}
	end_line(out);
	struct summary_row total = {"", &rows->total, rows->total.ns, true};
	text_line(out, c, width, &total, "");
}

static void render_text(const struct summary_rows *rows, const struct summary_view *v, struct buf *out)
{
	int width[SUMMARY_COLUMNS_MAX];
	struct summary_columns c = columns_of(rows, v);
	bool limited = v->width && v->format == SUMMARY_TEXT;
	if (measure(rows, &c, false, width) > v->width && limited)
		fit(rows, &c, width, v);
	buf_adds(out, v->colour ? BOLD : "");
	for (size_t i = 0; i < c.n; i++) {
		const struct summary_column *col = &summary_column_table[c.index[i]];
		put_cell(out, col, rows->grouped && c.index[i] == SC_NAME ? v->by : col->title, width[i], i == 0);
	}
	end_line(out);
	buf_adds(out, v->colour ? PLAIN : "");
	size_t shown = 0, left = 0;
	for (size_t i = 0; i < rows->lines.n; i++) {
		const struct summary_line *line = &rows->lines.v[i];
		bool is_call = rows->grouped && !line->is_group;
		if (v->top && is_call)
			continue; /* only the sums of the groups are shown */
		if (v->top && shown == v->top) {
			left++;
			continue;
		}
		text_line(out, &c, width, &line->row, is_call ? "  " : "");
		shown++;
	}
	text_total(out, rows, &c, width);
	if (left)
		buf_addf(out, "%zu more: --top=all\n", left);
}

/* Appends a line in the form of truss: %-20s%5jd.%09ld%8d%8d. If a value fills its column, a space follows it. */
static void truss_line(struct buf *out, const char *name, const struct call_stats *c)
{
	long long ns = c->ns > 0 ? llround(c->ns) : 0;
	buf_addf(out, "%-20s%s", name, strlen(name) >= 20 && ns / 1000000000 > 9999 ? " " : "");
	buf_addf(out, "%5lld.%09lld", ns / 1000000000, ns % 1000000000);
	uint64_t counts[] = {call_stats_calls(c), c->errors};
	for (size_t i = 0; i < 2; i++)
		buf_addf(out, counts[i] > 9999999 ? " %llu" : "%8llu", (unsigned long long)counts[i]);
	buf_addc(out, '\n');
}

static void render_truss(const struct summary_rows *rows, struct buf *out)
{
	buf_addf(out, "%-20s%15s%8s%8s\n", "syscall", "seconds", "calls", "errors");
	for (size_t i = 0; i < rows->lines.n; i++)
		truss_line(out, rows->lines.v[i].row.name, rows->lines.v[i].row.call);
	buf_addf(out, "%20s%15s%8s%8s\n", "", "-------------", "-------", "-------");
	truss_line(out, "", &rows->total);
}

/* The columns of strace, in the order of strace. */
struct strace_column {
	enum summary_column_id id;
	const char *title;
	int width;
};

static const struct strace_column strace_columns[] = {
	{SC_PERCENT, "% time", 6},  {SC_SECONDS, "seconds", 11}, {SC_MIN, "shortest", 8},  {SC_MAX, "longest", 7},
	{SC_AVG, "usecs/call", 11}, {SC_CALLS, "calls", 9},      {SC_ERRORS, "errors", 9}, {SC_NAME, "syscall", 16},
};

static const unsigned char strace_usual[] = {SC_PERCENT, SC_SECONDS, SC_AVG, SC_CALLS, SC_ERRORS, SC_NAME};

static const struct strace_column *strace_column(int id)
{
	for (size_t i = 0; i < sizeof(strace_columns) / sizeof(*strace_columns); i++)
		if ((int)strace_columns[i].id == id)
			return &strace_columns[i];
	return NULL;
}

/*
 * Chooses those columns of the view that strace has as well. Without -U, chooses the usual columns of strace, of which
 * the last is the name of the call.
 */
static size_t strace_choose(const struct summary_view *v, const struct strace_column **columns)
{
	size_t n = 0;
	for (size_t i = 0; i < v->columns.n; i++)
		if (strace_column(v->columns.index[i]))
			columns[n++] = strace_column(v->columns.index[i]);
	for (size_t i = 0; !v->columns.n && i < sizeof(strace_usual); i++)
		columns[n++] = strace_column(strace_usual[i]);
	return n;
}

static double above_zero(double x)
{
	return x > 0 ? x : 0;
}

static void strace_cell(struct buf *out, const struct strace_column *c, const struct summary_row *r)
{
	const struct call_stats *s = r->call;
	uint64_t calls = call_stats_calls(s);
	double ns = above_zero(s->ns);
	switch ((int)c->id) {
	case SC_PERCENT:
		buf_addf(out, "%.2f", r->is_total ? 100.0 : ns > 0 ? 100 * ns / r->total_ns : 0);
		break;
	case SC_SECONDS:
		buf_addf(out, "%.6f", ns / 1e9);
		break;
	case SC_MIN:
		buf_addf(out, "%.6f", above_zero(s->min_ns) / 1e9);
		break;
	case SC_MAX:
		buf_addf(out, "%.6f", above_zero(s->max_ns) / 1e9);
		break;
	case SC_AVG:
		buf_addf(out, "%llu", (unsigned long long)(calls ? ns / (double)calls / 1e3 : 0));
		break;
	case SC_CALLS:
		buf_addf(out, "%llu", (unsigned long long)calls);
		break;
	case SC_ERRORS:
		if (s->errors)
			buf_addf(out, "%llu", (unsigned long long)s->errors);
		break;
	default:
		buf_adds(out, r->name);
	}
}

static void strace_line(struct buf *out, const struct strace_column **columns, const int *width, size_t n,
			const struct summary_row *row)
{
	for (size_t i = 0; i < n; i++) {
		auto_buf text = {0};
		if (row)
			strace_cell(&text, columns[i], row);
		else
			buf_adds(&text, columns[i]->title);
		buf_adds(out, i ? " " : "");
		if (columns[i]->id != SC_NAME)
			buf_addf(out, "%*s", width[i], buf_str(&text));
		else
			buf_addf(out, "%-*s", i + 1 < n ? width[i] : 0, buf_str(&text));
	}
	buf_addc(out, '\n');
}

static void strace_rule(struct buf *out, const int *width, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, i ? " " : "");
		buf_fill(out, '-', (size_t)width[i]);
	}
	buf_addc(out, '\n');
}

/*
 * Computes the widths of columns as strace does: from the figures of the total, and from the longest name, to which a
 * space is added.
 */
static void strace_widths(const struct summary_rows *rows, const struct strace_column **columns, size_t n,
			  const struct summary_row *total, int *width)
{
	for (size_t i = 0; i < n; i++) {
		width[i] = columns[i]->width;
		for (size_t k = 0; k <= rows->lines.n; k++) {
			auto_buf text = {0};
			strace_cell(&text, columns[i], k < rows->lines.n ? &rows->lines.v[k].row : total);
			int need = (int)text.len + (columns[i]->id == SC_NAME);
			width[i] = need > width[i] ? need : width[i];
		}
	}
}

/*
 * Appends the table in the form of strace 6.1 (its file count.c). Widths grow with the figures, and an error count of
 * zero is blank.
 */
static void render_strace(const struct summary_rows *rows, const struct summary_view *v, struct buf *out)
{
	const struct strace_column *columns[SUMMARY_COLUMNS_MAX];
	int width[SUMMARY_COLUMNS_MAX] = {0};
	size_t n = strace_choose(v, columns);
	struct call_stats sum = rows->total;
	for (size_t i = 0; i < rows->lines.n; i++) {
		const struct call_stats *c = rows->lines.v[i].row.call;
		sum.min_ns = i == 0 || c->min_ns < sum.min_ns ? c->min_ns : sum.min_ns;
		sum.max_ns = c->max_ns > sum.max_ns ? c->max_ns : sum.max_ns;
	}
	struct summary_row total = {"total", &sum, rows->total.ns, true};
	strace_widths(rows, columns, n, &total, width);
	strace_line(out, columns, width, n, NULL);
	strace_rule(out, width, n);
	for (size_t i = 0; i < rows->lines.n; i++)
		strace_line(out, columns, width, n, &rows->lines.v[i].row);
	strace_rule(out, width, n);
	strace_line(out, columns, width, n, &total);
}

static void table_cell(struct table *t, size_t col, enum summary_column_id id, const struct summary_row *row)
{
	const struct summary_column *c = &summary_column_table[id];
	auto_buf shown = {0};
	summary_cell(id, row, &shown);
	double x = c->value ? c->value(row) : NAN;
	if (row->is_total && id == SC_NAME)
		table_string(t, col, row->name);
	else if (row->is_total && !c->summed)
		;
	else if (c->kind == KIND_NAME || c->kind == KIND_WORD)
		table_string(t, col, buf_str(&shown));
	else if (c->kind == KIND_COUNT && !isnan(x))
		table_integer(t, col, (long long)x, buf_str(&shown));
	else
		table_real(t, col, c->kind == KIND_TIME ? x / 1e9 : x, buf_str(&shown));
}

/* Returns the table for all formats but aligned text. With --by, the first column contains the group. */
static struct table *table_of(const struct summary_rows *rows, const struct summary_view *v)
{
	struct summary_columns c = columns_of(rows, v);
	struct column columns[SUMMARY_COLUMNS_MAX + 1];
	size_t lead = rows->grouped;
	if (lead)
		columns[0] = (struct column){v->by, v->by, 0};
	for (size_t i = 0; i < c.n; i++) {
		const struct summary_column *col = &summary_column_table[c.index[i]];
		columns[lead + i] = (struct column){col->key, col->title, col->kind == KIND_NAME ? 0 : COL_RIGHT};
	}
	struct table *t = table_new(columns, lead + c.n);
	for (size_t k = 0; k < rows->lines.n; k++) {
		if (rows->lines.v[k].is_group)
			continue;
		table_row(t);
		if (lead)
			table_string(t, 0, rows->lines.v[k].group);
		for (size_t i = 0; i < c.n; i++)
			table_cell(t, lead + i, c.index[i], &rows->lines.v[k].row);
	}
	struct summary_row total = {"total", &rows->total, rows->total.ns, true};
	table_total(t);
	for (size_t i = 0; i < c.n; i++)
		table_cell(t, lead + i, c.index[i], &total);
	return t;
}

struct table *summary_table(const struct summary *s, const struct summary_view *v)
{
	struct summary_rows rows;
	summary_rows_init(&rows, s, v);
	struct table *t = table_of(&rows, v);
	summary_rows_free(&rows);
	return t;
}

const char summary_format_words[] = "text, wide, truss, strace, csv, markdown, json";

void summary_render(const struct summary *s, const struct summary_view *v, struct buf *out)
{
	static const enum table_format formats[] = {
		[SUMMARY_CSV] = TABLE_CSV, [SUMMARY_MARKDOWN] = TABLE_MARKDOWN, [SUMMARY_JSON] = TABLE_JSON};
	struct summary_rows rows;
	summary_rows_init(&rows, s, v);
	if (v->format == SUMMARY_TEXT || v->format == SUMMARY_WIDE)
		render_text(&rows, v, out);
	else if (v->format == SUMMARY_TRUSS)
		render_truss(&rows, out);
	else if (v->format == SUMMARY_STRACE)
		render_strace(&rows, v, out);
	else {
		struct table *t = table_of(&rows, v);
		table_render(t, formats[v->format], NULL, out);
		table_free(t);
	}
	summary_rows_free(&rows);
}
