#include "cmd/bench/bench.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/size.h"
#include "bench/latency.h"
#include "bench/stop.h"
#include "cmd/bench/loads.h"

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
	struct bench_shared shared; /* must be first */
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
	 .help = "time from one wake-up to the next (default: 1ms)"},
	BENCH_CPUS_OPTION("run the woken task on these CPUs (default: any)"),
	BENCH_POLICY_OPTIONS(struct settings, "fifo (the default, if permitted), rr, other or batch"),
	BENCH_SHARED_OPTIONS("measure all loads N times, and add up the histograms (default: 1)",
			     "time for each load (default: 5s)"),
	{0},
};
static const char *const usage[] = {"[OPTIONS]", NULL};
static const struct opt_command face = {
	.name = "sctrace bench latency",
	.usage = usage,
	.about = "Measures how late the kernel's timer wakes a task, under loads.",
	.table = options,
	.epilog = "sctrace-bench(1) explains the result.",
};

/* The row of one load. */
struct row {
	struct load *load;
	struct latency_result r;
};

static double quantile(const struct latency_result *r, double q)
{
	return fmin(fmax(hist_quantile(&r->hist, q), (double)r->min), (double)r->max);
}

static void add_result(struct bench_session *s, const struct row *row)
{
	const struct latency_result *r = &row->r;
	struct run_subject *to = bench_add(s, row->load->name, "ns", NULL, 0);
	if (!to || hist_merge(&to->hist, &r->hist) < 0) {
		s->err = -ENOMEM;
		return;
	}
	to->wakeups = (double)r->n;
	to->mean_ns = latency_mean(r);
	to->min_ns = (double)r->min;
	to->max_ns = (double)r->max;
	to->stddev_ns = latency_stddev(r);
	to->median_ns = quantile(r, 0.5);
	to->p99_ns = quantile(r, 0.99);
	to->p999_ns = quantile(r, 0.999);
	to->missed = (double)r->missed;
	bench_add_work(to, row->load);
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

/* Measures one load once. Returns 0, or -errno, which ends the test. */
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
		bench_note(s, "the load '%s' did not run as intended: %s", row->load->name, buf_str(&why));
	buf_free(&why);
	return err;
}

/* Measures each load `runs` times, one load after the other in each round. */
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

/* Makes the plan from the options. Returns 0, or an exit status after a message. */
static int make_plan(struct bench_session *s, const struct settings *o, struct latency_plan *p)
{
	*p = (struct latency_plan){
		.interval_ns = o->interval_ns,
		.time_ns = o->shared.time_given ? o->shared.time_ns : DEFAULT_TIME,
		.cpus = o->shared.cpus.v,
		.ncpus = o->shared.cpus.n,
	};
	if (p->interval_ns < 10000) {
		diag_error("--interval is too short for a timer; it must be at least 10us");
		return EXIT_USAGE;
	}
	if (p->time_ns < 10 * p->interval_ns) {
		diag_error("--time is too short for ten wake-ups at this interval; use a longer --time or a shorter "
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
	buf_addf(&s->head, "latency: delay from the expiry of a timer until the task runs, every ");
	duration_human(&s->head, (double)p->interval_ns);
	buf_adds(&s->head, ";\ntask: on ");
	bench_say_cpus(s, &s->head);
	buf_addf(&s->head, ", policy %s", place_policy_name(p->policy.policy));
	if (p->policy.prio)
		buf_addf(&s->head, ", priority %d", p->policy.prio);
	buf_addf(&s->head, ", memory %s, deep idle states %s\n", r->lock_err ? "not locked" : "locked",
		 r->idle_held ? "disabled" : "not disabled");
	if (n && r->lock_err)
		bench_note(s, "the memory could not be locked (%s)", strerror(r->lock_err));
	struct run_method *m = &s->run.method;
	bench_set_cpus(s);
	m->interval_ns = (double)p->interval_ns;
	m->time_ns = (double)p->time_ns;
	field_set(&m->policy, place_policy_name(p->policy.policy));
	m->priority = p->policy.prio;
	m->memory_locked = r->lock_err ? TRUTH_NO : TRUTH_YES;
	m->idle_states_held = r->idle_held ? TRUTH_YES : TRUTH_NO;
}

static void report(struct bench_session *s, const struct latency_plan *p, struct row *rows, size_t n)
{
	/*
	 * Moves the rows of the loads that were measured to the front. The other rows stay in the array, behind them,
	 * so that all rows are freed together.
	 */
	size_t done = 0;
	for (size_t i = 0; i < n; i++)
		if (rows[i].r.n) {
			struct row row = rows[done];
			rows[done++] = rows[i];
			rows[i] = row;
		}
	describe_method(s, p, rows, done);
	for (size_t i = 0; i < done; i++)
		add_result(s, &rows[i]);
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
