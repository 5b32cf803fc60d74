#include "cmd/bench/bench.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/size.h"
#include "bench/sched.h"
#include "bench/stop.h"

#include <errno.h>
#include <math.h>
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
	{.letter = 'n',
	 .name = "procs",
	 .arg = "LIST",
	 .parse = opt_numbers,
	 .offset = AT(procs),
	 .min = 1,
	 .max = SCHED_PROCS,
	 .help = "numbers of competing processes (default: 1,2,4)"},
	BENCH_CPUS_OPTION("CPUs that the processes share (default: the first one)"),
	{.name = "nice",
	 .arg = "LIST",
	 .parse = opt_numbers,
	 .offset = AT(nice),
	 .min = -20,
	 .max = 19,
	 .help = "nice values, assigned to the processes in turn (default: 0)"},
	BENCH_POLICY_OPTIONS(struct settings, "other (default), batch, fifo or rr"),
	BENCH_SHARED_OPTIONS("number of repetitions (default: 3)", "time that one process takes alone (default: 0.3s)"),
	{0},
};
static const char *const usage[] = {"[OPTIONS]", NULL};
static const struct opt_command face = {
	.name = "sctrace bench sched",
	.usage = usage,
	.about = "Measures how processes that only compute share CPUs: throughput, latency, slices and shares.",
	.table = options,
	.epilog = "sctrace-bench(1) explains the result.",
};

/* All runs with one number of processes. */
struct sched_size {
	size_t procs;
	struct sched_run *runs;
	size_t n; /* number of elements of `runs`: the completed runs, or one interrupted run if none completed */
};

/*
 * Returns the share of one CPU that the kernel's weights give to process `i`. Returns NAN if there are several CPUs or
 * a real-time policy, because then the weights do not decide.
 */
static double expected_share(const struct sched_plan *p, const struct sched_run *r, size_t i)
{
	double all = 0;
	if (p->ncpus > 1 || p->policy.policy == SCHED_FIFO || p->policy.policy == SCHED_RR)
		return NAN;
	for (size_t k = 0; k < r->n; k++)
		all += sched_weight(r->procs[k].nice);
	return sched_weight(r->procs[i].nice) / all;
}

static void add_process(struct run_repetition *to, const struct sched_plan *plan, const struct sched_run *r, size_t i)
{
	const struct sched_proc *p = &r->procs[i];
	struct run_process x = {
		.nice = p->nice,
		.done = p->done ? TRUTH_YES : TRUTH_NO,
		.latency_s = p->done ? (double)p->latency_ns * 1e-9 : NAN,
		.cpu_share = sched_share(r, i),
		.cpu_share_by_weight = expected_share(plan, r, i),
		.voluntary_switches = (double)p->voluntary,
		.involuntary_switches = (double)p->involuntary,
		.slices_whole = p->slices_whole ? TRUTH_YES : TRUTH_NO,
	};
	bool ok = true;
	for (size_t k = 0; k < p->logs; k++)
		reals_add(&x.progress_s, (double)p->progress_ns[k] * 1e-9);
	for (size_t k = 0; k < p->slices.n && ok; k++) {
		const struct sched_slice *c = &p->slices.v[k];
		ok = vec_push(&x.slices_s, (struct run_slice){(double)c->start * 1e-9, (double)c->end * 1e-9, c->cpu});
	}
	if (!ok || !vec_push(&to->processes, x))
		memory_note_failure();
}

/* Adds a subject for one number of processes. Its samples are the mean latency of each run. */
static void add_size(struct bench_session *s, const struct sched_plan *plan, const struct sched_size *size)
{
	char name[32];
	snprintf(name, sizeof(name), "%zu process%s", size->procs, size->procs == 1 ? "" : "es");
	struct run_subject *to = bench_add(s, name, "s", NULL, 0);
	for (size_t k = 0; to && k < size->n; k++) {
		const struct sched_run *r = &size->runs[k];
		struct run_repetition x = {.throughput_per_s = sched_throughput(r),
					   .latency_mean_s = sched_mean_latency(r) * 1e-9,
					   .others_share = sched_others(r, plan->ncpus)};
		for (size_t i = 0; i < r->n; i++)
			add_process(&x, plan, r, i);
		if (isfinite(x.latency_mean_s)) {
			reals_add(&to->samples[METRIC_TIME], x.latency_mean_s);
			reals_add(&to->samples[METRIC_THROUGHPUT], x.throughput_per_s);
		}
		if (!vec_push(&to->repetitions, x))
			memory_note_failure();
	}
}

static void note_lost_slices(struct bench_session *s, const struct sched_size *z)
{
	for (size_t k = 0; k < z->n; k++)
		for (size_t i = 0; i < z->procs; i++)
			if (!z->runs[k].procs[i].slices_whole) {
				bench_note(s,
					   "%zu processes had more slices than the %d that can be kept, so their "
					   "shares are not known",
					   z->procs, SCHED_SLICES);
				return;
			}
}

/* Adds a note about a run that was interrupted. It has progress and slices, but neither a latency nor a throughput. */
static void note_interrupted(struct bench_session *s, const struct sched_size *z)
{
	for (size_t k = 0; k < z->n; k++)
		for (size_t i = 0; i < z->runs[k].n; i++)
			if (!z->runs[k].procs[i].done) {
				struct buf when = {0};
				duration_human(&when, (double)z->runs[k].window_ns);
				bench_note(s,
					   "%zu process%s: some did not finish in time; shares and slices cover the "
					   "first %s",
					   z->procs, z->procs == 1 ? "" : "es", buf_str(&when));
				buf_free(&when);
				return;
			}
}

static void report(struct bench_session *s, const struct sched_plan *p, const struct sched_size *sizes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (sizes[i].n)
			add_size(s, p, &sizes[i]);
		note_lost_slices(s, &sizes[i]);
		note_interrupted(s, &sizes[i]);
	}
	if (p->policy.policy == SCHED_FIFO)
		bench_note(s, "fifo has no time slices: the first process runs until it ends");
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
	struct buf b = {0};
	cpu_list_format(&b, &o->shared.cpus);
	buf_addf(&s->head, "sched: processes that only compute, on CPU %s, policy %s; each alone takes ", buf_str(&b),
		 place_policy_name(p->policy.policy));
	duration_human(&s->head, (double)p->work.chunks * p->work.chunk_ns);
	buf_adds(&s->head, " undisturbed;\nlatency: from the common start to the end of each process; shares: while "
			   "all processes run\n");
	struct run_method *m = &s->run.method;
	m->known = true;
	field_set(&m->cpus, buf_str(&b));
	field_set(&m->policy, place_policy_name(p->policy.policy));
	m->alone_s = (double)p->work.chunks * p->work.chunk_ns * 1e-9;
	m->chunks = (double)p->work.chunks;
	m->chunk_ns = p->work.chunk_ns;
	buf_free(&b);
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
	((struct settings *)settings)->procs = (struct int_list){{1, 2, 4}, 3};
}

const struct bench_test bench_sched_test = {"sched", &face, sizeof(struct settings), defaults, NULL, run};
