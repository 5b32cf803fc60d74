#include "cmd/bench/bench.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/size.h"
#include "bench/latency.h"
#include "bench/stop.h"
#include "cmd/bench/loads.h"
#include "out/chart.h"
#include "run/run.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_INTERVAL 1000000
#define DEFAULT_TIME     (5 * NSEC_PER_SEC)
#define DEFAULT_LOADS    "none,net,suite+net,suite,suite+disk"
#define DEFAULT_PRIO     80

struct settings {
	struct bench_shared shared; /* first */
	struct load_list loads;
	uint64_t interval_ns;
	const char *policy;
	int prio;
	bool list;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
	{.help = "How:"},
	BENCH_LOADS_OPTIONS(struct settings, DEFAULT_LOADS),
	{.letter = 'i',
	 .name = "interval",
	 .arg = "TIME",
	 .parse = opt_duration,
	 .offset = AT(interval_ns),
	 .help = "from one wake-up to the next (default 1ms)"},
	BENCH_CPUS_OPTION("where the woken task runs (default: anywhere)"),
	BENCH_POLICY_OPTIONS(struct settings, "fifo (default where permitted), rr, other or batch"),
	BENCH_SHARED_OPTIONS("how often, all loads in turn; histograms are added up (default 1)",
			     "for each load (default 5s)"),
	{0},
};
static const char *const usage[] = {"[OPTIONS]", NULL};
static const struct opt_command face = {
	.name = "sctrace bench latency",
	.usage = usage,
	.about = "How late a task wakes up from the kernel's timer, under loads.",
	.table = options,
	.epilog = "How to read it: sctrace-bench(1).",
};

/* One load's row. */
struct row {
	struct load *load;
	struct latency_result r;
};

enum { C_LOAD, C_MEAN, C_MAX, C_MIN, C_SD, C_P99, C_P999, C_N, C_MISSED, C_WORK };
static const struct column columns[] = {
	[C_LOAD] = {"load", "load", 0},
	[C_MEAN] = {"mean_us", "Aver", COL_RIGHT},
	[C_MAX] = {"max_us", "Max", COL_RIGHT},
	[C_MIN] = {"min_us", "Min", COL_RIGHT},
	[C_SD] = {"stddev_us", "StdDev", COL_RIGHT | COL_SPARE},
	[C_P99] = {"p99_us", "p99", COL_RIGHT | COL_SPARE},
	[C_P999] = {"p999_us", "p99.9", COL_RIGHT},
	[C_N] = {"wakeups", "wake-ups", COL_RIGHT | COL_OPTIONAL},
	[C_MISSED] = {"missed", "missed", COL_RIGHT},
	[C_WORK] = {"load_work", "what the load did", COL_DATA_ONLY},
};

static double quantile(const struct latency_result *r, double q)
{
	return fmin(fmax(hist_quantile(&r->hist, q), (double)r->min), (double)r->max);
}

static void set_us(struct table *t, size_t col, double ns)
{
	char text[32];
	if (!isfinite(ns))
		return;
	snprintf(text, sizeof(text), "%.1f", ns * 1e-3);
	table_real(t, col, ns * 1e-3, text);
}

static void add_row(struct table *t, const struct row *row)
{
	const struct latency_result *r = &row->r;
	struct buf work = {0};
	load_work(row->load, &work);
	table_row(t);
	table_string(t, C_LOAD, row->load->name);
	set_us(t, C_MEAN, latency_mean(r));
	set_us(t, C_MAX, (double)r->max);
	set_us(t, C_MIN, (double)r->min);
	set_us(t, C_SD, latency_stddev(r));
	set_us(t, C_P99, quantile(r, 0.99));
	set_us(t, C_P999, quantile(r, 0.999));
	table_integer(t, C_N, (long long)r->n, NULL);
	table_integer(t, C_MISSED, (long long)r->missed, NULL);
	table_string(t, C_WORK, buf_str(&work));
	buf_free(&work);
}

static json_t *row_json(const struct row *row)
{
	const struct latency_result *r = &row->r;
	json_t *hist = json_array();
	json_t *work = json_object();
	for (uint32_t i = 0; i < r->hist.n; i++)
		if (r->hist.count[i])
			json_array_append_new(hist, json_pack("[I, I]", (json_int_t)hist_bucket_low(r->hist.first + i),
							      (json_int_t)r->hist.count[i]));
	for (size_t i = 0; i < row->load->parts; i++) {
		char key[64];
		snprintf(key, sizeof(key), "%s_%s", row->load->kind[i]->name, row->load->kind[i]->unit);
		json_object_set_new(work, key, json_integer((json_int_t)row->load->work[i]));
	}
	double sd = latency_stddev(r);
	return json_pack("{s:s, s:s, s:I, s:f, s:I, s:I, s:o, s:f, s:f, s:f, s:I, s:o, s:o}", "name", row->load->name,
			 "unit", "ns", "wakeups", (json_int_t)r->n, "mean_ns", latency_mean(r), "min_ns",
			 (json_int_t)r->min, "max_ns", (json_int_t)r->max, "stddev_ns",
			 isfinite(sd) ? json_real(sd) : json_null(), "median_ns", quantile(r, 0.5), "p99_ns",
			 quantile(r, 0.99), "p999_ns", quantile(r, 0.999), "missed", (json_int_t)r->missed, "load_work",
			 work, "histogram_ns", hist);
}

