/* What `sctrace bench sched` found, as tables, results of a saved run, and a picture. */
#include "cmd/bench/sched.h"

#include "base/size.h"
#include "bench/describe.h"
#include "out/chart.h"
#include "run/run.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* A figure of process `i` of a run. */
typedef double figure_fn(const struct sched_run *r, size_t i);

static double latency_of(const struct sched_run *r, size_t i)
{
	return r->procs[i].done ? (double)r->procs[i].latency_ns * 1e-9 : NAN;
}

static double slices_of(const struct sched_run *r, size_t i)
{
	return (double)r->procs[i].slices.n;
}

static double slice_of(const struct sched_run *r, size_t i)
{
	return sched_median_slice(&r->procs[i]) * 1e-9;
}

static double involuntary_of(const struct sched_run *r, size_t i)
{
	return (double)r->procs[i].involuntary;
}

static double throughput_of(const struct sched_run *r, size_t i)
{
	(void)i;
	return sched_throughput(r);
}

static double mean_latency_of(const struct sched_run *r, size_t i)
{
	(void)i;
	return sched_mean_latency(r) * 1e-9;
}

/* The median of a figure over the runs; NAN of none. */
static double over_runs(const struct sched_size *s, figure_fn *f, size_t i)
{
	double *x = calloc(s->n + 1, sizeof(*x));
	if (!x)
		return NAN;
	for (size_t k = 0; k < s->n; k++)
		x[k] = f(&s->runs[k], i);
	double median = describe_median(x, s->n);
	free(x);
	return median;
}

static void set_shown(struct table *t, size_t col, double x, const char *fmt)
{
	char text[32];
	if (!isfinite(x))
		return;
	snprintf(text, sizeof(text), fmt, x);
	table_real(t, col, x, text);
}

/* Over the runs, as over_runs() does. */
static double others_over_runs(const struct sched_size *s, size_t ncpus)
{
	double *x = calloc(s->n + 1, sizeof(*x));
	if (!x)
		return NAN;
	for (size_t k = 0; k < s->n; k++)
		x[k] = sched_others(&s->runs[k], ncpus);
	double median = describe_median(x, s->n);
	free(x);
	return median;
}

/* "x": times as much as with the first number of processes. */
static struct table *sizes_table(const struct sched_plan *p, const struct sched_size *sizes, size_t n)
{
	static const struct column c[] = {
		{"processes", "processes", COL_RIGHT},
		{"runs", "runs", COL_RIGHT},
		{"throughput_per_s", "throughput", COL_RIGHT},
		{"throughput_ratio", "x", COL_RIGHT},
		{"latency_mean_s", "mean latency", COL_RIGHT},
		{"latency_ratio", "x", COL_RIGHT},
		{"others_share", "others had", COL_RIGHT | COL_OPTIONAL},
	};
	struct table *t = table_new(c, sizeof(c) / sizeof(*c));
	for (size_t i = 0; t && i < n; i++) {
		const struct sched_size *s = &sizes[i];
		if (!s->n)
			continue;
		double throughput = over_runs(s, throughput_of, 0);
		double latency = over_runs(s, mean_latency_of, 0);
		table_row(t);
		table_integer(t, 0, (long long)s->procs, NULL);
		table_integer(t, 1, (long long)s->n, NULL);
		set_shown(t, 2, throughput, "%.3f /s");
		set_shown(t, 3, throughput / over_runs(&sizes[0], throughput_of, 0), "%.2f");
		bench_set_time(t, 4, latency);
		set_shown(t, 5, latency / over_runs(&sizes[0], mean_latency_of, 0), "%.2f");
		set_shown(t, 6, 100 * others_over_runs(s, p->ncpus), "%.1f %%");
	}
	return t;
}

/* What the kernel's weights give a process on one CPU; NAN where more CPUs or a real-time policy decide. */
static double expected_share(const struct sched_plan *p, const struct sched_run *r, size_t i)
{
	double all = 0;
	if (p->ncpus > 1 || p->policy.policy == SCHED_FIFO || p->policy.policy == SCHED_RR)
		return NAN;
	for (size_t k = 0; k < r->n; k++)
		all += sched_weight(r->procs[k].nice);
	return sched_weight(r->procs[i].nice) / all;
}

