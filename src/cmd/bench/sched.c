#include "cmd/bench/bench.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/size.h"
#include "bench/results/results.h"
#include "bench/sched.h"
#include "bench/stop.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_RUNS 3
#define DEFAULT_TIME (NSEC_PER_SEC * 3 / 10)
#define LEAST_TIME   (5 * 1000 * 1000ull)

/* A list of integers. */
struct int_list {
	int v[SCHED_PROCS];
	size_t n;
};

struct settings {
	struct bench_shared shared; /* must be first */
	struct int_list procs, nice;
	const char *policy;
	int prio;
};

/* Parses "1,2,4" into the struct int_list at the option's offset. Each number must be from o->min to o->max. */
static int opt_numbers(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	struct int_list *list = (struct int_list *)((char *)ctx + o->offset);
	list->n = 0;
	for (const char *p = arg; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		char word[16];
		int64_t value;
		size_t len = strcspn(p, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(len < 15 ? len : 15), p);
		if (number_parse(word, o->min, o->max, &value) < 0 || list->n == SCHED_PROCS) {
			buf_addf(why, "'%s' is not a list of numbers from %ld to %ld; write for example 1,2,4", arg,
				 o->min, o->max);
			return -EINVAL;
		}
		list->v[list->n++] = (int)value;
	}
	return 0;
}

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
	{.help = "How:"},
	{'n', "procs", "LIST", opt_numbers, "numbers of competing processes (default: 1,2,4)", AT(procs), .min = 1,
	 .max = SCHED_PROCS},
	BENCH_CPUS_OPTION("CPUs that the processes share (default: the first one)"),
	{0, "nice", "LIST", opt_numbers, "nice values, assigned to the processes in turn (default: 0)", AT(nice),
	 .min = -20, .max = 19},
	BENCH_POLICY_OPTIONS(struct settings, "other (default), batch, fifo or rr"),
	BENCH_SHARED_OPTIONS("number of repetitions (default: 3)", "time that one process takes alone (default: 0.3s)"),
	{0},
};
static const char *const usage[] = {"[OPTIONS]", NULL};
static const struct opt_command face = {
	.name = "sctrace bench sched",
	.usage = usage,
	.about = "Measures how CPU-bound processes share the CPUs: throughput, latency, slices and shares.",
	.table = options,
	.epilog = "sctrace-bench(1) explains the result.",
};

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

/*
 * Runs each number of processes once in each round, so that changes of the machine over time affect all of them
 * equally.
 */
static int measure(struct bench_session *s, struct sched_plan *plan, struct sched_size *sizes, size_t n, size_t runs)
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
			/* An interrupted run is added only if no run was completed before. */
			if (!err || (err == -EINTR && !sizes[i].n && r->window_ns))
				sizes[i].n++;
			else
				sched_run_free(r);
		}
	plan->tick = NULL;
	plan->tick_ctx = NULL;
	return err == -EINTR ? 0 : err;
}

/* If this process is not permitted to use the nice values or policies, uses the defaults and adds a note. */
static void permit_nice(struct bench_session *s, struct sched_plan *p, struct int_list *nice)
{
	for (size_t i = 0; i < nice->n; i++) {
		struct place_policy try = p->policy;
		try.nice = nice->v[i];
		int err = place_try_policy(&try);
		if (err) {
			bench_note(s, "nice %d is not permitted (%s), so 0 was used", nice->v[i], strerror(-err));
			nice->v[i] = 0;
		}
	}
	p->nice = nice->v;
	p->nnice = nice->n;
}

/* Makes the plan from the options. Returns 0, or an exit status after a message. */
static int make_plan(struct bench_session *s, struct settings *o, struct sched_plan *p)
{
	uint64_t time = o->shared.time_given ? o->shared.time_ns : DEFAULT_TIME;
	if (time < LEAST_TIME) {
		diag_error("--time is too short to see slices; it must be at least 5ms");
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
	return 0;
}

static void free_sizes(struct sched_size *sizes, size_t n)
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
	struct sched_size sizes[SCHED_PROCS] = {0};
	if (!o->shared.cpus.n) {
		cpu_list_allowed(&o->shared.cpus);
		o->shared.cpus.n = 1;
	}
	int status = make_plan(s, o, &plan);
	if (status)
		return status;
	for (size_t i = 0; i < o->procs.n; i++) {
		sizes[i].procs = (size_t)o->procs.v[i];
		sizes[i].runs = memory_zeroed(runs, sizeof(struct sched_run));
	}
	s->err = measure(s, &plan, sizes, o->procs.n, runs);
	if (!s->err)
		results_sched(&s->run, &o->shared.cpus, &plan, sizes, o->procs.n);
	free_sizes(sizes, o->procs.n);
	return BENCH_DONE;
}

static void defaults(void *settings)
{
	((struct settings *)settings)->procs = (struct int_list){{1, 2, 4}, 3};
}

const struct bench_test bench_sched_test = {"sched", &face, sizeof(struct settings), defaults, NULL, run};
