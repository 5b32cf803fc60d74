/*
 * Writes all samples as CSV with one sample in each row, the form that spreadsheets and statistics programs can load.
 */
#include "base/memory.h"
#include "present/page.h"
#include "run/judge.h"
#include "syscall/call_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
		{"run", "", 0},    {"name", "", 0},     {"group", "", 0},   {"calls", "", 0},  {"errors", "", 0},
		{"bytes", "", 0},  {"total_ns", "", 0}, {"mean_ns", "", 0}, {"p50_ns", "", 0}, {"p90_ns", "", 0},
		{"p99_ns", "", 0}, {"min_ns", "", 0},   {"max_ns", "", 0},  {"cost_ns", "", 0}};
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
			}
	}
	return t;
}

void samples_csv(struct page *p, struct buf *out)
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
