#include "cmd/bench.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/size.h"
#include "bench/describe.h"
#include "bench/sched.h"
#include "bench/stop.h"
#include "out/chart.h"
#include "run/run.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_RUNS 3
#define DEFAULT_TIME (NSEC_PER_SEC * 3 / 10)
#define LEAST_TIME   (5 * 1000 * 1000ull)

/* A list of whole numbers. */
struct numbers {
	int v[SCHED_PROCS];
	size_t n;
};

struct settings {
	struct bench_shared shared; /* first */
	struct numbers procs, nice;
	const char *policy;
	int prio;
};

/* Reads "1,2,4" within o->min..max into the struct numbers at the offset. */
static int opt_numbers(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	struct numbers *list = (struct numbers *)((char *)ctx + o->offset);
	list->n = 0;
	for (const char *p = arg; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		char word[16];
		int64_t value;
		size_t len = strcspn(p, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(len < 15 ? len : 15), p);
		if (number_parse(word, o->min, o->max, &value) < 0 || list->n == SCHED_PROCS) {
			buf_addf(why, "'%s' is no list of numbers from %ld to %ld; write 1,2,4", arg, o->min, o->max);
			return -EINVAL;
		}
		list->v[list->n++] = (int)value;
	}
	return 0;
}

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
	{.help = "How:"},
	{.letter = 'n',
	 .name = "procs",
	 .arg = "LIST",
	 .parse = opt_numbers,
	 .offset = AT(procs),
	 .min = 1,
	 .max = SCHED_PROCS,
	 .help = "how many processes compete (default 1,2,4)"},
	BENCH_CPUS_OPTION("the CPUs they share (default: the first one)"),
	{.name = "nice",
	 .arg = "LIST",
	 .parse = opt_numbers,
	 .offset = AT(nice),
	 .min = -20,
	 .max = 19,
	 .help = "nice values, given out in turn (default 0)"},
	BENCH_POLICY_OPTIONS(struct settings, "other (default), batch, fifo or rr"),
	BENCH_SHARED_OPTIONS("how often (default 3)", "how long one process alone takes (default 0.3s)"),
	{0},
};
static const char *const usage[] = {"[OPTIONS]", NULL};
static const struct opt_command face = {
	.name = "sctrace bench sched",
	.usage = usage,
	.about = "How processes that only compute share CPUs: throughput, latency, slices and shares.",
	.table = options,
	.epilog = "How to read it: sctrace-bench(1).",
};

/* All runs of one number of processes. */
struct size {
	size_t procs;
	struct sched_run *runs;
	size_t n; /* runs that came to their end */
};

/* A figure of process `i` of a run. */
typedef double figure_fn(const struct sched_run *r, size_t i);

