#include "cmd/bench/bench.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/size.h"
#include "bench/latency.h"
#include "bench/results/results.h"
#include "bench/stop.h"
#include "cmd/bench/loads.h"

#include <errno.h>
#include <sched.h>
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
	{'i', "interval", "TIME", opt_duration, "time from one wake-up to the next (default: 1ms)", AT(interval_ns)},
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

/* Measures once under one load. Returns 0, or -errno, which ends the test. */
static int measure_load(struct bench_session *s, const struct latency_plan *plan, struct latency_row *row,
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

/* Measures `runs` times under each load, in rounds: each round measures once under each load. */
static int measure(struct bench_session *s, struct latency_plan *plan, struct latency_row *rows, size_t n, int runs)
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

static int run(struct bench_session *s, void *settings, int nwords, char **words)
{
	(void)nwords;
	(void)words;
	struct settings *o = settings;
	struct latency_plan plan;
	struct latency_row rows[LOADS_MAX] = {0};
	int status = make_plan(s, o, &plan);
	if (status)
		return status;
	results_note_loads(&s->run, s->dir, o->loads.v, o->loads.n);
	for (size_t i = 0; i < o->loads.n; i++)
		rows[i].load = &o->loads.v[i];
	s->err = measure(s, &plan, rows, o->loads.n, o->shared.runs ? o->shared.runs : 1);
	if (!s->err)
		results_latency(&s->run, &o->shared.cpus, &plan, rows, o->loads.n);
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
