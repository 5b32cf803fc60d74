/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "base/size.h"
#include "out/chart.h"
#include "present/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fills the tables and draws the picture of bench sched. */
/*
 * Returns the median of a figure over the repetitions. The figure is the double at offset `member` in struct
 * run_process of process `i`, and repetitions without this process are left out. If `i` is WHOLE, it is the double at
 * that offset in struct run_repetition. Returns NAN if there are no such repetitions.
 */
#define WHOLE SIZE_MAX
static double over_runs(const struct run_subject *s, size_t i, size_t member)
{
	size_t n = 0;
	auto_free double *x = memory_zeroed(s->repetitions.n, sizeof(*x));
	for (size_t k = 0; k < s->repetitions.n; k++) {
		const struct run_repetition *r = &s->repetitions.v[k];
		if (i != WHOLE && i >= r->processes.n)
			continue;
		const void *from = i == WHOLE ? (const void *)r : &r->processes.v[i];
		x[n++] = *(const double *)(const void *)((const char *)from + member);
	}
	return sample_median(x, n);
}

/* Returns the median length in seconds of the slices of a process, or NAN if it has none. */
static double slice_of(const struct run_process *p)
{
	auto_free double *x = memory_zeroed(p->slices_s.n, sizeof(*x));
	for (size_t k = 0; k < p->slices_s.n; k++)
		x[k] = p->slices_s.v[k].end - p->slices_s.v[k].start;
	return sample_median(x, p->slices_s.n);
}

/*
 * Sets the cells of the number of slices of process `i` and of the median length of a slice, which are medians over the
 * repetitions that have this process.
 */
static void slice_cells(struct table *t, const struct run_subject *s, size_t i)
{
	size_t n = 0;
	auto_free double *number = memory_zeroed(s->repetitions.n, sizeof(*number));
	auto_free double *length = memory_zeroed(s->repetitions.n, sizeof(*length));
	for (size_t k = 0; k < s->repetitions.n; k++) {
		if (i >= s->repetitions.v[k].processes.n)
			continue;
		number[n] = (double)s->repetitions.v[k].processes.v[i].slices_s.n;
		length[n++] = slice_of(&s->repetitions.v[k].processes.v[i]);
	}
	cell_printf(t, 6, sample_median(number, n), "%.0f");
	cell_time(t, 7, sample_median(length, n), 1);
}

#define OF_RUN(member)     offsetof(struct run_repetition, member)
#define OF_PROCESS(member) offsetof(struct run_process, member)

static bool is_shown(const struct run_subject *s, const char *test)
{
	return s->repetitions.n && (!test || (s->test && strcmp(s->test, test) == 0));
}

/* Makes the table with a row for each number of processes. Two of its columns contain the ratio to the first row. */
static struct table *sizes_table(const struct run *r, const char *test)
{
	static const struct column c[] = {
		{"processes", "processes", COL_RIGHT},
		{"runs", "runs", COL_RIGHT | COL_SPARE},
		{"throughput_per_s", "throughput", COL_RIGHT},
		{"throughput_ratio", "x throughput", COL_RIGHT},
		{"latency_mean_s", "mean latency", COL_RIGHT},
		{"latency_ratio", "x latency", COL_RIGHT},
		{"others_share", "others had", COL_RIGHT | COL_OPTIONAL},
	};
	const struct run_subject *first = NULL;
	struct table *t = table_new(c, sizeof(c) / sizeof(*c));
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		if (!is_shown(s, test))
			continue;
		first = first ? first : s;
		double throughput = over_runs(s, WHOLE, OF_RUN(throughput_per_s));
		double latency = over_runs(s, WHOLE, OF_RUN(latency_mean_s));
		table_row(t);
		table_integer(t, 0, (long long)s->repetitions.v[0].processes.n, NULL);
		table_integer(t, 1, (long long)s->repetitions.n, NULL);
		cell_printf(t, 2, throughput, "%.3f /s");
		cell_printf(t, 3, throughput / over_runs(first, WHOLE, OF_RUN(throughput_per_s)), "%.2f");
		cell_time(t, 4, latency, 1);
		cell_printf(t, 5, latency / over_runs(first, WHOLE, OF_RUN(latency_mean_s)), "%.2f");
		cell_share(t, 6, over_runs(s, WHOLE, OF_RUN(others_share)));
	}
	return t;
}

static void process_row(struct table *t, const struct run_subject *s, size_t i)
{
	const struct run_process *p = &s->repetitions.v[0].processes.v[i];
	table_row(t);
	table_integer(t, 0, (long long)s->repetitions.v[0].processes.n, NULL);
	table_integer(t, 1, (long long)i + 1, NULL);
	cell_printf(t, 2, p->nice, "%.0f");
	cell_time(t, 3, over_runs(s, i, OF_PROCESS(latency_s)), 1);
	cell_share(t, 4, over_runs(s, i, OF_PROCESS(cpu_share)));
	cell_share(t, 5, p->cpu_share_by_weight);
	slice_cells(t, s, i);
	cell_printf(t, 8, over_runs(s, i, OF_PROCESS(involuntary_switches)), "%.0f");
}

