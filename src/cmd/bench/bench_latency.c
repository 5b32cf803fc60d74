#include "base/clock.h"
#include "cmd/bench/cmd_bench.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#define DEFAULT_LOADS "none,net,suite+net,suite,suite+disk"
#define DEFAULT_PRIO  80

static const struct opt options[] = {
	{.help = "How:"},
	BENCH_LOADS_OPTIONS(DEFAULT_LOADS),
	{'i', "interval", "TIME", opt_duration, "time from one wake-up to the next (default: 1ms)",
	 BENCH_AT(interval_ns)},
	{'c', "cpus", "LIST", bench_opt_cpus, "run the woken task on these CPUs (default: any)"},
	BENCH_POLICY_OPTIONS("fifo (the default, if permitted), rr, other or batch"),
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

static int make_plan(struct latency_plan *p, struct bench_session *s, struct buf *why)
{
	const struct bench_options *o = s->o;
	*p = (struct latency_plan){
		.interval_ns = o->interval_ns,
		.time_ns = o->time_ns,
		.cpus = o->cpus.v,
		.ncpus = o->cpus.n,
		.progress = s->progress,
	};
	if (p->interval_ns < 10000) {
		buf_adds(why, "--interval is too short for a timer; it must be at least 10us");
		return -ERANGE;
	}
	if (p->time_ns < 10 * p->interval_ns) {
		buf_adds(why, "--time is too short for ten wake-ups at this interval; use a longer --time or a shorter "
			      "--interval");
		return -ERANGE;
	}
	bool real_time = !o->policy || strcmp(o->policy, "fifo") == 0 || strcmp(o->policy, "rr") == 0;
	int prio = o->prio || !real_time ? o->prio : DEFAULT_PRIO;
	return place_choose_policy(&p->policy, o->policy ? o->policy : "fifo", SCHED_OTHER, prio, &s->run, why);
}

static int run(struct bench_session *s, char **words, size_t nwords, struct buf *why)
{
	(void)words;
	(void)nwords;
	struct bench_options *o = s->o;
	struct latency_plan plan;
	struct latency_row rows[LOADS_MAX] = {0};
	size_t n = o->loads.n;
	int err = make_plan(&plan, s, why);
	if (err)
		return err;
	results_note_loads(&s->run, s->dir, o->loads.v, n);
	for (size_t i = 0; i < n; i++)
		rows[i].load = &o->loads.v[i];
	err = latency_measure_all(&plan, rows, n, o->runs, s->dir, &s->run);
	if (!err)
		results_latency(&s->run, &o->cpus, &plan, rows, n);
	for (size_t i = 0; i < n; i++)
		latency_free(&rows[i].r);
	return err;
}

const struct bench_test bench_latency_test = {
	.name = "latency",
	.face = &face,
	.defaults = {.runs = 1, .time_ns = 5 * NSEC_PER_SEC, .interval_ns = 1000000},
	.loads = DEFAULT_LOADS,
	.list = load_describe,
	.run = run};
