/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "base/size.h"
#include "out/chart.h"
#include "present/page.h"
#include "syscall/call_table.h"
#include "syscall/uring_ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Displays saved runs of `sctrace -c`. One run is displayed as -c displayed it. Several runs are displayed beside each
 * other, with words that say which calls were added or dropped, or became slower or faster.
 */
/*
 * The smallest ratio of two medians that is called slower or faster. A smaller ratio may be chance, because one run
 * does not show how much the median varies.
 */
#define TELLING 1.10
/* The smallest number of calls whose median is compared. With fewer calls, the median is too uncertain. */
#define CALLS_MIN 10

/*
 * The figures of one system call in each run: the sums over all groups of --by (processes, threads, descriptors or
 * paths).
 */
struct call_row {
	char *name;
	struct call_stats *in; /* one element for each run, zeroed if the run does not contain the call */
	bool is_request;       /* an operation of io_uring, which is not part of sums */
};

struct calls {
	VEC(struct call_row) rows;
	size_t nruns;
	bool waited; /* in some run, a call is known to have waited */
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
	auto_buf name = {0};
	syscall_name(&name, arch, nr);
	for (size_t i = 0; i < c->rows.n; i++)
		if (strcmp(c->rows.v[i].name, buf_str(&name)) == 0)
			return &c->rows.v[i];
	struct call_row row = {buf_take(&name), memory_zeroed(c->nruns, sizeof(*row.in)), arch == SYSCALL_URING_ARCH};
	vec_push(&c->rows, row);
	return &c->rows.v[c->rows.n - 1];
}

static void calls_init(struct calls *c, const struct page *p)
{
	c->nruns = p->n;
	for (size_t k = 0; k < p->n; k++) {
		const struct summary *s = &p->runs[k].run->calls;
		for (size_t g = 0; g < s->groups.n; g++)
			for (size_t i = 0; i < s->groups.v[g]->calls.n; i++) {
				const struct call_stats *from = s->groups.v[g]->calls.v[i];
				call_stats_add(&row_of(c, from->arch, from->nr)->in[k], from);
				c->waited |= from->waits > 0;
			}
	}
}

/*
 * Returns the number by which the rows are sorted: the largest change of the call's total time, in ns, from the first
 * run to another run. If there is only one run, the number is the total time.
 */
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

static void calls_sort(struct calls *c)
{
	if (c->rows.n > 1) /* an empty list is NULL, which qsort_r(3) must not be given */
		qsort_r(c->rows.v, c->rows.n, sizeof(*c->rows.v), compare_rows, &c->nruns);
}

static bool typical_known(const struct call_stats *c)
{
	return c->returned >= CALLS_MIN && call_stats_resolved(c) == RESOLVED;
}

/* Appends "+1,234 calls", "-1 call" for a difference and the word "call". */
static void add_difference(struct buf *out, long long n, const char *word)
{
	uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;
	buf_addc(out, n < 0 ? '-' : '+');
	count_human(out, size);
	buf_addf(out, " %s%s", word, size == 1 ? "" : "s");
}

/*
 * Appends how many times slower or faster a call became. If the median and the mean changed in opposite directions, as
 * they do if a few calls became very slow, the call is neither slower nor faster, and both are shown.
 */
static void add_speed(const struct call_stats *a, const struct call_stats *b, struct buf *out, enum table_mark *mark)
{
	double x = call_stats_quantile(a, 0.5), y = call_stats_quantile(b, 0.5);
	if (!typical_known(a) || !typical_known(b) || !(x > 0 && y > 0 && fmax(x / y, y / x) >= TELLING))
		return;
	double mean = b->ns / (double)b->returned / (a->ns / (double)a->returned);
	bool slower = y > x;
	buf_adds(out, out->len ? ", " : "");
	if (slower == (mean > 1)) {
		buf_addf(out, "%.2f times %s", fmax(x / y, y / x), slower ? "slower" : "faster");
		*mark = slower ? MARK_BAD : MARK_GOOD;
	} else
		buf_addf(out, "p50 %.2f times %s, mean %.2f times %s", fmax(x / y, y / x),
			 slower ? "longer" : "shorter", fmax(mean, 1 / mean), slower ? "shorter" : "longer");
}

/*
 * Appends how a call changed from run `a` to run `b`, such as "+3 calls, 1.50 times slower". Sets *mark to the mark for
 * the cell of the table that contains this text.
 */