static struct table *processes_table(const struct run *r)
{
	static const struct column c[] = {
		{"processes", "processes", COL_RIGHT},
		{"process", "process", COL_RIGHT},
		{"nice", "nice", COL_RIGHT},
		{"latency_s", "latency", COL_RIGHT},
		{"cpu_share", "CPU share", COL_RIGHT},
		{"cpu_share_by_weight", "by weight", COL_RIGHT},
		{"slices", "slices", COL_RIGHT | COL_SPARE},
		{"slice_median_s", "median slice", COL_RIGHT | COL_SPARE},
		{"involuntary_switches", "switched out", COL_RIGHT | COL_OPTIONAL},
	};
	struct table *t = table_new(c, sizeof(c) / sizeof(*c));
	for (size_t k = 0; k < r->subjects.n; k++) {
		const struct run_subject *s = &r->subjects.v[k];
		for (size_t i = 0; s->repetitions.n && i < s->repetitions.v[0].processes.n; i++)
			process_row(t, s, i);
	}
	return t;
}

void page_add_sched(struct page *p, const char *test)
{
	const struct run *r = p->runs[0].run;
	page_add_part(p, "sizes", test ? texts_find(&r->heads, test) : NULL, sizes_table(r, test), NULL);
	if (!test)
		page_add_part(p, "processes", "each process (medians over the runs):", processes_table(r), NULL);
}

#define PROCESSES_MAX 8 /* number of colours; more processes could not be distinguished */

/*
 * A picture of the first repetition with one number of processes: the progress of each process, and which process had
 * the CPU.
 */
struct staircase {
	struct chart_series series[PROCESSES_MAX];
	double *x[PROCESSES_MAX], *y[PROCESSES_MAX];
	char names[PROCESSES_MAX][96];
	size_t n;
	VEC(struct chart_slice) slices;
};

static void staircase_free(struct staircase *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->x[i]);
		free(s->y[i]);
	}
	vec_free(&s->slices);
}

/* Writes the name of a process with its figures in the table: "1 (nice 0): 448 ms, 33.3 % of the CPU". */
static void name_process(const struct run_subject *subject, size_t i, char *name, size_t size)
{
	double nice = subject->repetitions.v[0].processes.v[i].nice;
	double latency = over_runs(subject, i, OF_PROCESS(latency_s));
	double share = 100 * over_runs(subject, i, OF_PROCESS(cpu_share));
	auto_buf text = {0};
	buf_addf(&text, "%zu (nice %.0f)", i + 1, isfinite(nice) ? fmax(fmin(nice, 19), -20) : 0);
	if (isfinite(latency)) {
		buf_adds(&text, ": ");
		duration_human(&text, latency * 1e9);
	}
	if (isfinite(share))
		buf_addf(&text, "%s%.1f %% of the CPU", isfinite(latency) ? ", " : ": ", share);
	snprintf(name, size, "%s", buf_str(&text));
}

static void add_process(struct staircase *s, const struct run_subject *subject, size_t nth)
{
	const struct run_process *p = &subject->repetitions.v[0].processes.v[nth];
	enum { LOGS = 100 }; /* how many times a process logs its progress (SCHED_LOGS in bench/sched.h) */
	size_t n = p->progress_s.n;
	size_t i = s->n++;
	s->x[i] = memory_zeroed(n + 1, sizeof(double));
	s->y[i] = memory_zeroed(n + 1, sizeof(double));
	for (size_t k = 0; k < n; k++) {
		s->x[i][k + 1] = p->progress_s.v[k];
		s->y[i][k + 1] = (double)(k + 1) / fmax((double)n, LOGS); /* n < LOGS if sctrace was interrupted */
	}
	name_process(subject, nth, s->names[i], sizeof(s->names[i]));
	s->series[i] = (struct chart_series){.name = s->names[i], .x = s->x[i], .y = s->y[i], .n = n + 1};
	for (size_t k = 0; k < p->slices_s.n; k++) {
		const struct run_slice *c = &p->slices_s.v[k];
		vec_push(&s->slices, (struct chart_slice){c->start, c->end, i, (int)fmax(fmin(c->cpu, 65535), 0)});
	}
}

int draw_progress(void *page, int width, struct buf *out)
{
	struct page *p = page;
	const struct run *r = p->runs[0].run;
	auto_free struct staircase *stairs = memory_zeroed(r->subjects.n, sizeof(*stairs));
	auto_free struct chart_progress *panels = memory_zeroed(r->subjects.n, sizeof(*panels));
	size_t n = 0;
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		struct staircase *st = &stairs[n];
		if (!s->repetitions.n)
			continue;
		n++;
		for (size_t k = 0; k < s->repetitions.v[0].processes.n && k < PROCESSES_MAX; k++)
			add_process(st, s, k);
		panels[n - 1] = (struct chart_progress){s->name, st->series, st->n, st->slices.v, st->slices.n};
	}
	struct buf note = {0};
	buf_adds(&note, "The curves show the progress of CPU-bound processes. The strips show, in the same colours, "
			"which process had the CPU. Curves and strips are those of the first repetition; times and "
			"shares are medians of all repetitions.");
	if (p->n > 1)
		buf_addf(&note, " Only the run %s is shown.", p->runs[0].label);
	const struct chart_frame f = {"Progress of processes and their use of the CPU", machine_subtitle(p),
				      page_keep(p, &note), width};
	int rc = chart_progress(&f, panels, n, out);
	for (size_t i = 0; i < n; i++)
		staircase_free(&stairs[i]);
	return rc;
}
