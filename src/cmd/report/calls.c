/* Saved `-c` runs: one as `-c` shows it; several side by side, with what was added, dropped, slower. */
#include "cmd/report/report.h"

#include "base/size.h"
#include "syscall/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One run of each says nothing of how runs differ by themselves; a change of the typical time below this is not told. */
#define TELLING 1.10
/* Medians of fewer calls are chance. */
#define CALLS_MIN 10

/* One call, by name, over all groups, in each run. */
struct call_row {
	char *name;
	struct call_stats *in; /* one per run, zero where the run lacks it */
};

struct calls {
	VEC(struct call_row) rows;
	size_t nruns;
};

static void calls_free(struct calls *c)
{
	for (size_t i = 0; i < c->rows.n; i++) {
		for (size_t k = 0; k < c->nruns; k++)
			hist_free(&c->rows.v[i].in[k].hist);
		free(c->rows.v[i].in);
		free(c->rows.v[i].name);
	}
	vec_free(&c->rows);
}

static struct call_row *row_of(struct calls *c, uint32_t arch, int64_t nr)
{
	struct buf name = {0};
	syscall_name(&name, arch, nr);
	for (size_t i = 0; i < c->rows.n; i++)
		if (strcmp(c->rows.v[i].name, buf_str(&name)) == 0) {
			buf_free(&name);
			return &c->rows.v[i];
		}
	struct call_row row = {buf_take(&name), calloc(c->nruns, sizeof(*row.in))};
	if (row.name && row.in && vec_push(&c->rows, row))
		return &c->rows.v[c->rows.n - 1];
	free(row.name);
	free(row.in);
	return NULL;
}

static int calls_init(struct calls *c, const struct report *r)
{
	c->nruns = r->runs.n;
	for (size_t k = 0; k < r->runs.n; k++) {
		const struct summary *s = &r->runs.v[k].calls;
		for (size_t g = 0; g < s->groups.n; g++)
			for (size_t i = 0; i < s->groups.v[g]->calls.n; i++) {
				const struct call_stats *from = s->groups.v[g]->calls.v[i];
				struct call_row *row = row_of(c, from->arch, from->nr);
				if (!row || call_stats_add(&row->in[k], from) < 0)
					return -ENOMEM;
			}
	}
	return 0;
}

/* How much a call changed between the first run and the others, in seconds: what is sorted by. */
static double weight(const struct call_row *row, size_t nruns)
{
	double most = 0;
	for (size_t k = 1; k < nruns; k++)
		most = fmax(most, fabs(row->in[k].ns - row->in[0].ns));
	return nruns > 1 ? most : fabs(row->in[0].ns);
}

static int compare_rows(const void *a, const void *b, void *nruns)
{
	double x = weight(a, *(size_t *)nruns);
	double y = weight(b, *(size_t *)nruns);
	return (x < y) - (x > y);
}

static bool typical_known(const struct call_stats *c)
{
	return c->returned >= CALLS_MIN && call_stats_resolved(c) == RESOLVED;
}

/* What became of a call from run `a` to run `b`, in words; `mark` is how it is shown. */
static void change_words(const struct call_stats *a, const struct call_stats *b, struct buf *out, enum table_mark *mark)
{
	long long calls = (long long)call_stats_calls(b) - (long long)call_stats_calls(a);
	*mark = MARK_NONE;
	if (!a->entered || !b->entered) {
		buf_adds(out, !a->entered && !b->entered ? "" : a->entered ? "dropped" : "added");
		*mark = MARK_BOLD;
		return;
	}
	if (calls)
		buf_addf(out, "%+lld calls", calls);
	double x = call_stats_quantile(a, 0.5);
	double y = call_stats_quantile(b, 0.5);
	if (typical_known(a) && typical_known(b) && x > 0 && y > 0 && fmax(x / y, y / x) >= TELLING) {
		buf_addf(out, "%s%.2f times %s", calls ? ", " : "", fmax(x / y, y / x), y > x ? "slower" : "faster");
		*mark = y > x ? MARK_BAD : MARK_GOOD;
	}
	if (b->errors != a->errors)
		buf_addf(out, "%s%+lld errors", out->len ? ", " : "", (long long)b->errors - (long long)a->errors);
}

/* Columns per run: calls, seconds, p50. */
enum { C_CALLS, C_SECONDS, C_P50, C_PER_RUN };

/* "calls host": a string that lives as long as the report, as a table's column names must. */
static const char *keep(struct report *r, const char *what, const char *label)
{
	struct buf text = {0};
	buf_addf(&text, "%s %s", what, label);
	char *s = buf_take(&text);
	if (s && vec_push(&r->strings, s))
		return s;
	free(s);
	return "";
}

