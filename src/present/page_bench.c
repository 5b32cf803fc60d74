/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "present/page.h"
#include "run/judge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fills the pages of `sctrace bench`: one for each test (syscall, switch, sched, latency, load), and one for all tests
 * together.
 */
#define NS 1e9 /* nanoseconds in a second: the scale of columns whose keys end with _ns */

static bool is_of(const struct run_subject *s, const char *test)
{
	return !test || (s->test && strcmp(s->test, test) == 0);
}

/*
 * Returns the name of a subject for a table. In a run of all tests, each name begins with the name of its test; this
 * prefix is left out.
 */
static const char *name_of(const struct run_subject *s, const char *test)
{
	size_t len = test ? strlen(test) : 0;
	return test && strncmp(s->name, test, len) == 0 && s->name[len] == ' ' ? s->name + len + 1 : s->name;
}

static void add_count(struct table *t, size_t col, double n)
{
	if (isfinite(n))
		table_integer(t, col, (long long)fmin(n, 9e18), NULL);
}

/* Sets six cells, beginning at column `col`, to the figures of R's summary(): minimum, quartiles, mean and maximum. */
static void summary_cells(struct table *t, size_t col, const struct sample_summary *d, double resolution)
{
	const double figures[] = {d->min, d->q1, d->median, d->mean, d->q3, d->max};
	for (size_t i = 0; d->n && i < sizeof(figures) / sizeof(*figures); i++)
		cell_time_above(t, col + i, figures[i], resolution, NS);
}

/*
 * Adds the table `key` of the subjects of a test, or of all subjects if `test` is NULL. The first column contains the
 * name of the subject without the test; row() sets the other cells of FORM_OWN.
 */
static void add_subjects(struct page *p, const char *test, const char *key, const struct figure_column *columns,
			 size_t n, void (*row)(struct table *t, const struct run *r, const struct run_subject *s))
{
	const struct run *r = p->runs[0].run;
	struct table *t = figures_table(columns, n);
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		if (!is_of(s, test))
			continue;
		figures_row(t, columns, n, s);
		table_string(t, 0, name_of(s, test));
		row(t, r, s);
	}
	page_add_part(p, key, test ? texts_find(&r->heads, test) : NULL, t, NULL);
}

enum { O_MIN = 2, O_SD = O_MIN + 6, O_OUT, O_KERNEL, O_N, O_SURE = O_N + 3 };

static void operation_row(struct table *t, const struct run *r, const struct run_subject *s)
{
	const struct sample_summary *d = &s->judged.of[METRIC_TIME];
	(void)r;
	summary_cells(t, O_MIN, d, s->resolution_ns * 1e-9);
	if (d->n > 1)
		cell_time(t, O_SD, d->stddev, NS);
	table_integer(t, O_OUT, (long long)run_outliers(s), NULL);
	/*
	 * `kernel_calls` is shown with two significant digits: with two decimals, a small number would be shown as
	 * 0.00.
	 */
	if (s->kernel_calls == 0) {
		table_real(t, O_KERNEL, 0, s->trap == TRUTH_YES ? "trap" : "no");
		table_mark_cell(t, O_KERNEL, MARK_DIM);
	} else {
		cell_printf(t, O_KERNEL, s->kernel_calls, "%.2g");
	}
	table_integer(t, O_N, (long long)d->n, NULL);
	table_string(t, O_SURE, s->resolved == TRUTH_NO ? "no" : "yes");
}