static void change_words(const struct call_stats *a, const struct call_stats *b, struct buf *out, enum table_mark *mark)
{
	long long calls = (long long)call_stats_calls(b) - (long long)call_stats_calls(a);
	long long errors = (long long)b->errors - (long long)a->errors;
	*mark = MARK_NONE;
	if (!a->entered || !b->entered) {
		buf_adds(out, !a->entered && !b->entered ? "" : a->entered ? "dropped" : "added");
		*mark = MARK_BOLD;
		return;
	}
	if (calls)
		add_difference(out, calls, "call");
	add_speed(a, b, out, mark);
	if (errors) {
		buf_adds(out, out->len ? ", " : "");
		add_difference(out, errors, "error");
	}
}

/* The groups of columns. Each group has one column for each run. Those of waits are hidden if no call waited. */
enum { C_CALLS, C_SECONDS, C_P50, C_WAITS, C_WAITED, C_PER_RUN };
/* The column of a figure for run `k` of `n`; C_PER_RUN: the column of changes, which the first run does not have. */
#define COL_OF(what, k, n) ((size_t)(1 + (what) * (n) + (k) - ((what) == C_PER_RUN)))

/*
 * Returns "calls host" for the figure "calls" and the label "host" of a run. The page keeps the string, because the
 * columns of its tables point to it.
 */
static const char *keep(struct page *p, const char *what, const char *label)
{
	struct buf text = {0};
	buf_addf(&text, "%s %s", what, label);
	return page_keep(p, &text);
}

/* Returns the columns of the table of calls. If there is only one run, the titles do not contain its label. */
static struct column *columns_new(struct page *p)
{
	static const char *const keys[] = {"calls", "seconds", "p50_ns", "waits", "waited_s"};
	static const char *const titles[] = {"calls", "seconds", "p50", "waits", "waited"};
	size_t n = p->n;
	unsigned further = n > 2 ? COL_CONTINUED : 0;
	struct column *v = memory_zeroed(COL_OF(C_PER_RUN, n, n), sizeof(*v));
	v[0] = (struct column){"name", "syscall", 0};
	size_t at = 1;
	for (int what = 0; what < C_PER_RUN; what++)
		for (size_t k = 0; k < n; k++) {
			unsigned flags = COL_RIGHT | (n > 1 && what != C_CALLS ? COL_OPTIONAL : 0);
			/* If a time does not fit, it is left out for all runs. Counts continue in a further table. */
			flags |= what == C_CALLS ? further : k ? COL_JOINED : 0;
			v[at++] = n == 1 ? (struct column){keys[what], titles[what], flags}
					 : (struct column){keep(p, keys[what], p->runs[k].label),
							   keep(p, titles[what], p->runs[k].label), flags};
		}
	for (size_t k = 1; k < n; k++) {
		const char *name = keep(p, "change", p->runs[k].label);
		v[at++] = (struct column){name, n > 2 ? name : "change", COL_WRAP | further};
	}
	return v;
}

static void set_waits(struct table *t, size_t n, size_t k, uint64_t waits, double waited_ns)
{
	cell_count(t, COL_OF(C_WAITS, k, n), (double)waits, false);
	cell_time(t, COL_OF(C_WAITED, k, n), waits ? waited_ns * 1e-9 : NAN, 1);
}

static void set_call_cells(struct table *t, size_t n, const struct call_row *row, bool waits)
{
	for (size_t k = 0; k < n; k++) {
		const struct call_stats *c = &row->in[k];
		if (!c->entered)
			continue;
		char text[40];
		snprintf(text, sizeof(text), "%.6f", c->ns > 0 ? c->ns * 1e-9 : 0);
		cell_count(t, COL_OF(C_CALLS, k, n), (double)call_stats_calls(c), false);
		table_real(t, COL_OF(C_SECONDS, k, n), c->ns * 1e-9, text);
		if (!c->returned)
			continue;
		if (waits && c->judged)
			set_waits(t, n, k, c->waits, c->waited_ns);
		auto_buf p50 = {0};
		double typical = call_stats_quantile(c, 0.5);
		enum resolved resolved = call_stats_resolved(c);
		if (resolved == UNRESOLVED)
			buf_addc(&p50, '<');
		else if (resolved == DOUBTFUL)
			buf_addc(&p50, '~');
		duration_human(&p50, resolved == UNRESOLVED ? call_stats_resolution(c) : typical);
		table_real(t, COL_OF(C_P50, k, n), typical, buf_str(&p50));
	}
}

static void set_changes(struct table *t, size_t n, const struct call_row *row)
{
	for (size_t k = 1; k < n; k++) {
		auto_buf words = {0};
		enum table_mark mark;
		change_words(&row->in[0], &row->in[k], &words, &mark);
		table_string(t, COL_OF(C_PER_RUN, k, n), buf_str(&words));
		table_mark_cell(t, COL_OF(C_PER_RUN, k, n), mark);
	}
}

