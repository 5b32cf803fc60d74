#include "bench/results/common.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>

/*
 * Returns the share of one CPU that the kernel's weights give to process `i`. Returns NAN if there are several CPUs or
 * a real-time policy, because the weights alone do not determine the shares in these cases.
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
	for (size_t k = 0; k < p->logs; k++)
		reals_add(&x.progress_s, (double)p->progress_ns[k] * 1e-9);
	for (size_t k = 0; k < p->slices.n; k++) {
		const struct sched_slice *c = &p->slices.v[k];
		vec_push(&x.slices_s, (struct run_slice){(double)c->start * 1e-9, (double)c->end * 1e-9, c->cpu});
	}
	vec_push(&to->processes, x);
}

/* Adds a subject for one number of processes. Its samples are the mean latency of each run. */
static void add_size(struct run *run, const struct sched_plan *plan, const struct sched_size *size)
{
	char name[32];
	snprintf(name, sizeof(name), "%zu process%s", size->procs, size->procs == 1 ? "" : "es");
	struct run_subject *to = results_add(run, name, "s", NULL, 0);
	for (size_t k = 0; k < size->n; k++) {
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
		vec_push(&to->repetitions, x);
	}
}

static void note_lost_slices(struct run *run, const struct sched_size *z)
{
	for (size_t k = 0; k < z->n; k++)
		for (size_t i = 0; i < z->procs; i++)
			if (!z->runs[k].procs[i].slices_whole) {
				run_note(run,
					 "%zu processes had more slices than the %d that can be kept, so their "
					 "shares are not known",
					 z->procs, SCHED_SLICES);
				return;
			}
}

/*
 * Adds a note about a run that was interrupted. Such a run has progress and slices, but no latency and no throughput.
 */
static void note_interrupted(struct run *run, const struct sched_size *z)
{
	for (size_t k = 0; k < z->n; k++)
		for (size_t i = 0; i < z->runs[k].n; i++)
			if (!z->runs[k].procs[i].done) {
				struct buf when = {0};
				duration_human(&when, (double)z->runs[k].window_ns);
				run_note(run,
					 "%zu process%s: some did not finish in time; shares and slices cover the "
					 "first %s",
					 z->procs, z->procs == 1 ? "" : "es", buf_str(&when));
				buf_free(&when);
				return;
			}
}

static void describe_method(struct run *run, const struct cpu_list *cpus, const struct sched_plan *p)
{
	struct buf head = {0};
	double alone_ns = (double)p->work.chunks * p->work.chunk_ns;
	buf_adds(&head, "sched: CPU-bound processes on ");
	results_say_cpus(&head, cpus);
	buf_addf(&head, ", policy %s; each alone takes ", place_policy_name(p->policy.policy));
	duration_human(&head, alone_ns);
	buf_adds(&head, " undisturbed;\nlatency: from the common start to the end of each process; shares: while all "
			"processes run");
	strings_add_lines(&run->head, buf_str(&head));
	struct run_method *m = &run->method;
	results_set_cpus(run, cpus);
	field_set(&m->policy, place_policy_name(p->policy.policy));
	m->alone_s = alone_ns * 1e-9;
	m->chunks = (double)p->work.chunks;
	m->chunk_ns = p->work.chunk_ns;
	buf_free(&head);
}

void results_sched(struct run *run, const struct cpu_list *cpus, const struct sched_plan *plan,
		   const struct sched_size *sizes, size_t n)
{
	describe_method(run, cpus, plan);
	for (size_t i = 0; i < n; i++) {
		if (sizes[i].n)
			add_size(run, plan, &sizes[i]);
		note_lost_slices(run, &sizes[i]);
		note_interrupted(run, &sizes[i]);
	}
	if (plan->policy.policy == SCHED_FIFO)
		run_note(run, "fifo has no time slices: the first process runs until it ends");
}