static void add_syscall_tables(struct page *p, const char *test)
{
	static const struct figure_column columns[] = {
		{"operation", "operation", 0},
		{"group", "group", COL_DATA_ONLY, FORM_TEXT, FIGURE(group)},
		{"min_ns", "Min.", COL_RIGHT},
		{"q1_ns", "1st Qu.", COL_RIGHT | COL_SPARE},
		{"median_ns", "Median", COL_RIGHT},
		{"mean_ns", "Mean", COL_RIGHT},
		{"q3_ns", "3rd Qu.", COL_RIGHT | COL_SPARE},
		{"max_ns", "Max.", COL_RIGHT},
		{"stddev_ns", "std dev", COL_RIGHT | COL_SPARE},
		{"outliers", "outliers", COL_RIGHT | COL_OPTIONAL},
		{"kernel_calls", "kernel", COL_RIGHT},
		{"samples", "samples", COL_RIGHT | COL_OPTIONAL},
		{"batch", "batch", COL_RIGHT | COL_OPTIONAL, FORM_INTEGER, FIGURE(batch)},
		{"two_loops_ns", "two loops", COL_DATA_ONLY, FORM_REAL, FIGURE(two_loops_ns)},
		{"resolved", "resolved", COL_DATA_ONLY},
	};
	add_subjects(p, test, "operations", columns, sizeof(columns) / sizeof(*columns), operation_row);
}

enum { W_NAME, W_MIN = 3, W_OUT = W_MIN + 6, W_VOL = W_OUT + 3, W_INVOL, W_N };

static void switch_row(struct table *t, const struct run *r, const struct run_subject *s)
{
	const char *name = name_of(s, s->test), *two = strstr(name, " (two CPUs)");
	auto_buf kind = {0};
	(void)r;
	buf_add(&kind, name, two ? (size_t)(two - name) : strlen(name));
	table_string(t, W_NAME, buf_str(&kind));
	summary_cells(t, W_MIN, &s->judged.of[METRIC_TIME], NAN);
	table_integer(t, W_OUT, (long long)run_outliers(s), NULL);
	cell_printf(t, W_VOL, s->voluntary_per_round, "%.2f");
	cell_printf(t, W_INVOL, s->involuntary_per_round, "%.2f");
	table_integer(t, W_N, (long long)s->judged.of[METRIC_TIME].n, NULL);
}

static void add_switch_tables(struct page *p, const char *test)
{
	static const struct figure_column columns[] = {
		{"kind", "kind", 0},
		{"what", "what", 0, FORM_TEXT, FIGURE(what)},
		{"cpus", "CPUs", COL_SPARE, FORM_TEXT, FIGURE(cpus)},
		{"min_ns", "Min.", COL_RIGHT},
		{"q1_ns", "1st Qu.", COL_RIGHT | COL_OPTIONAL},
		{"median_ns", "Median", COL_RIGHT},
		{"mean_ns", "Mean", COL_RIGHT | COL_OPTIONAL},
		{"q3_ns", "3rd Qu.", COL_RIGHT | COL_OPTIONAL},
		{"max_ns", "Max.", COL_RIGHT},
		{"outliers", "outliers", COL_RIGHT | COL_OPTIONAL},
		{"round_median_ns", "round", COL_RIGHT | COL_SPARE, FORM_NS, FIGURE(round_median_ns), NS},
		{"own_median_ns", "own", COL_RIGHT | COL_SPARE, FORM_NS, FIGURE(own_median_ns), NS},
		{"voluntary_switches_per_round", "voluntary", COL_RIGHT},
		{"involuntary_switches_per_round", "involuntary", COL_RIGHT},
		{"samples", "samples", COL_RIGHT | COL_OPTIONAL},
		{"rounds", "rounds", COL_DATA_ONLY, FORM_INTEGER, FIGURE(rounds)},
	};
	add_subjects(p, test, "switches", columns, sizeof(columns) / sizeof(*columns), switch_row);
}

/* Splits a name such as "cpu_loops" into "cpu" and "loops". */
static void split_work(const char *name, struct buf *part, const char **unit)
{
	size_t len = strcspn(name, "_");
	buf_add(part, name, len);
	*unit = name[len] ? name + len + 1 : "";
}