/* One run needs no label in its columns. */
static struct column *columns_new(struct report *r)
{
	static const char *const keys[] = {[C_CALLS] = "calls", [C_SECONDS] = "seconds", [C_P50] = "p50_ns"};
	static const char *const titles[] = {[C_CALLS] = "calls", [C_SECONDS] = "seconds", [C_P50] = "p50"};
	size_t n = r->runs.n;
	struct column *v = calloc(1 + n * (C_PER_RUN + 1), sizeof(*v));
	if (!v)
		return NULL;
	v[0] = (struct column){"name", "syscall", 0};
	size_t at = 1;
	for (int what = 0; what < C_PER_RUN; what++)
		for (size_t k = 0; k < n; k++) {
			unsigned flags = COL_RIGHT | (n > 1 && what != C_CALLS ? COL_OPTIONAL : 0);
			flags |= k ? COL_JOINED : 0; /* of one run alone there is nothing to compare */
			v[at++] = n == 1 ? (struct column){keys[what], titles[what], flags}
					 : (struct column){keep(r, keys[what], r->runs.v[k].label),
							   keep(r, titles[what], r->runs.v[k].label), flags};
		}
	for (size_t k = 1; k < n; k++) {
		const char *name = keep(r, "change", r->runs.v[k].label);
		v[at++] = (struct column){name, n > 2 ? name : "change", COL_WRAP};
	}
	return v;
}

static void set_call_cells(struct table *t, size_t n, const struct call_row *row)
{
	for (size_t k = 0; k < n; k++) {
		const struct call_stats *c = &row->in[k];
		if (!c->entered)
			continue;
		char text[40];
		snprintf(text, sizeof(text), "%.6f", c->ns > 0 ? c->ns * 1e-9 : 0);
		table_integer(t, 1 + k, (long long)call_stats_calls(c), NULL);
		table_real(t, 1 + n + k, c->ns * 1e-9, text);
		if (!c->returned)
			continue;
		struct buf p50 = {0};
		double typical = call_stats_quantile(c, 0.5);
		enum resolved resolved = call_stats_resolved(c);
		if (resolved == UNRESOLVED)
			buf_addc(&p50, '<');
		else if (resolved == DOUBTFUL)
			buf_addc(&p50, '~');
		duration_human(&p50, resolved == UNRESOLVED ? call_stats_resolution(c) : typical);
		table_real(t, 1 + 2 * n + k, typical, buf_str(&p50));
		buf_free(&p50);
	}
}

static void set_changes(struct table *t, size_t n, const struct call_row *row)
{
	for (size_t k = 1; k < n; k++) {
		struct buf words = {0};
		enum table_mark mark;
		change_words(&row->in[0], &row->in[k], &words, &mark);
		table_string(t, 3 * n + k, buf_str(&words));
		table_mark_cell(t, 3 * n + k, mark);
		buf_free(&words);
	}
}

/* Sums of all calls, below a rule. */
static void set_totals(struct table *t, const struct calls *c)
{
	table_total(t);
	table_string(t, 0, "total");
	for (size_t k = 0; k < c->nruns; k++) {
		uint64_t calls = 0;
		double ns = 0;
		for (size_t i = 0; i < c->rows.n; i++) {
			calls += call_stats_calls(&c->rows.v[i].in[k]);
			ns += c->rows.v[i].in[k].ns;
		}
		char text[40];
		snprintf(text, sizeof(text), "%.6f", ns > 0 ? ns * 1e-9 : 0);
		table_integer(t, 1 + k, (long long)calls, NULL);
		table_real(t, 1 + c->nruns + k, ns * 1e-9, text);
	}
}

/* Names the calls that `wanted` says, at most some. */
static void list_calls(const struct calls *c, size_t k, bool added, struct buf *out)
{
	size_t n = 0;
	for (size_t i = 0; i < c->rows.n; i++) {
		const struct call_row *row = &c->rows.v[i];
		bool is = added ? !row->in[0].entered && row->in[k].entered : row->in[0].entered && !row->in[k].entered;
		if (!is)
			continue;
		if (n < 6)
			buf_addf(out, "%s%s", n ? ", " : "", row->name);
		n++;
	}
	if (n > 6)
		buf_addf(out, " and %zu more", n - 6);
}

