/* The table of `strace -c`. */
#include "base/buf.h"
#include "out/summary_rows.h"

#include <string.h>

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
static size_t choose(const struct summary_view *v, const struct strace_column **columns)
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

static void cell(struct buf *out, const struct strace_column *c, const struct summary_row *r)
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

static void line(struct buf *out, const struct strace_column **columns, const int *width, size_t n,
		 const struct summary_row *row)
{
	for (size_t i = 0; i < n; i++) {
		auto_buf text = {0};
		if (row)
			cell(&text, columns[i], row);
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

static void rule(struct buf *out, const int *width, size_t n)
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
static void measure(const struct summary_rows *rows, const struct strace_column **columns, size_t n,
		    const struct summary_row *total, int *width)
{
	for (size_t i = 0; i < n; i++) {
		width[i] = columns[i]->width;
		for (size_t k = 0; k <= rows->lines.n; k++) {
			auto_buf text = {0};
			cell(&text, columns[i], k < rows->lines.n ? &rows->lines.v[k].row : total);
			int need = (int)text.len + (columns[i]->id == SC_NAME);
			width[i] = need > width[i] ? need : width[i];
		}
	}
}

void summary_render_strace(const struct summary_rows *rows, const struct summary_view *v, struct buf *out)
{
	const struct strace_column *columns[SUMMARY_COLUMNS_MAX];
	int width[SUMMARY_COLUMNS_MAX] = {0};
	size_t n = choose(v, columns);
	struct call_stats sum = rows->total;
	for (size_t i = 0; i < rows->lines.n; i++) {
		const struct call_stats *c = rows->lines.v[i].row.call;
		sum.min_ns = i == 0 || c->min_ns < sum.min_ns ? c->min_ns : sum.min_ns;
		sum.max_ns = c->max_ns > sum.max_ns ? c->max_ns : sum.max_ns;
	}
	struct summary_row total = {"total", &sum, rows->total.ns, true};
	measure(rows, columns, n, &total, width);
	line(out, columns, width, n, NULL);
	rule(out, width, n);
	for (size_t i = 0; i < rows->lines.n; i++)
		line(out, columns, width, n, &rows->lines.v[i].row);
	rule(out, width, n);
	line(out, columns, width, n, &total);
}