/* The calls of a run as a whole. */
struct sum {
	uint64_t calls, judged, waits;
	double ns, waited_ns;
};

static struct sum sum_of(const struct calls *c, size_t run)
{
	struct sum s = {0};
	for (size_t i = 0; i < c->rows.n; i++) {
		if (c->rows.v[i].is_request)
			continue;
		const struct call_stats *in = &c->rows.v[i].in[run];
		s.calls += call_stats_calls(in);
		s.ns += in->ns;
		s.judged += in->judged;
		s.waits += in->waits;
		s.waited_ns += in->waited_ns;
	}
	return s;
}

/* Sets the row of totals, which is below a line. */
static void set_totals(struct table *t, const struct calls *c)
{
	struct sum first = sum_of(c, 0);
	table_total(t);
	table_string(t, 0, "total");
	for (size_t k = 0; k < c->nruns; k++) {
		struct sum s = sum_of(c, k);
		auto_buf change = {0};
		char text[40];
		snprintf(text, sizeof(text), "%.6f", s.ns > 0 ? s.ns * 1e-9 : 0);
		cell_count(t, COL_OF(C_CALLS, k, c->nruns), (double)s.calls, false);
		table_real(t, COL_OF(C_SECONDS, k, c->nruns), s.ns * 1e-9, text);
		if (c->waited && s.judged)
			set_waits(t, c->nruns, k, s.waits, s.waited_ns);
		if (!k)
			continue;
		if (s.calls != first.calls)
			add_difference(&change, (long long)(s.calls - first.calls), "call");
		if (s.ns > 0 && first.ns > 0) {
			buf_adds(&change, change.len ? ", " : "");
			duration_human(&change, s.ns);
			buf_adds(&change, " instead of ");
			duration_human(&change, first.ns);
		}
		table_string(t, COL_OF(C_PER_RUN, k, c->nruns), buf_str(&change));
	}
}

/*
 * Appends "Only a makes these calls: stat, read." if run `has` made calls that run `lacks` did not make. Names at most
 * six of them.
 */
static void say_only(const struct page *p, const struct calls *c, size_t has, size_t lacks, struct buf *out)
{
	enum { SHOWN = 6 };
	size_t n = 0;
	for (size_t i = 0; i < c->rows.n; i++) {
		const struct call_row *row = &c->rows.v[i];
		if (!row->in[has].entered || row->in[lacks].entered)
			continue;
		if (!n)
			buf_addf(out, "Only %s makes these calls: ", p->runs[has].label);
		if (n < SHOWN)
			buf_addf(out, "%s%s", n ? ", " : "", row->name);
		n++;
	}
	if (n > SHOWN)
		buf_addf(out, " and %zu more", n - SHOWN);
	buf_adds(out, n ? ".\n" : "");
}

static void add_lessons(struct page *p, const struct calls *c)
{
	struct page_section *s = p->n > 1 ? page_section(p, SECTION_FINDINGS, "Findings", "") : NULL;
	for (size_t k = 1; k < p->n; k++) {
		buf_addf(&s->text, "%s makes ", p->runs[0].label);
		count_human(&s->text, sum_of(c, 0).calls);
		buf_addf(&s->text, " calls, %s ", p->runs[k].label);
		count_human(&s->text, sum_of(c, k).calls);
		buf_adds(&s->text, ".\n");
		say_only(p, c, k, 0, &s->text);
		say_only(p, c, 0, k, &s->text);
	}
}

static void add_table(struct page *p, struct calls *c)
{
	static const char note[] =
		"A call is marked as slower or faster if each run made it at least ten times, its median (p50) differs "
		"by at least 10 %, its mean differs in the same direction, and its times in both runs can be "
		"distinguished from the cost of tracing. Single runs do not show how much repeated runs would differ.";
	size_t n = p->n;
	auto_free struct column *columns = columns_new(p);
	struct table *t = table_new(columns, COL_OF(C_PER_RUN, n, n));
	calls_sort(c);
	for (size_t i = 0; i < c->rows.n; i++) {
		table_row(t);
		table_string(t, 0, c->rows.v[i].name);
		set_call_cells(t, n, &c->rows.v[i], c->waited);
		set_changes(t, n, &c->rows.v[i]);
	}
	set_totals(t, c);
	for (size_t k = COL_OF(C_WAITS, 0, n); k < COL_OF(C_PER_RUN, 1, n); k++)
		table_hide_if_empty(t, k);
	page_add_part(p, "calls", n > 1 ? "System calls" : NULL, t, n > 1 ? note : NULL);
}

/*
 * Adds a table of the programs as a whole, with one row for each run. The table has the figures that `-c` prints below
 * its own table.
 */
