#include "cmd/bench/sched.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/size.h"
#include "bench/sched.h"
#include "bench/stop.h"
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
			/* Half a run is worth showing where there is no whole one. */
			if (!err || (err == -EINTR && !sizes[i].n && r->window_ns))
				sizes[i].n++;
			else
				sched_run_free(r);
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
		bench_sched_report(s, &plan, sizes, o->procs.n);
	free_sizes(sizes, o->procs.n);
	return BENCH_DONE;
}

static void defaults(void *settings)
{
	((struct settings *)settings)->procs = (struct numbers){{1, 2, 4}, 3};
}

const struct bench_test bench_sched_test = {"sched", &face, sizeof(struct settings), defaults, NULL, run};