static struct table *work_table(const struct row *rows, size_t n)
{
	const struct load *loads[LOADS_MAX];
	for (size_t i = 0; i < n; i++)
		loads[i] = rows[i].load;
	return bench_work_table(loads, n);
}

/* Wake-ups in [from, to) ns; a bucket counts where its least value lies. */
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

/* How many woke later than so much, a column a load: powers of two of microseconds. */
static struct table *histogram_table(const struct row *rows, size_t n)
{
	struct column c[LOADS_MAX + 1] = {{"from_us", "from us", COL_RIGHT}};
	uint64_t max = 0;
	uint64_t min = UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		c[i + 1] = (struct column){rows[i].load->name, rows[i].load->name, COL_RIGHT};
		max = rows[i].r.max > max ? rows[i].r.max : max;
		min = rows[i].r.n && rows[i].r.min < min ? rows[i].r.min : min;
	}
	struct table *t = table_new(c, n + 1);
	for (uint64_t from = 0, to = 1000; t && from <= max; from = to, to *= 2) {
		if (to <= min)
			continue;
		table_row(t);
		table_integer(t, 0, (long long)(from / 1000), NULL);
		for (size_t i = 0; i < n; i++)
			table_integer(t, i + 1, (long long)count_within(&rows[i].r.hist, from, to), NULL);
	}
	return t;
}

static void draw(struct bench_session *s, const struct row *rows, size_t n)
{
	struct chart_hist h[LOADS_MAX];
	struct buf out = {0};
	for (size_t i = 0; i < n; i++)
		h[i] = (struct chart_hist){.name = rows[i].load->name,
					   .hist = &rows[i].r.hist,
					   .unit = 1e-9,
					   .max = (double)rows[i].r.max};
	const struct chart_frame frame = {.title = "How late a task wakes up from the timer, under loads",
					  .subtitle = "wake-ups by their lateness; counts on a log scale"};
	const struct chart_axis x = {.title = "late", .unit = UNIT_SECONDS, .scale = SCALE_LOG};
	if (chart_hists(&frame, &x, h, n, &out) == 0)
		s->svg = buf_take(&out);
	buf_free(&out);
}

struct ticking {
	struct bench_session *s;
	double done, all; /* ns */
	uint64_t start_ns;
	const char *name;
};

static void tick(void *ctx)
{
	struct ticking *t = ctx;
	bench_progress(t->s, t->done + (double)(clock_ns() - t->start_ns), t->all, t->name);
}

/* One load once; 0, or -errno that ends all. */
static int measure_load(struct bench_session *s, const struct latency_plan *plan, struct row *row,
			struct kid_guard *guard)
{
	struct buf why = {0};
	int err = load_start(row->load, s->dir, guard, &why);
	if (err) {
		if (why.len)
			bench_note(s, "%s was not measured: %s", row->load->name, buf_str(&why));
		buf_free(&why);
		return err == -EINTR ? err : 0;
	}
	err = latency_measure(plan, &row->r);
	if (load_stop(row->load, guard, &why) < 0)
		bench_note(s, "%s is not what it says: %s", row->load->name, buf_str(&why));
	buf_free(&why);
	return err;
}

/* All loads in turn, `runs` times. */
static int measure(struct bench_session *s, struct latency_plan *plan, struct row *rows, size_t n, int runs)
{
	struct kid_guard guard;
	struct ticking t = {.s = s, .all = (double)plan->time_ns * (double)n * runs};
	plan->tick = tick;
	plan->tick_ctx = &t;
	int err = kid_guard_open(&guard);
	for (int run = 0; run < runs && !err; run++)
		for (size_t i = 0; i < n && !err && !stop_signal(); i++) {
			t.name = rows[i].load->name;
			t.start_ns = clock_ns();
			err = measure_load(s, plan, &rows[i], &guard);
			t.done += (double)plan->time_ns;
		}
	kid_guard_close(&guard);
	plan->tick = NULL;
	plan->tick_ctx = NULL;
	return err == -EINTR ? 0 : err;
}

