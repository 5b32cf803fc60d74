#include "cmd/bench/bench.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/memory.h"
#include "bench/results/results.h"
#include "bench/stop.h"
#include "bench/switch.h"
#include "cmd/put.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SAMPLES 100
#define DEFAULT_TIME    (NSEC_PER_SEC / 2)
#define LEAST_SAMPLE_NS 50000
#define SAMPLE_PERCENT  60 /* per cent of the time for samples; the rest is for preparing the measurement */

struct settings {
	struct bench_shared shared; /* must be first */
	uint64_t size;
	const char *policy;
	int prio;
	bool list;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
	{.help = "How:"},
	BENCH_CPUS_OPTION("the CPU on which two tasks take turns, and a second one for wake-ups between CPUs (default: "
			  "the first two)"),
	{'s', "size", "SIZE", opt_size, "memory that each task reads at each turn (default: 0)", AT(size)},
	BENCH_POLICY_OPTIONS(struct settings,
			     "batch (default: no task preempts the one that woke it), other, fifo or rr"),
	{'l', "list", NULL, opt_flag, "list the kinds", AT(list)},
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

static int list(void)
{
	struct buf out = {0};
	for (size_t i = 0; switch_kind_at(i); i++)
		buf_addf(&out, "%-13s %s\n", switch_kind_at(i)->name, switch_kind_at(i)->about);
	int status = put_text(NULL, &out);
	buf_free(&out);
	return status;
}

struct ticking {
	struct bench_session *s;
	size_t done, all;
	const char *name;
};

static void tick(void *ctx)
{
	struct ticking *t = ctx;
	bench_progress(t->s, (double)t->done, (double)t->all, t->name);
}

/*
 * Makes the measurements in `results`, each on one CPU or, if its cpu[1] is set, across two CPUs. Returns 0 or -errno.
 */
static int measure(struct bench_session *s, struct switch_plan *plan, struct switch_result *results, size_t n)
{
	struct ticking t = {.s = s, .all = n};
	int err = 0;
	plan->tick = tick;
	plan->tick_ctx = &t;
	const struct place_policy policy = plan->policy;
	const int cpu[2] = {plan->cpu[0], plan->cpu[1]};
	for (t.done = 0; t.done < n && !err && !stop_signal(); t.done++) {
		struct switch_result *r = &results[t.done];
		t.name = r->kind->name;
		plan->cpu[0] = r->cpu[0] = cpu[0];
		plan->cpu[1] = r->cpu[1] ? cpu[1] : cpu[0];
		/*
		 * A task of SCHED_BATCH does not preempt others when it wakes up. Across CPUs, the woken task would
		 * therefore wait for other programs, so measurements across CPUs use SCHED_OTHER.
		 */
		plan->policy = policy;
		if (r->cpu[1] && policy.policy == SCHED_BATCH)
			plan->policy.policy = SCHED_OTHER;
		err = switch_measure(plan, r);
	}
	plan->tick = NULL;
	plan->tick_ctx = NULL;
	return err;
}

/*
 * Fills in the list of measurements and returns their number. A measurement whose cpu[1] is set is made across two
 * CPUs.
 */
static size_t choose(struct switch_result *results, int nwords, char **words, bool across, bool sized)
{
	size_t n = 0;
	for (int two = 0; two < (across ? 2 : 1); two++)
		for (size_t i = 0; switch_kind_at(i); i++) {
			const struct switch_kind *k = switch_kind_at(i);
			bool wanted = nwords == 0;
			for (int w = 0; w < nwords; w++)
				wanted |= strcmp(words[w], k->name) == 0;
			/*
			 * User-level switches have no working set. Kinds that use sched_yield(2) are measured only on
			 * one CPU.
			 */
			if (!wanted || (k->tasks == TASKS_USER && (two || sized)) || (k->yields && two))
				continue;
			results[n].kind = k;
			results[n++].cpu[1] = two;
		}
	return n;
}

static bool words_known(int n, char **words)
{
	for (int i = 0; i < n; i++)
		if (!switch_kind_find(words[i])) {
			diag_error("there is no kind of switch '%s'; sctrace bench switch --list lists them", words[i]);
			return false;
		}
	return true;
}

/*
 * Returns true if all chosen kinds can be used with --size. Otherwise prints a message: user-level switches have no
 * working set.
 */
static bool words_touch(int n, char **words)
{
	for (int i = 0; i < n; i++)
		if (switch_kind_find(words[i])->tasks == TASKS_USER) {
			diag_error("--size cannot be used with '%s', which is a switch at user level", words[i]);
			return false;
		}
	return true;
}

/* Makes the plan from the options. Returns 0, or EXIT_USAGE after a message. */
static int make_plan(struct bench_session *s, struct switch_plan *p, const struct settings *o,
		     const struct cpu_list *cpus)
{
	uint64_t time = o->shared.time_given ? o->shared.time_ns : DEFAULT_TIME;
	*p = (struct switch_plan){
		.samples = o->shared.runs ? (size_t)o->shared.runs : DEFAULT_SAMPLES,
		.limit_ns = time * 3 / 2, /* other programs may make a sample longer than was planned */
		.size = o->size,
		.cpu = {cpus->v[0], cpus->n > 1 ? cpus->v[1] : cpus->v[0]},
	};
	int status = bench_choose_policy(s, o->policy, SCHED_BATCH, o->prio, &p->policy);
	if (status)
		return status;
	p->sample_ns = time / p->samples * SAMPLE_PERCENT / 100;
	if (p->sample_ns < LEAST_SAMPLE_NS) {
		diag_error("the time is too short for %zu samples; use --time=%zums or longer, or fewer --runs",
			   p->samples, p->samples * LEAST_SAMPLE_NS / (10000 * SAMPLE_PERCENT) + 1);
		return EXIT_USAGE;
	}
	return 0;
}

static bool ready(void *settings, int nwords, char **words, int *status)
{
	const struct settings *o = settings;
	*status = EXIT_USAGE;
	if (o->list) {
		*status = list();
		return false;
	}
	if (o->size > UINT64_C(1) << 30) {
		diag_error("--size is too large; the maximum is 1G");
		return false;
	}
	return words_known(nwords, words) && (!o->size || words_touch(nwords, words));
}

static int run(struct bench_session *s, void *settings, int nwords, char **words)
{
	struct switch_plan plan;
	struct cpu_list *cpus = &s->o->cpus;
	bool given = cpus->n;
	s->err = cpus->n ? 0 : cpu_list_allowed(cpus);
	if (s->err)
		return BENCH_DONE;
	int status = make_plan(s, &plan, settings, cpus);
	if (status)
		return status;
	size_t kinds = 0;
	while (switch_kind_at(kinds))
		kinds++;
	struct switch_result *results = memory_zeroed(2 * kinds + 1, sizeof(*results));
	size_t n = choose(results, nwords, words, cpus->n > 1, plan.size);
	s->err = measure(s, &plan, results, n);
	if (!s->err)
		results_switch(&s->run, &plan, results, n);
	if (cpus->n < 2 && !given)
		bench_note(s, "only one CPU can be used, so wake-ups between CPUs were not measured");
	for (size_t i = 0; i < n; i++)
		switch_result_free(&results[i]);
	free(results);
	return BENCH_DONE;
}

const struct bench_test bench_switch_test = {"switch", &face, sizeof(struct settings), NULL, ready, run};
