#include "base/clock.h"
#include "cmd/bench/cmd_bench.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#define LEAST_SAMPLE_NS 50000
#define SAMPLE_PERCENT  60 /* per cent of the time for samples; the rest is for preparing the measurement */

static const struct opt options[] = {
	{.help = "How:"},
	{'c', "cpus", "LIST", bench_opt_cpus,
	 "the CPU on which two tasks take turns, and a second one for wake-ups between CPUs (default: the first two)"},
	{'s', "size", "SIZE", opt_size, "memory that each task changes at each turn (default: 0)", BENCH_AT(size)},
	BENCH_POLICY_OPTIONS("batch (default: no task preempts the one that woke it), other, fifo or rr"),
	{'l', "list", NULL, opt_flag, "list the kinds", BENCH_AT(list)},
	BENCH_SHARED_OPTIONS("samples per kind (default: 100)", "time per kind (default: 0.5s)"),
	{0},
};
static const char *const usage[] = {"[OPTIONS] [KIND...]", NULL};
static const struct opt_command face = {
	.name = "sctrace bench switch",
	.usage = usage,
	.about =
		"Measures the cost of switching from one task to another on one CPU, and counts the switches as proof.",
	.table = options,
	.epilog = "sctrace bench switch --list lists the kinds. sctrace-bench(1) explains the result.",
};

static void list(struct buf *out)
{
	for (size_t i = 0; switch_kind_at(i); i++)
		buf_addf(out, "%-13s %s\n", switch_kind_at(i)->name, switch_kind_at(i)->about);
}

static void operands(struct buf *out)
{
	for (size_t i = 0; switch_kind_at(i); i++)
		buf_addf(out, "%s ", switch_kind_at(i)->name);
}

static int check(const struct bench_options *o, char **words, size_t n, struct buf *why)
{
	if (o->size <= UINT64_C(1) << 30)
		return switch_check(words, n, o->size, why);
	buf_adds(why, "--size is too large; the maximum is 1G");
	return -EINVAL;
}

static int make_plan(struct switch_plan *p, struct bench_session *s, struct buf *why)
{
	const struct bench_options *o = s->o;
	*p = (struct switch_plan){
		.samples = (size_t)o->runs,
		.limit_ns = o->time_ns * 3 / 2, /* other programs may make a sample longer than was planned */
		.size = o->size,
		.cpu = {o->cpus.v[0], o->cpus.n > 1 ? o->cpus.v[1] : o->cpus.v[0]},
		.progress = s->progress,
	};
	int err = place_choose_policy(&p->policy, o->policy, SCHED_BATCH, o->prio, &s->run, why);
	if (err)
		return err;
	p->sample_ns = o->time_ns / p->samples * SAMPLE_PERCENT / 100;
	if (p->sample_ns < LEAST_SAMPLE_NS) {
		buf_addf(why, "the time is too short for %zu samples; use --time=%zums or longer, or fewer --runs",
			 p->samples, p->samples * LEAST_SAMPLE_NS / (10000 * SAMPLE_PERCENT) + 1);
		return -ERANGE;
	}
	return 0;
}

static int run(struct bench_session *s, char **words, size_t nwords, struct buf *why)
{
	struct switch_plan plan;
	struct switch_result *results;
	struct cpu_list *cpus = &s->o->cpus;
	bool given = cpus->n;
	int err = given ? 0 : cpu_list_allowed(cpus);
	if (!err)
		err = make_plan(&plan, s, why);
	if (err)
		return err;
	size_t n = switch_choose(&results, words, nwords, cpus->n > 1, plan.size);
	err = switch_measure_all(&plan, results, n);
	if (!err)
		results_switch(&s->run, &plan, results, n);
	if (cpus->n < 2 && !given)
		run_note(&s->run, "only one CPU can be used, so wake-ups between CPUs were not measured");
	for (size_t i = 0; i < n; i++)
		switch_result_free(&results[i]);
	free(results);
	return err;
}

const struct bench_test bench_switch_test = {.name = "switch",
					     .face = &face,
					     .defaults = {.runs = 100, .time_ns = NSEC_PER_SEC / 2},
					     .list = list,
					     .takes_operands = true,
					     .operands = operands,
					     .check = check,
					     .run = run};
