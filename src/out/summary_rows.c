#include "out/summary_rows.h"

#include "base/buf.h"
#include "base/escape.h"
#include "syscall/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds those figures of a call that can be summed. Quantiles cannot be summed. */
static void add_counts(struct call_stats *to, const struct call_stats *c)
{
	if (call_stats_is_request(c))
		return;
	to->entered += c->entered;
	to->returned += c->returned;
	to->errors += c->errors;
	to->restarted += c->restarted;
	to->bytes += c->bytes;
	to->judged += c->judged;
	to->waits += c->waits;
	to->waited_ns += c->waited_ns;
	to->ns += c->ns > 0 ? c->ns : 0;
}

/*
 * Returns the name of the call. If its architecture is not the native one, the name contains the architecture, so that
 * equal names can be distinguished.
 */
static char *call_title(const struct call_stats *c)
{
	struct buf name = {0};
	syscall_name(&name, c->arch, c->nr);
	if (c->arch && c->arch != syscall_native_arch() && !call_stats_is_request(c))
		buf_adds(&name, "#32");
	return buf_take(&name);
}

/* Returns the title of a group, such as "sh (1234)" or "3</etc/passwd>". */
static char *group_title(const struct summary_group *g)
{
	struct buf b = {0};
	escape_line(&b, g->name, strlen(g->name));
	if (g->id >= 0)
		buf_addf(&b, " (%lld)", (long long)g->id);
	return buf_take(&b);
}

static bool has_calls(const struct summary_group *g)
{
	for (size_t i = 0; i < g->calls.n; i++)
		if (g->calls.v[i]->entered)
			return true;
	return false;
}

/* Adds the row of a group, which comes before the rows of its calls. */
static void push_group(struct summary_rows *rows, const struct summary_group *g)
{
	struct summary_line line = {.name = group_title(g), .is_group = true};
	for (size_t i = 0; i < g->calls.n; i++) {
		const struct call_stats *c = g->calls.v[i];
		if (call_stats_is_request(c))
			continue;
		if (c->returned && (!line.sum.returned || c->min_ns < line.sum.min_ns))
			line.sum.min_ns = c->min_ns;
		if (c->returned && (!line.sum.returned || c->max_ns > line.sum.max_ns))
			line.sum.max_ns = c->max_ns;
		if (c->spread_ns > line.sum.spread_ns)
			line.sum.spread_ns = c->spread_ns;
		add_counts(&line.sum, c);
		line.sum.ns_squared += c->ns_squared;
		hist_merge(&line.sum.hist, &c->hist);
	}
	vec_push(&rows->lines, line);
}

static int by_name(const void *a, const void *b)
{
	const struct summary_line *x = a, *y = b;
	return strcmp(x->name, y->name);
}

/* Compares two rows: the largest value first, and equal values by name. `ctx` is the column to compare. */
static int by_column(const void *a, const void *b, void *ctx)
{
	const struct summary_column *c = ctx;
	const struct summary_line *x = a, *y = b;
	struct summary_row rx = {x->name, x->is_group ? &x->sum : x->row.call, 0, false};
	struct summary_row ry = {y->name, y->is_group ? &y->sum : y->row.call, 0, false};
	double vx = c == &summary_column_table[SC_PERCENT] ? rx.call->ns : c->value ? c->value(&rx) : 0;
	double vy = c == &summary_column_table[SC_PERCENT] ? ry.call->ns : c->value ? c->value(&ry) : 0;
	vx = isnan(vx) ? -1 : vx;
	vy = isnan(vy) ? -1 : vy;
	return vx < vy ? 1 : vx > vy ? -1 : by_name(a, b);
}

static void sort_lines(struct summary_line *lines, size_t n, int sort)
{
	if (sort < 0 || !n)
		return;
	int id = sort ? sort - 1 : SC_SECONDS;
	if (id == SC_NAME)
		qsort(lines, n, sizeof(*lines), by_name);
	else
		qsort_r(lines, n, sizeof(*lines), by_column, (void *)&summary_column_table[id]);
}

/* Adds the calls of group `g`, sorted as `v` says. `title` becomes the group name of their rows. */
static void push_calls(struct summary_rows *rows, const struct summary_group *g, const char *title,
		       const struct summary_view *v)
{
	size_t first = rows->lines.n;
	bool foreign = v->format == SUMMARY_TRUSS || v->format == SUMMARY_STRACE; /* these tools show only calls */
	for (size_t i = 0; i < g->calls.n; i++) {
		const struct call_stats *c = g->calls.v[i];
		if (!c->entered || (foreign && call_stats_is_request(c)))
			continue;
		struct summary_line line = {.name = call_title(c), .row.call = c, .group = title};
		vec_push(&rows->lines, line);
		add_counts(&rows->total, c);
	}
	if (rows->lines.n > first)
		sort_lines(rows->lines.v + first, rows->lines.n - first, v->sort);
}

static void collect_groups(struct summary_rows *rows, const struct summary *s, const struct summary_view *v)
{
	struct summary_rows heads = {0};
	for (size_t i = 0; i < s->groups.n; i++)
		if (has_calls(s->groups.v[i])) {
			push_group(&heads, s->groups.v[i]);
			heads.lines.v[heads.lines.n - 1].group = (const char *)s->groups.v[i];
		}
	sort_lines(heads.lines.v, heads.lines.n, v->sort);
	for (size_t i = 0; i < heads.lines.n; i++) {
		struct summary_line *head = &heads.lines.v[i];
		const struct summary_group *g = (const void *)head->group;
		/*
		 * If the group has an id, the group name of its rows is the title, which contains the id, because
		 * several processes may have the same name.
		 */
		head->group = g->id >= 0 ? head->name : g->name;
		vec_push(&rows->lines, *head);
		push_calls(rows, g, head->group, v);
	}
	vec_free(&heads.lines);
}

void summary_rows_init(struct summary_rows *rows, const struct summary *s, const struct summary_view *v)
{
	*rows = (struct summary_rows){.grouped = v->by != NULL};
	if (rows->grouped)
		collect_groups(rows, s, v);
	else
		for (size_t i = 0; i < s->groups.n; i++)
			push_calls(rows, s->groups.v[i], "", v);
	if (!rows->grouped)
		sort_lines(rows->lines.v, rows->lines.n, v->sort);
	for (size_t i = 0; i < rows->lines.n; i++) {
		struct summary_line *line = &rows->lines.v[i];
		line->row.name = line->name;
		if (line->is_group)
			line->row.call = &line->sum;
		line->row.total_ns = rows->total.ns;
	}
}

void summary_rows_free(struct summary_rows *rows)
{
	for (size_t i = 0; i < rows->lines.n; i++) {
		free(rows->lines.v[i].name);
		hist_free(&rows->lines.v[i].sum.hist);
	}
	vec_free(&rows->lines);
}