/* Appends the work that the loads did during the measurement, such as "cpu: 28 Mloops, net: 2239 packets". */
static void say_work(const struct run_subject *s, struct buf *out)
{
	for (size_t i = 0; i < s->load_work.n; i++) {
		auto_buf part = {0};
		const char *unit;
		split_work(s->load_work.v[i].name, &part, &unit);
		buf_addf(out, "%s%s: %.0f %s", i ? ", " : "", buf_str(&part), s->load_work.v[i].number, unit);
	}
}

/* Adds a table of the work that the loads did during the measurement. Each part of a load has a row. */
static void add_work(struct page *p)
{
	static const struct column c[] = {{"load", "load", 0},
					  {"part", "part", 0},
					  {"work", "work", COL_RIGHT},
					  {"unit", "", 0},
					  {"work_per_s", "per second", COL_RIGHT}};
	const struct run *r = p->runs[0].run;
	struct table *t = table_new(c, sizeof(c) / sizeof(*c));
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		for (size_t k = 0; k < s->load_work.n; k++) {
			auto_buf part = {0};
			const char *unit;
			split_work(s->load_work.v[k].name, &part, &unit);
			table_row(t);
			table_string(t, 0, s->name);
			table_string(t, 1, buf_str(&part));
			add_count(t, 2, s->load_work.v[k].number);
			table_string(t, 3, unit);
			cell_printf(t, 4, s->load_work.v[k].number / s->load_span_s, "%.0f");
		}
	}
	if (!table_rows(t)) {
		table_free(t);
		return;
	}
	page_add_part(p, "work", "work done by the loads:", t, NULL);
}

/*
 * Returns the number of wake-ups whose delay was in [from, to) ns. A bucket of the histogram counts as a whole if its
 * lower limit is in this range, and not at all otherwise.
 */
static uint64_t count_within(const struct hist *h, uint64_t from, uint64_t to)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < h->n; i++) {
		uint64_t low = hist_bucket_low(h->first + i);
		if (low >= from && low < to)
			n += h->count[i];
	}
	return n;
}

/*
 * Adds a table of the number of wake-ups by delay. Each load has a column. Each row is a range of delays: 0 to 1 us, 1
 * to 2 us, 2 to 4 us, 4 to 8 us, and so on.
 */
static void add_histogram(struct page *p)
{
	const struct run *r = p->runs[0].run;
	auto_free struct column *c = memory_zeroed(r->subjects.n + 1, sizeof(*c));
	double max = 0;
	double min = INFINITY;
	c[0] = (struct column){"from_us", "from (us)", COL_RIGHT};
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		c[i + 1] = (struct column){s->name, s->name, COL_RIGHT};
		max = fmax(max, s->max_ns);
		min = fmin(min, s->min_ns);
	}
	struct table *t = table_new(c, r->subjects.n + 1);
	for (uint64_t from = 0, to = 1000; (double)from <= max && to; from = to, to *= 2) {
		if ((double)to <= min)
			continue;
		table_row(t);
		table_integer(t, 0, (long long)(from / 1000), NULL);
		for (size_t i = 0; i < r->subjects.n; i++)
			table_integer(t, i + 1, (long long)count_within(&r->subjects.v[i].hist, from, to), NULL);
	}
	if (!table_rows(t)) {
		table_free(t);
		return;
	}
	page_add_part(p, "histogram", "wake-ups by delay:", t, NULL);
}

static void latency_row(struct table *t, const struct run *r, const struct run_subject *s)
{
	auto_buf work = {0};
	(void)r;
	say_work(s, &work);
	table_string(t, 9, buf_str(&work));
}