static struct table *procs_table(const struct sched_plan *p, const struct sched_size *sizes, size_t n)
{
	static const struct column c[] = {
		{"processes", "processes", COL_RIGHT},
		{"process", "no.", COL_RIGHT},
		{"nice", "nice", COL_RIGHT},
		{"latency_s", "latency", COL_RIGHT},
		{"cpu_share", "CPU share", COL_RIGHT},
		{"cpu_share_by_weight", "by weight", COL_RIGHT},
		{"slices", "slices", COL_RIGHT | COL_SPARE},
		{"slice_median_s", "median slice", COL_RIGHT | COL_SPARE},
		{"involuntary_switches", "switched out", COL_RIGHT | COL_OPTIONAL},
	};
	struct table *t = table_new(c, sizeof(c) / sizeof(*c));
	for (size_t k = 0; t && k < n; k++)
		for (size_t i = 0; i < sizes[k].procs && sizes[k].n; i++) {
			const struct sched_size *s = &sizes[k];
			table_row(t);
			table_integer(t, 0, (long long)s->procs, NULL);
			table_integer(t, 1, (long long)i + 1, NULL);
			table_integer(t, 2, s->runs[0].procs[i].nice, NULL);
			bench_set_time(t, 3, over_runs(s, latency_of, i));
			set_shown(t, 4, 100 * over_runs(s, sched_share, i), "%.1f %%");
			set_shown(t, 5, 100 * expected_share(p, &s->runs[0], i), "%.1f %%");
			set_shown(t, 6, over_runs(s, slices_of, i), "%.0f");
			bench_set_time(t, 7, over_runs(s, slice_of, i));
			set_shown(t, 8, over_runs(s, involuntary_of, i), "%.0f");
		}
	return t;
}

static json_t *slices_json(const struct sched_proc *p)
{
	json_t *a = json_array();
	for (size_t i = 0; i < p->slices.n; i++)
		json_array_append_new(a, json_pack("[f, f, i]", (double)p->slices.v[i].start * 1e-9,
						   (double)p->slices.v[i].end * 1e-9, p->slices.v[i].cpu));
	return a;
}