static double latency_of(const struct sched_run *r, size_t i)
{
	return (double)r->procs[i].latency_ns * 1e-9;
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
static double over_runs(const struct size *s, figure_fn *f, size_t i)
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

/* "x": times as much as with the first number of processes. */
static struct table *sizes_table(const struct size *sizes, size_t n)
{
	static const struct column c[] = {
		{"processes", "processes", COL_RIGHT},         {"runs", "runs", COL_RIGHT},
		{"throughput_per_s", "throughput", COL_RIGHT}, {"throughput_ratio", "x", COL_RIGHT},
		{"latency_mean_s", "mean latency", COL_RIGHT}, {"latency_ratio", "x", COL_RIGHT},
	};
	struct table *t = table_new(c, sizeof(c) / sizeof(*c));
	for (size_t i = 0; t && i < n; i++) {
		const struct size *s = &sizes[i];
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

static struct table *procs_table(const struct sched_plan *p, const struct size *sizes, size_t n)
{
	static const struct column c[] = {
		{"processes", "of", COL_RIGHT},
		{"process", "process", COL_RIGHT},
		{"nice", "nice", COL_RIGHT},
		{"latency_s", "latency", COL_RIGHT},
		{"cpu_share", "CPU share", COL_RIGHT},
		{"cpu_share_by_weight", "by weight", COL_RIGHT},
		{"slices", "slices", COL_RIGHT},
		{"slice_median_s", "median slice", COL_RIGHT},
		{"involuntary_switches", "switched out", COL_RIGHT},
	};
	struct table *t = table_new(c, sizeof(c) / sizeof(*c));
	for (size_t k = 0; t && k < n; k++)
		for (size_t i = 0; i < sizes[k].procs && sizes[k].n; i++) {
			const struct size *s = &sizes[k];
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

static json_t *proc_json(const struct sched_run *r, size_t i)
{
	const struct sched_proc *p = &r->procs[i];
	double progress[SCHED_LOGS];
	double share = sched_share(r, i);
	for (size_t k = 0; k < p->logs; k++)
		progress[k] = (double)p->progress_ns[k] * 1e-9;
	return json_pack("{s:i, s:f, s:o, s:I, s:I, s:o, s:o, s:b}", "nice", p->nice, "latency_s", latency_of(r, i),
			 "cpu_share", isfinite(share) ? json_real(share) : json_null(), "voluntary_switches",
			 (json_int_t)p->voluntary, "involuntary_switches", (json_int_t)p->involuntary, "progress_s",
			 run_reals(progress, p->logs), "slices_s", slices_json(p), "slices_whole", p->slices_whole);
}

/* A result per number of processes; its samples are the runs' mean latencies. */
static json_t *size_json(const struct size *s)
{
	char name[32];
	double *latency = calloc(s->n + 1, sizeof(*latency));
	double *throughput = calloc(s->n + 1, sizeof(*throughput));
	json_t *runs = json_array();
	for (size_t k = 0; latency && throughput && k < s->n; k++) {
		latency[k] = mean_latency_of(&s->runs[k], 0);
		throughput[k] = throughput_of(&s->runs[k], 0);
		json_t *procs = json_array();
		for (size_t i = 0; i < s->runs[k].n; i++)
			json_array_append_new(procs, proc_json(&s->runs[k], i));
		json_array_append_new(runs, json_pack("{s:f, s:f, s:o}", "throughput_per_s", throughput[k],
						      "latency_mean_s", latency[k], "processes", procs));
	}
	snprintf(name, sizeof(name), "%zu process%s", s->procs, s->procs == 1 ? "" : "es");
	json_t *o = latency ? bench_describe_json(name, latency, s->n, "s") : NULL;
	if (o && throughput) {
		json_object_set_new(o, "samples_throughput_per_s", run_reals(throughput, s->n));
		json_object_set_new(o, "throughput_per_s", json_real(describe_median(throughput, s->n)));
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
static void draw(struct bench_session *s, const struct size *sizes, size_t n)
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

struct ticking {
	struct bench_session *s;
	size_t done, all;
	char what[48];
};

static void tick(void *ctx)
{
	struct ticking *t = ctx;
	bench_progress(t->s, (double)t->done, (double)t->all, t->what);
}

/* Every number of processes once a round, so that drift falls on all alike. */
static int measure(struct bench_session *s, struct sched_plan *plan, struct size *sizes, size_t n, size_t runs)
{
	struct ticking t = {.s = s, .all = n * runs};
	int err = 0;
	plan->tick = tick;
	plan->tick_ctx = &t;
	for (size_t run = 0; run < runs; run++)
		for (size_t i = 0; i < n && !err && !stop_signal(); i++, t.done++) {
			snprintf(t.what, sizeof(t.what), "%zu processes", sizes[i].procs);
			plan->procs = sizes[i].procs;
			struct sched_run *r = &sizes[i].runs[sizes[i].n];
			err = sched_measure(plan, r);
			if (err == -EINTR)
				sched_run_free(r);
			else if (!err)
				sizes[i].n++;
		}
	plan->tick = NULL;
	plan->tick_ctx = NULL;
	return err == -EINTR ? 0 : err;
}

/* Nice values and policies that are not permitted are given up, and that is said. */
static void permit_nice(struct bench_session *s, struct sched_plan *p, struct numbers *nice)
{
	for (size_t i = 0; i < nice->n; i++) {
		struct place_policy try = p->policy;
		try.nice = nice->v[i];
		int err = place_try_policy(&try);
		if (err) {
			bench_note(s, "nice %d is not permitted (%s): 0 instead", nice->v[i], strerror(-err));
			nice->v[i] = 0;
		}
	}
	p->nice = nice->v;
	p->nnice = nice->n;
}

/* The plan from the options; 0, or an exit status after a message. */
static int make_plan(struct bench_session *s, struct settings *o, struct sched_plan *p)
{
	uint64_t time = o->shared.time_given ? o->shared.time_ns : DEFAULT_TIME;
	if (time < LEAST_TIME) {
		diag_error("--time is too short to see slices; give 5ms or more");
		return EXIT_USAGE;
	}
	*p = (struct sched_plan){.cpus = o->shared.cpus.v, .ncpus = o->shared.cpus.n};
	int status = bench_choose_policy(s, o->policy, SCHED_OTHER, o->prio, &p->policy);
	if (status)
		return status;
	permit_nice(s, p, &o->nice);
	bench_progress(s, 0, 0, "calibrating the work");
	int err = sched_calibrate(&p->work, time, p->cpus, p->ncpus);
	if (err) {
		diag_error("cannot calibrate the work: %s", strerror(-err));
		return EXIT_OWN;
	}
	struct buf b = {0};
	cpu_list_format(&b, &o->shared.cpus);
	buf_addf(&s->head, "sched: processes that only compute, on CPU %s, policy %s; each alone takes ", buf_str(&b),
		 place_policy_name(p->policy.policy));
	duration_human(&s->head, (double)p->work.chunks * p->work.chunk_ns);
	buf_adds(&s->head,
		 " undisturbed;\nlatency from the common start to each one's end; shares while all compete\n");
	json_object_set_new(s->run, "method",
			    json_pack("{s:s, s:s, s:f, s:I, s:f}", "cpus", buf_str(&b), "policy",
				      place_policy_name(p->policy.policy), "alone_s",
				      (double)p->work.chunks * p->work.chunk_ns * 1e-9, "chunks",
				      (json_int_t)p->work.chunks, "chunk_ns", p->work.chunk_ns));
	buf_free(&b);
	return 0;
}

static void note_lost_slices(struct bench_session *s, const struct size *z)
{
	for (size_t k = 0; k < z->n; k++)
		for (size_t i = 0; i < z->procs; i++)
			if (!z->runs[k].procs[i].slices_whole) {
				bench_note(s, "%zu processes had more slices than the %d that are kept: no shares",
					   z->procs, SCHED_SLICES);
				return;
			}
}

static void report(struct bench_session *s, const struct sched_plan *p, const struct size *sizes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (sizes[i].n)
			json_array_append_new(run_results(s->run), size_json(&sizes[i]));
		note_lost_slices(s, &sizes[i]);
	}
	bench_add_table(s, NULL, sizes_table(sizes, n));
	bench_add_table(s, "each process (medians over the runs):", procs_table(p, sizes, n));
	if (p->policy.policy == SCHED_FIFO)
		bench_note(s, "fifo has no slices: whoever begins runs to its end");
	draw(s, sizes, n);
}

static void free_sizes(struct size *sizes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; sizes[i].runs && k < sizes[i].n; k++)
			sched_run_free(&sizes[i].runs[k]);
		free(sizes[i].runs);
	}
}

static int run(struct bench_session *s, void *settings, int nwords, char **words)
{
	(void)nwords;
	(void)words;
	struct settings *o = settings;
	struct sched_plan plan;
	size_t runs = o->shared.runs ? (size_t)o->shared.runs : DEFAULT_RUNS;
	struct size sizes[SCHED_PROCS] = {0};
	if (!o->shared.cpus.n) {
		cpu_list_allowed(&o->shared.cpus);
		o->shared.cpus.n = 1;
	}
	int status = make_plan(s, o, &plan);
	if (status)
		return status;
	for (size_t i = 0; i < o->procs.n; i++) {
		sizes[i].procs = (size_t)o->procs.v[i];
		sizes[i].runs = calloc(runs, sizeof(struct sched_run));
		s->err = sizes[i].runs ? s->err : -ENOMEM;
	}
	if (!s->err)
		s->err = measure(s, &plan, sizes, o->procs.n, runs);
	if (!s->err)
		report(s, &plan, sizes, o->procs.n);
	free_sizes(sizes, o->procs.n);
	return BENCH_DONE;
}

static void defaults(void *settings)
{
	((struct settings *)settings)->procs = (struct numbers){{1, 2, 4}, 3};
}

const struct bench_test bench_sched_test = {"sched", &face, sizeof(struct settings), defaults, NULL, run};