static void add_latency_tables(struct page *p, const char *test)
{
	static const struct figure_column columns[] = {
		{"load", "load", 0},
		{"mean_us", "mean", COL_RIGHT, FORM_NS, FIGURE(mean_ns), 1e6},
		{"max_us", "max", COL_RIGHT, FORM_NS, FIGURE(max_ns), 1e6},
		{"min_us", "min", COL_RIGHT, FORM_NS, FIGURE(min_ns), 1e6},
		{"stddev_us", "std dev", COL_RIGHT | COL_SPARE, FORM_NS, FIGURE(stddev_ns), 1e6},
		{"p99_us", "p99", COL_RIGHT | COL_SPARE, FORM_NS, FIGURE(p99_ns), 1e6},
		{"p999_us", "p99.9", COL_RIGHT, FORM_NS, FIGURE(p999_ns), 1e6},
		{"wakeups", "wake-ups", COL_RIGHT | COL_OPTIONAL, FORM_INTEGER, FIGURE(wakeups)},
		{"missed", "missed", COL_RIGHT, FORM_INTEGER, FIGURE(missed)},
		{"load_work", "work of the load", COL_DATA_ONLY},
	};
	add_subjects(p, test, "latencies", columns, sizeof(columns) / sizeof(*columns), latency_row);
	if (test)
		return;
	add_work(p);
	add_histogram(p);
}

static void load_row(struct table *t, const struct run *r, const struct run_subject *s)
{
	struct interval ratio;
	double over = run_over_none(r, s, &ratio);
	auto_buf work = {0};
	say_work(s, &work);
	cell_printf(t, 5, over, "%+.1f %%");
	table_real(t, 6, 100 * (ratio.low - 1), NULL);
	table_real(t, 7, 100 * (ratio.high - 1), NULL);
	table_integer(t, 10, (long long)s->judged.of[METRIC_TIME].n, NULL);
	table_string(t, 11, buf_str(&work));
}

static void add_load_tables(struct page *p, const char *test)
{
	static const struct figure_column columns[] = {
		{"load", "load", 0},
		{"wall_mean_s", "mean", COL_RIGHT, FORM_TIME, FIGURE(judged.of[METRIC_TIME].mean)},
		{"wall_stddev_s", "std dev", COL_RIGHT, FORM_TIME, FIGURE(judged.of[METRIC_TIME].stddev)},
		{"wall_min_s", "min", COL_RIGHT, FORM_TIME, FIGURE(judged.of[METRIC_TIME].min)},
		{"wall_max_s", "max", COL_RIGHT, FORM_TIME, FIGURE(judged.of[METRIC_TIME].max)},
		{"over_none_percent", "over none", COL_RIGHT},
		{"over_none_low_percent", "from", COL_DATA_ONLY},
		{"over_none_high_percent", "to", COL_DATA_ONLY},
		{"user_mean_s", "user", COL_RIGHT | COL_OPTIONAL, FORM_TIME, FIGURE(judged.of[METRIC_LOAD_USER].mean)},
		{"system_mean_s", "system", COL_RIGHT | COL_OPTIONAL, FORM_TIME,
		 FIGURE(judged.of[METRIC_LOAD_SYSTEM].mean)},
		{"runs", "runs", COL_RIGHT},
		{"load_work", "work of the load", COL_DATA_ONLY},
	};
	add_subjects(p, test, "loads", columns, sizeof(columns) / sizeof(*columns), load_row);
	if (!test)
		add_work(p);
}

/* Fills in what the pages of all tests have in common: the title, and the texts around the tables. */
static void frame(struct page *p, const char *title)
{
	const struct run *r = p->runs[0].run;
	buf_adds(&p->title, title);
	machine_line(&r->env, &p->subtitle);
	buf_addf(&p->above, "%s\n", buf_str(&p->subtitle));
	machine_alarm(&r->env, &p->alarm);
	for (size_t i = 0; i < r->head.n; i++)
		buf_addf(&p->head, "%s\n", r->head.v[i]);
	page_add_section(p, SECTION_NOTES, "Notes", "note: ", &r->notes);
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		if (s->unable)
			buf_addf(&page_section(p, SECTION_NOTES, "Notes", "note: ")->text,
				 "%s cannot run on this machine: %s\n", s->name, s->unable);
	}
}