static json_t *real_or_null(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *proc_json(const struct sched_run *r, size_t i)
{
	const struct sched_proc *p = &r->procs[i];
	double progress[SCHED_LOGS];
	for (size_t k = 0; k < p->logs; k++)
		progress[k] = (double)p->progress_ns[k] * 1e-9;
	return json_pack("{s:i, s:b, s:o, s:o, s:I, s:I, s:o, s:o, s:b}", "nice", p->nice, "done", p->done, "latency_s",
			 real_or_null(latency_of(r, i)), "cpu_share", real_or_null(sched_share(r, i)),
			 "voluntary_switches", (json_int_t)p->voluntary, "involuntary_switches",
			 (json_int_t)p->involuntary, "progress_s", run_reals(progress, p->logs), "slices_s",
			 slices_json(p), "slices_whole", p->slices_whole);
}

/* A result per number of processes; its samples are the runs' mean latencies. */
static json_t *size_json(const struct sched_size *s)
{
	char name[32];
	double *latency = calloc(s->n + 1, sizeof(*latency));
	double *throughput = calloc(s->n + 1, sizeof(*throughput));
	json_t *runs = json_array();
	size_t whole = 0;
	for (size_t k = 0; latency && throughput && k < s->n; k++) {
		latency[whole] = mean_latency_of(&s->runs[k], 0);
		throughput[whole] = throughput_of(&s->runs[k], 0);
		json_t *procs = json_array();
		for (size_t i = 0; i < s->runs[k].n; i++)
			json_array_append_new(procs, proc_json(&s->runs[k], i));
		json_array_append_new(runs,
				      json_pack("{s:o, s:o, s:o}", "throughput_per_s", real_or_null(throughput[whole]),
						"latency_mean_s", real_or_null(latency[whole]), "processes", procs));
		whole += isfinite(latency[whole]);
	}
	snprintf(name, sizeof(name), "%zu process%s", s->procs, s->procs == 1 ? "" : "es");
	json_t *o = latency ? bench_describe_json(name, latency, whole, "s") : NULL;
	if (o && throughput) {
		json_object_set_new(o, "samples_throughput_per_s", run_reals(throughput, whole));
		json_object_set_new(o, "throughput_per_s", real_or_null(describe_median(throughput, whole)));
	}
	if (o)
		json_object_set_new(o, "runs", runs);
	free(latency);
	free(throughput);
	return o;
}

/* The series and slices of one run for the picture. */
struct drawing {
	double *x, *y;
	struct chart_series series[SCHED_PROCS];
	char names[SCHED_PROCS][32];
	struct chart_slice *slices;
	char title[64];
};

static int draw_run(struct drawing *d, struct chart_progress *panel, const struct sched_run *r)
{
	size_t nslices = 0;
	for (size_t i = 0; i < r->n; i++)
		nslices += r->procs[i].slices.n;
	d->x = calloc(r->n * (SCHED_LOGS + 1), sizeof(double));
	d->y = calloc(r->n * (SCHED_LOGS + 1), sizeof(double));
	d->slices = calloc(nslices + 1, sizeof(*d->slices));
	if (!d->x || !d->y || !d->slices)
		return -ENOMEM;
	snprintf(d->title, sizeof(d->title), "%zu process%s", r->n, r->n == 1 ? "" : "es");
	*panel = (struct chart_progress){.title = d->title, .series = d->series, .nseries = r->n, .slices = d->slices};
	for (size_t i = 0; i < r->n; i++) {
		const struct sched_proc *p = &r->procs[i];
		double *x = d->x + i * (SCHED_LOGS + 1);
		double *y = d->y + i * (SCHED_LOGS + 1);
		for (size_t k = 0; k < p->logs; k++) {
			x[k + 1] = (double)p->progress_ns[k] * 1e-9;
			y[k + 1] = (double)(k + 1) / SCHED_LOGS;
		}
		snprintf(d->names[i], sizeof(d->names[i]), "%zu (nice %d)", i + 1, p->nice);
		d->series[i] = (struct chart_series){.name = d->names[i], .x = x, .y = y, .n = p->logs + 1};
		for (size_t k = 0; k < p->slices.n; k++)
			d->slices[panel->nslices++] =
				(struct chart_slice){(double)p->slices.v[k].start * 1e-9,
						     (double)p->slices.v[k].end * 1e-9, i, p->slices.v[k].cpu};
	}
	return 0;
}

/* The first run of each number of processes. */
static void draw(struct bench_session *s, const struct sched_size *sizes, size_t n)
{
	struct drawing *d = calloc(n + 1, sizeof(*d));
	struct chart_progress *panels = calloc(n + 1, sizeof(*panels));
	size_t drawn = 0;
	int err = d && panels ? 0 : -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		if (sizes[i].n) {
			err = draw_run(&d[drawn], &panels[drawn], &sizes[i].runs[0]);
			drawn++;
		}
	struct buf out = {0};
	const struct chart_frame frame = {
		.title = "Who gets the CPU when, and how far it comes",
		.subtitle = "progress of processes that only compute; the strip: who had the CPU"};
	if (!err && chart_progress(&frame, panels, drawn, &out) == 0)
		s->svg = buf_take(&out);
	buf_free(&out);
	for (size_t i = 0; d && i < drawn; i++) {
		free(d[i].x);
		free(d[i].y);
		free(d[i].slices);
	}
	free(d);
	free(panels);
}

static void note_lost_slices(struct bench_session *s, const struct sched_size *z)
{
	for (size_t k = 0; k < z->n; k++)
		for (size_t i = 0; i < z->procs; i++)
			if (!z->runs[k].procs[i].slices_whole) {
				bench_note(s, "%zu processes had more slices than the %d that are kept: no shares",
					   z->procs, SCHED_SLICES);
				return;
			}
}

/* A run that did not come to its end has progress and slices, but neither latency nor throughput. */
static void note_interrupted(struct bench_session *s, const struct sched_size *z)
{
	for (size_t k = 0; k < z->n; k++)
		for (size_t i = 0; i < z->runs[k].n; i++)
			if (!z->runs[k].procs[i].done) {
				struct buf when = {0};
				duration_human(&when, (double)z->runs[k].window_ns);
				bench_note(s, "%zu process%s: not all ended; shares and slices are of the first %s",
					   z->procs, z->procs == 1 ? "" : "es", buf_str(&when));
				buf_free(&when);
				return;
			}
}

void bench_sched_report(struct bench_session *s, const struct sched_plan *p, const struct sched_size *sizes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (sizes[i].n)
			json_array_append_new(run_results(s->run), size_json(&sizes[i]));
		note_lost_slices(s, &sizes[i]);
		note_interrupted(s, &sizes[i]);
	}
	bench_add_table(s, NULL, sizes_table(p, sizes, n));
	bench_add_table(s, "each process (medians over the runs):", procs_table(p, sizes, n));
	if (p->policy.policy == SCHED_FIFO)
		bench_note(s, "fifo has no slices: whoever begins runs to its end");
	draw(s, sizes, n);
}