static void add_programs(struct page *p)
{
#define OF(member) offsetof(struct run_program, member)
	static const struct figure_column columns[] = {
		{"run", "run", 0},
		{"wall_s", "wall", COL_RIGHT, FORM_TIME, OF(wall_s)},
		{"user_s", "user", COL_RIGHT, FORM_TIME, OF(user_s)},
		{"system_s", "system", COL_RIGHT, FORM_TIME, OF(system_s)},
		{"peak_rss_bytes", "peak RSS", COL_RIGHT, FORM_BYTES, OF(peak_rss_bytes)},
		{"processes", "processes", COL_RIGHT | COL_OPTIONAL, FORM_COUNT, OF(processes)},
		{"calls_before_main", "before main", COL_RIGHT | COL_OPTIONAL, FORM_COUNT, OF(calls_before_main)},
	};
#undef OF
	const size_t n = sizeof(columns) / sizeof(*columns);
	struct table *t = figures_table(columns, n);
	for (size_t k = 0; k < p->n; k++) {
		figures_row(t, columns, n, &p->runs[k].run->program);
		table_string(t, 0, p->runs[k].label);
	}
	table_hide_if_empty(t, 6); /* not every engine can count the calls before main */
	page_add_part(p, "programs", "Programs (traced runs)", t, NULL);
}

static bool any_program(const struct page *p)
{
	for (size_t k = 0; k < p->n; k++)
		if (p->runs[k].run->program.known)
			return true;
	return false;
}

#define CALLS_MAX 12 /* the largest number of calls in the picture */

/* Draws the calls that took the most time (one run) or changed the most (several runs). */
static int draw_calls(void *page, int width, struct buf *out)
{
	const struct page *p = page;
	struct calls c = {0};
	size_t max = CALLS_MAX * p->n;
	size_t n = 0;
	auto_free char **labels = memory_zeroed(max, sizeof(*labels));
	auto_free double *seconds = memory_zeroed(max, sizeof(*seconds));
	auto_free double *calls = memory_zeroed(max, sizeof(*calls));
	calls_init(&c, p);
	calls_sort(&c);
	for (size_t i = 0; i < CALLS_MAX && i < c.rows.n; i++)
		for (size_t k = 0; k < p->n; k++) {
			const struct call_stats *in = &c.rows.v[i].in[k];
			struct buf label = {0};
			buf_addf(&label, p->n > 1 ? "%s · %s" : "%s", c.rows.v[i].name, p->runs[k].label);
			labels[n] = buf_take(&label);
			seconds[n] = in->entered ? in->ns * 1e-9 : NAN;
			calls[n++] = in->entered ? (double)call_stats_calls(in) : NAN;
		}
	calls_free(&c);
	struct chart_bar_panel panels[] = {{"Time in calls", {NULL, UNIT_SECONDS, SCALE_AUTO}, seconds, NULL, NULL},
					   {"Calls", {NULL, UNIT_COUNT, SCALE_AUTO}, calls, NULL, NULL}};
	struct chart_frame f = {"System calls", NULL, NULL, width};
	int rc = chart_bars(&f, (const char *const *)labels, n, p->n, panels, 2, out);
	for (size_t i = 0; i < n; i++)
		free(labels[i]);
	return rc;
}

void page_of_several_counts(struct page *p)
{
	struct calls c = {0};
	calls_init(&c, p);
	add_lessons(p, &c);
	add_table(p, &c);
	/*
	 * A single run needs no table of programs, because the lines below the table of calls contain the same figures.
	 * Runs that older versions of sctrace have saved do not contain these lines.
	 */
	if ((p->n > 1 || !p->runs[0].run->footer.known) && any_program(p))
		add_programs(p);
	if (p->n > 1)
		page_add_several_io(p);
	page_add_figure(p, "calls", draw_calls);
	calls_free(&c);
}

void page_of_count(struct page *p)
{
	const struct run *r = p->runs[0].run;
	if (r->view.calls != TRUTH_NO)
		page_of_several_counts(p);
	if (r->io.known)
		page_add_io(p);
	if (r->files.known)
		page_add_files(p);
	if (r->tree.known)
		page_add_tree(p);
	struct page_section *below = page_section(p, SECTION_LINES, "The program", "");
	buf_adds(&p->title, r->io.known                 ? "Use of files"
			    : r->view.calls != TRUTH_NO ? "System calls"
			    : r->tree.known             ? "Processes"
							: "Paths");
	machine_command(r, &p->subtitle);
	for (size_t i = 0; i < r->footer.n; i++)
		buf_addf(&below->text, "%s\n", r->footer.v[i]);
}