static const struct {
	const char *name;
	unsigned kind;
	const char *title;
	const char *figure;
	void (*add)(struct page *p, const char *test);
	int (*draw)(void *page, int width, struct buf *out);
} tests[] = {
	{"syscall", RUN_SYSCALL, "Cost of an operation", "boxes", add_syscall_tables, draw_boxes},
	{"switch", RUN_SWITCH, "Cost of a switch from one task to another", "boxes", add_switch_tables, draw_boxes},
	{"sched", RUN_SCHED, "How CPU-bound processes share the CPUs", "progress", page_add_sched, draw_progress},
	{"latency", RUN_LATENCY, "Delay of timer wake-ups under load", "hist", add_latency_tables, draw_latencies},
	{"load", RUN_LOAD, "Elapsed time under load", "bars", add_load_tables, draw_loads},
};
#define TESTS (sizeof(tests) / sizeof(*tests))

void page_of_test(struct page *p)
{
	size_t i = 0;
	while (tests[i].kind != p->runs[0].run->bits)
		i++;
	frame(p, tests[i].title);
	page_add_figure(p, tests[i].figure, tests[i].draw);
	tests[i].add(p, NULL);
}

/*
 * Makes *part a run that contains only the subjects of one test. Their strings and samples still belong to `r`, so the
 * caller frees only the list part->subjects.
 */
static void subjects_of(const struct run *r, size_t test, struct run *part)
{
	*part = *r;
	part->bits = tests[test].kind;
	part->subjects.v = NULL;
	part->subjects.n = part->subjects.cap = 0;
	for (size_t i = 0; i < r->subjects.n; i++)
		if (is_of(&r->subjects.v[i], tests[test].name)) {
			struct run_subject s = r->subjects.v[i];
			s.name = (char *)name_of(&s, tests[test].name);
			vec_push(&part->subjects, s);
		}
}

/*
 * Returns the number that follows the first occurrence of `key` (such as " width=\"") in an SVG, or 0 if there is none.
 */
static int svg_number(const char *svg, const char *key)
{
	const char *at = strstr(svg, key);
	return at ? atoi(at + strlen(key)) : 0;
}

/* Draws the pictures of all tests, one below the other. */
static int draw_tests(void *page, int width, struct buf *out)
{
	const struct page *p = page;
	auto_buf all = {0};
	int widest = 0;
	int height = 0;
	for (size_t i = 0; i < TESTS; i++) {
		struct run part;
		auto_buf svg = {0};
		subjects_of(p->runs[0].run, i, &part);
		struct page_run run = {&part, p->runs[0].label, p->runs[0].path};
		struct page one = {.runs = &run, .n = 1};
		if (part.subjects.n && tests[i].draw(&one, width, &svg) == 0) {
			buf_addf(&all, "<svg y=\"%d\" %s", height, buf_str(&svg) + strlen("<svg "));
			widest = svg_number(svg.s, " width=\"") > widest ? svg_number(svg.s, " width=\"") : widest;
			height += svg_number(svg.s, " height=\"");
		}
		page_free(&one);
		vec_free(&part.subjects);
	}
	if (height)
		buf_addf(out,
			 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
			 "%d\">\n%s</svg>\n",
			 widest, height, widest, height, buf_str(&all));
	return height ? 0 : -EINVAL;
}

void page_of_bench(struct page *p)
{
	const struct run *r = p->runs[0].run;
	frame(p, "Cost of calls, switches, time slices and wake-ups on this machine");
	page_add_figure(p, "tests", draw_tests);
	for (size_t i = 0; i < TESTS; i++) {
		bool any = false;
		for (size_t k = 0; k < r->subjects.n; k++)
			any |= is_of(&r->subjects.v[k], tests[i].name);
		if (any)
			tests[i].add(p, tests[i].name);
	}
}