static void add_lessons(struct report *r, const struct calls *c)
{
	for (size_t k = 1; k < r->runs.n; k++) {
		struct buf added = {0};
		struct buf dropped = {0};
		uint64_t before = 0;
		uint64_t after = 0;
		for (size_t i = 0; i < c->rows.n; i++) {
			before += call_stats_calls(&c->rows.v[i].in[0]);
			after += call_stats_calls(&c->rows.v[i].in[k]);
		}
		list_calls(c, k, true, &added);
		list_calls(c, k, false, &dropped);
		buf_addf(&r->lessons, "%s makes %llu calls, %s %llu.\n", r->runs.v[0].label, (unsigned long long)before,
			 r->runs.v[k].label, (unsigned long long)after);
		if (added.len)
			buf_addf(&r->lessons, "Only %s makes: %s.\n", r->runs.v[k].label, buf_str(&added));
		if (dropped.len)
			buf_addf(&r->lessons, "Only %s makes: %s.\n", r->runs.v[0].label, buf_str(&dropped));
		buf_free(&added);
		buf_free(&dropped);
	}
}

static int add_table(struct report *r, struct calls *c)
{
	static const char note[] =
		"Slower and faster are told of a call's median (p50) from ten calls on, where it moved by 10 % and "
		"stands out of "
		"the tracing's own cost. A run of each does not show how much runs differ by themselves.";
	size_t n = r->runs.n;
	struct column *columns = columns_new(r);
	struct table *t = columns ? table_new(columns, 1 + 3 * n + n - 1) : NULL;
	free(columns);
	if (t) {
		if (c->rows.n > 1) /* none: the list is NULL, which is not to be sorted */
			qsort_r(c->rows.v, c->rows.n, sizeof(*c->rows.v), compare_rows, &n);
		for (size_t i = 0; i < c->rows.n; i++) {
			table_row(t);
			table_string(t, 0, c->rows.v[i].name);
			set_call_cells(t, n, &c->rows.v[i]);
			set_changes(t, n, &c->rows.v[i]);
		}
		set_totals(t, c);
	}
	return report_add_part(r, "calls", "System calls", t, n > 1 ? note : NULL);
}

/* The programs as wholes, a row a run: what `-c` tells below its table. */
static int add_programs(struct report *r)
{
	static const struct {
		struct column column;
		const char *path;
		enum { P_SECONDS, P_BYTES, P_COUNT } show;
	} members[] = {
		{{"wall_s", "wall", COL_RIGHT}, "wall_s", P_SECONDS},
		{{"user_s", "user", COL_RIGHT}, "user_s", P_SECONDS},
		{{"system_s", "system", COL_RIGHT}, "system_s", P_SECONDS},
		{{"peak_rss_bytes", "peak RSS", COL_RIGHT}, "peak_rss_bytes", P_BYTES},
		{{"processes", "processes", COL_RIGHT | COL_OPTIONAL}, "processes", P_COUNT},
		{{"calls_before_main", "before main", COL_RIGHT | COL_OPTIONAL}, "calls_before_main", P_COUNT},
	};
	enum { MEMBERS = sizeof(members) / sizeof(*members) };
	struct column columns[1 + MEMBERS] = {{"run", "run", 0}};
	for (size_t i = 0; i < MEMBERS; i++)
		columns[1 + i] = members[i].column;
	struct table *t = table_new(columns, 1 + MEMBERS);
	for (size_t k = 0; t && k < r->runs.n; k++) {
		const json_t *program = json_object_get(r->runs.v[k].doc, "program");
		table_row(t);
		table_string(t, 0, r->runs.v[k].label);
		for (size_t i = 0; i < MEMBERS; i++) {
			double v = report_number(program, members[i].path);
			struct buf text = {0};
			if (v == 0)
				buf_addc(&text, '0');
			else if (members[i].show == P_SECONDS)
				duration_human(&text, v * 1e9);
			else if (members[i].show == P_BYTES && v >= 0)
				size_human(&text, (uint64_t)v);
			else if (v >= 0)
				count_human(&text, (uint64_t)v);
			table_real(t, 1 + i, v, isfinite(v) ? buf_str(&text) : NULL);
			buf_free(&text);
		}
	}
	return report_add_part(r, "programs", "The programs, traced", t, NULL);
}

static bool any_program(const struct report *r)
{
	for (size_t k = 0; k < r->runs.n; k++)
		if (json_is_object(json_object_get(r->runs.v[k].doc, "program")))
			return true;
	return false;
}

int report_calls(struct report *r)
{
	struct calls c = {0};
	int rc = calls_init(&c, r);
	if (rc == 0) {
		add_lessons(r, &c);
		rc = add_table(r, &c);
	}
	if (rc == 0 && !r->merged && any_program(r))
		rc = add_programs(r);
	calls_free(&c);
	return rc;
}