/* The plan from the options; 0, or an exit status after a message. */
static int make_plan(struct bench_session *s, const struct settings *o, struct latency_plan *p)
{
	*p = (struct latency_plan){
		.interval_ns = o->interval_ns,
		.time_ns = o->shared.time_given ? o->shared.time_ns : DEFAULT_TIME,
		.cpus = o->shared.cpus.v,
		.ncpus = o->shared.cpus.n,
	};
	if (p->interval_ns < 10000) {
		diag_error("--interval is too short for a timer; give 10us or more");
		return EXIT_USAGE;
	}
	if (p->time_ns < 10 * p->interval_ns) {
		diag_error("--time is too short for ten wake-ups at this interval; give more time or a shorter "
			   "--interval");
		return EXIT_USAGE;
	}
	bool real_time = !o->policy || strcmp(o->policy, "fifo") == 0 || strcmp(o->policy, "rr") == 0;
	int prio = o->prio || !real_time ? o->prio : DEFAULT_PRIO;
	return bench_choose_policy(s, o->policy ? o->policy : "fifo", SCHED_OTHER, prio, &p->policy);
}

static void describe_method(struct bench_session *s, const struct latency_plan *p, const struct row *rows, size_t n)
{
	const struct latency_result *r = &rows[0].r;
	buf_addf(&s->head, "latency: us from the time a timer was set for to the task's running, every ");
	duration_human(&s->head, (double)p->interval_ns);
	buf_adds(&s->head, ";\nthe task: on ");
	bench_say_cpus(s, &s->head);
	buf_addf(&s->head, ", policy %s", place_policy_name(p->policy.policy));
	if (p->policy.prio)
		buf_addf(&s->head, ", priority %d", p->policy.prio);
	buf_addf(&s->head, ", memory %s, deep idle states %s\n", r->lock_err ? "not locked" : "locked",
		 r->idle_held ? "held off" : "as the system wants");
	if (n && r->lock_err)
		bench_note(s, "the memory could not be locked (%s)", strerror(r->lock_err));
	json_object_set_new(s->run, "method",
			    json_pack("{s:o, s:I, s:I, s:s, s:i, s:b, s:b}", "cpus", bench_cpus_json(s), "interval_ns",
				      (json_int_t)p->interval_ns, "time_ns", (json_int_t)p->time_ns, "policy",
				      place_policy_name(p->policy.policy), "priority", p->policy.prio, "memory_locked",
				      !r->lock_err, "idle_states_held", r->idle_held));
}

static void report(struct bench_session *s, const struct latency_plan *p, struct row *rows, size_t n)
{
	/* Those that were measured come first; the others stay behind them, for each is freed. */
	size_t done = 0;
	for (size_t i = 0; i < n; i++)
		if (rows[i].r.n) {
			struct row row = rows[done];
			rows[done++] = rows[i];
			rows[i] = row;
		}
	describe_method(s, p, rows, done);
	struct table *t = table_new(columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; t && i < done; i++) {
		add_row(t, &rows[i]);
		json_array_append_new(run_results(s->run), row_json(&rows[i]));
	}
	bench_add_table(s, NULL, t);
	t = work_table(rows, done);
	bench_add_table(s, "what the loads did meanwhile:", t);
	t = histogram_table(rows, done);
	bench_add_table(s, "wake-ups by their lateness:", t);
	if (done)
		draw(s, rows, done);
}

static int run(struct bench_session *s, void *settings, int nwords, char **words)
{
	(void)nwords;
	(void)words;
	struct settings *o = settings;
	struct latency_plan plan;
	struct row rows[LOADS_MAX] = {0};
	int status = make_plan(s, o, &plan);
	if (status)
		return status;
	bench_note_loads(s, &o->loads);
	for (size_t i = 0; i < o->loads.n; i++)
		rows[i].load = &o->loads.v[i];
	s->err = measure(s, &plan, rows, o->loads.n, o->shared.runs ? o->shared.runs : 1);
	if (!s->err)
		report(s, &plan, rows, o->loads.n);
	for (size_t i = 0; i < o->loads.n; i++)
		latency_free(&rows[i].r);
	return BENCH_DONE;
}

static void defaults(void *settings)
{
	struct settings *o = settings;
	o->interval_ns = DEFAULT_INTERVAL;
	bench_default_loads(&o->loads, DEFAULT_LOADS);
}

static bool ready(void *settings, int nwords, char **words, int *status)
{
	return bench_loads_ready(((struct settings *)settings)->list, face.name, nwords, words, status);
}

const struct bench_test bench_latency_test = {"latency", &face, sizeof(struct settings), defaults, ready, run};
