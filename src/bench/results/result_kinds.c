/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"
#include "bench/results/results.h"
#include "run/judge.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double quantile(const struct latency_result *r, double q)
{
	return fmin(fmax(hist_quantile(&r->hist, q), (double)r->min), (double)r->max);
}

static void add_latency(struct run *run, const struct latency_row *row)
{
	const struct latency_result *r = &row->r;
	struct run_subject *to = results_add(run, row->load->name, "ns", NULL, 0);
	hist_merge(&to->hist, &r->hist);
	to->wakeups = (double)r->n;
	to->mean_ns = latency_mean(r);
	to->min_ns = (double)r->min;
	to->max_ns = (double)r->max;
	to->stddev_ns = latency_stddev(r);
	to->median_ns = quantile(r, 0.5);
	to->p99_ns = quantile(r, 0.99);
	to->p999_ns = quantile(r, 0.999);
	to->missed = (double)r->missed;
	results_add_work(to, row->load);
}

/*
 * Writes the lines above the table: how the test measured. `r` is the first result with wake-ups, or an empty result.
 */
static void describe_latency(struct run *run, const struct cpu_list *cpus, const struct latency_plan *p,
			     const struct latency_result *r)
{
	auto_buf head = {0};
	buf_addf(&head, "latency: delay from the expiry of a timer until the task runs, every ");
	duration_human(&head, (double)p->interval_ns);
	buf_adds(&head, ";\ntask: on ");
	results_say_cpus(&head, cpus);
	buf_addf(&head, ", policy %s", place_policy_name(p->policy.policy));
	if (p->policy.prio)
		buf_addf(&head, ", priority %d", p->policy.prio);
	buf_addf(&head, ", memory %s, deep idle states %s", r->lock_err ? "not locked" : "locked",
		 r->idle_held ? "disabled" : "not disabled");
	strings_add_lines(&run->head, buf_str(&head));
	if (r->lock_err)
		run_note(run, "the memory could not be locked (%s)", strerror(r->lock_err));
	struct run_method *m = &run->method;
	results_set_cpus(run, cpus);
	m->interval_ns = (double)p->interval_ns;
	m->time_ns = (double)p->time_ns;
	field_set(&m->policy, place_policy_name(p->policy.policy));
	m->priority = p->policy.prio;
	m->memory_locked = r->lock_err ? TRUTH_NO : TRUTH_YES;
	m->idle_states_held = r->idle_held ? TRUTH_YES : TRUTH_NO;
}

void results_latency(struct run *run, const struct cpu_list *cpus, const struct latency_plan *plan,
		     const struct latency_row *rows, size_t n)
{
	size_t first = 0;
	while (first < n && !rows[first].r.n)
		first++;
	describe_latency(run, cpus, plan, first < n ? &rows[first].r : &(struct latency_result){0});
	for (size_t i = first; i < n; i++)
		if (rows[i].r.n)
			add_latency(run, &rows[i]);
}

static void add_load(struct run *run, const struct slowdown_row *row)
{
	struct run_subject *to = results_add(run, row->load->name, "s", row->wall.v, row->wall.n);
	for (size_t i = 0; i < row->wall.n; i++) {
		reals_add(&to->samples[METRIC_LOAD_USER], row->user.v[i]);
		reals_add(&to->samples[METRIC_LOAD_SYSTEM], row->system.v[i]);
	}
	results_add_work(to, row->load);
}

static void note_unseen(struct run *run)
{
	auto_buf unseen = {0};
	for (size_t i = 0; i < run->subjects.n; i++) {
		struct interval ratio;
		const struct run_subject *x = &run->subjects.v[i];
		if (isfinite(run_over_none(run, x, &ratio)) && isfinite(ratio.low) && boot_spans_one(&ratio))
			buf_addf(&unseen, "%s%s", unseen.len ? ", " : "", x->name);
	}
	if (unseen.len)
		run_note(run,
			 "no difference from the run without a load was seen (the 95 %% interval of the ratio of "
			 "medians includes 1): %s",
			 buf_str(&unseen));
}

static void describe_load(struct run *run, const struct cpu_list *cpus, const struct slowdown_plan *plan,
			  uint64_t times)
{
	auto_buf head = {0};
	if (plan->command)
		buf_addf(&head, "load: elapsed time of %s, on ", plan->command[0]);
	else
		buf_addf(&head, "load: elapsed time of a fixed suite of system calls, %llu time%s, on ",
			 (unsigned long long)times, times == 1 ? "" : "s");
	results_say_cpus(&head, cpus);
	buf_adds(&head, ", under loads");
	strings_add_lines(&run->head, buf_str(&head));
	struct run_method *m = &run->method;
	results_set_cpus(run, cpus);
	field_set(&m->command, plan->command ? plan->command[0] : NULL);
	m->suite_times = (double)times;
	field_set(&m->suite_without, plan->without);
	m->seed = (double)plan->seed;
}

void results_load(struct run *run, const struct cpu_list *cpus, const struct slowdown_plan *plan, uint64_t times,
		  const struct slowdown_row *rows, size_t n)
{
	describe_load(run, cpus, plan, times);
	for (size_t i = 0; i < n; i++)
		if (rows[i].wall.n)
			add_load(run, &rows[i]);
	if (run_judge(run) == 0)
		note_unseen(run);
}

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
				auto_buf when = {0};
				duration_human(&when, (double)z->runs[k].window_ns);
				run_note(run,
					 "%zu process%s: some did not finish in time; shares and slices cover the "
					 "first %s",
					 z->procs, z->procs == 1 ? "" : "es", buf_str(&when));
				return;
			}
}

static void describe_sched(struct run *run, const struct cpu_list *cpus, const struct sched_plan *p)
{
	auto_buf head = {0};
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
}

void results_sched(struct run *run, const struct cpu_list *cpus, const struct sched_plan *plan,
		   const struct sched_size *sizes, size_t n)
{
	describe_sched(run, cpus, plan);
	for (size_t i = 0; i < n; i++) {
		if (sizes[i].n)
			add_size(run, plan, &sizes[i]);
		note_lost_slices(run, &sizes[i]);
		note_interrupted(run, &sizes[i]);
	}
	if (plan->policy.policy == SCHED_FIFO)
		run_note(run, "fifo has no time slices: the first process runs until it ends");
}

/*
 * Each round has two switches. At each, either the running task sleeps, or the task that was woken preempts it. If the
 * average number of switches in a round is below this value, the tasks did not take turns.
 */
#define PROVEN 1.9

#define NAME_BYTES 64

/*
 * Returns the name of what was measured. If the tasks run on two CPUs, a wake-up is measured and not a switch, and the
 * CPU of the woken task may be idle or busy.
 */
static const char *what_of(const struct switch_result *r)
{
	if (r->kind->tasks == TASKS_USER)
		return "user-level";
	return r->cpu[0] == r->cpu[1] ? "switch" : "wake-up";
}

static void cpus_of(const struct switch_result *r, char *text, size_t size)
{
	if (r->cpu[0] == r->cpu[1])
		snprintf(text, size, "%d", r->cpu[0]);
	else
		snprintf(text, size, "%d,%d", r->cpu[0], r->cpu[1]);
}

/* Writes the name of the row in the saved run and in the picture. */
static void name_of(const struct switch_result *r, char *text, size_t size)
{
	snprintf(text, size, "%s%s", r->kind->name, r->cpu[0] == r->cpu[1] ? "" : " (two CPUs)");
}

static void add_switch(struct run *run, const struct switch_result *r)
{
	char name[NAME_BYTES];
	char cpus[32];
	cpus_of(r, cpus, sizeof(cpus));
	name_of(r, name, sizeof(name));
	struct run_subject *to = results_add(run, name, "ns", r->ns.v, r->ns.n);
	field_set(&to->about, r->kind->about);
	field_set(&to->what, what_of(r));
	field_set(&to->cpus, cpus);
	to->rounds = (double)r->rounds;
	to->round_median_ns = r->round_ns;
	to->own_median_ns = r->own_ns;
	to->voluntary_per_round = r->voluntary;
	to->involuntary_per_round = r->involuntary;
}

/* Adds a note if the kernel counted fewer than two switches in each round (see PROVEN). */
static void note_proof(struct run *run, const struct switch_result *r)
{
	if (r->kind->tasks == TASKS_USER || isnan(r->voluntary))
		return;
	double all = r->voluntary + r->involuntary;
	if (r->kind->yields && all < PROVEN)
		run_note(run, "%s: the scheduler switched %.2f times in each round; the cost is divided by this number",
			 r->kind->name, all);
	else if (all < PROVEN)
		run_note(run,
			 "%s on CPUs %d and %d: there were %.2f switches per round on average instead of 2; the figure "
			 "is not the cost of a switch",
			 r->kind->name, r->cpu[0], r->cpu[1], all);
}

/* Adds a note about kinds that have fewer samples than requested. */
static void note_switch_shortage(struct run *run, const struct switch_result *results, size_t n, size_t samples)
{
	auto_buf names = {0};
	for (size_t i = 0; i < n; i++) {
		char name[NAME_BYTES];
		name_of(&results[i], name, sizeof(name));
		if (!results[i].why.len && results[i].ns.n < samples)
			buf_addf(&names, "%s%zu of %s", names.len ? ", " : "", results[i].ns.n, name);
	}
	results_note_shortage(run, "switch", samples, &names);
}

/* Appends the policy of the plan, and that of the measurements across CPUs if it is another one. */
static void add_policies(const struct switch_plan *p, const struct switch_result *results, size_t n, struct buf *out)
{
	buf_adds(out, place_policy_name(p->policy.policy));
	for (size_t i = 0; i < n; i++) {
		int policy = switch_policy(p, &results[i]);
		if (!results[i].ns.n || policy == p->policy.policy)
			continue;
		buf_addf(out, " (%s between CPUs)", place_policy_name(policy));
		return;
	}
}

static void describe_switch(struct run *run, const struct switch_plan *p, const struct switch_result *results, size_t n)
{
	auto_buf head = {0};
	auto_buf size = {0};
	size_human(&size, p->size);
	buf_adds(&head, "switch: from one task to another, policy ");
	add_policies(p, results, n, &head);
	buf_addf(&head,
		 ";\na round is two switches, there and back; subtracted: twice \"own\",\n"
		 "the cost of %s in one task alone\n",
		 p->size ? "waking, waiting and changing the working set" : "waking and waiting");
	if (p->size)
		buf_addf(&head, "each task changes a working set of %s at each turn\n", buf_str(&size));
	strings_add_lines(&run->head, buf_str(&head));
	struct run_method *m = &run->method;
	m->known = true;
	m->samples = (double)p->samples;
	m->sample_ns = (double)p->sample_ns;
	m->working_set_bytes = (double)p->size;
	field_set(&m->policy, place_policy_name(p->policy.policy));
}

void results_switch(struct run *run, const struct switch_plan *plan, const struct switch_result *results, size_t n)
{
	describe_switch(run, plan, results, n);
	for (size_t i = 0; i < n; i++) {
		const struct switch_result *r = &results[i];
		if (r->why.len)
			run_note(run, "%s was not measured: %s", r->kind->name, buf_str(&r->why));
		if (!r->ns.n)
			continue;
		note_proof(run, r);
		add_switch(run, r);
	}
	note_switch_shortage(run, results, n, plan->samples);
}

static void note_oddities(struct run *run, const struct op_result *r)
{
	if (r->why.len)
		run_note(run, "%s cannot run here: %s", r->op->name, buf_str(&r->why));
	if (r->wrong)
		run_note(run, "%s failed %llu times, so its figures are not the cost of this operation", r->op->name,
			 (unsigned long long)r->wrong);
}

/* Adds a note about operations that have fewer samples than requested. */
static void note_syscall_shortage(struct run *run, const struct op_result *results, size_t n, size_t samples)
{
	auto_buf names = {0};
	for (size_t i = 0; i < n; i++)
		if (!results[i].why.len && results[i].ns.n < samples)
			buf_addf(&names, "%s%zu of %s", names.len ? ", " : "", results[i].ns.n, results[i].op->name);
	results_note_shortage(run, "syscall", samples, &names);
}

static void add_syscall(struct run *run, const struct op_result *r, double resolution)
{
	struct run_subject *to = results_add(run, r->op->name, "ns", r->ns.v, r->ns.n);
	struct sample_summary ns;
	sample_summarise(r->ns.v, r->ns.n, &ns);
	field_set(&to->group, r->op->group);
	field_set(&to->about, r->op->about);
	to->batch = (double)r->batch;
	to->kernel_calls = r->kernel;
	to->trap = r->op->trap ? TRUTH_YES : TRUTH_UNKNOWN;
	to->two_loops_ns = r->two_op_ns;
	to->resolution_ns = resolution;
	to->resolved = ns.median >= resolution ? TRUTH_YES : TRUTH_NO;
	to->failures = (double)r->wrong;
}

/*
 * Returns the time that was subtracted from a single call. If each sample comes from a process of its own, the time is
 * the median of what these processes measured.
 */
static double taken_out(const struct op_plan *p, const struct op_control *c, const struct op_result *results, size_t n)
{
	VEC(double) all = {0};
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < results[i].taken.n; k++)
			vec_push(&all, results[i].taken.v[k]);
	double taken = p->mode == OP_PER_PROCESS && all.n ? sample_median(all.v, all.n) : c->single_ns;
	vec_free(&all);
	return taken;
}

/* Writes the lines above the table: how the test measured. */
static void describe_syscall(struct run *run, const struct cpu_list *cpus, const struct op_plan *p,
			     const struct op_control *c, double taken)
{
	static const char *const modes[] = {
		[OP_IN_PROCESS] = "in one process, each the mean of a batch of at least",
		[OP_SINGLE] = "in one process, each a single call between two reads of the clock",
		[OP_PER_PROCESS] = "each a single call in a new process",
	};
	auto_buf head = {0};
	buf_adds(&head, "syscall: the cost of an operation, on ");
	results_say_cpus(&head, cpus);
	buf_addf(&head, "; %zu samples %s", p->samples, modes[p->mode]);
	if (p->mode == OP_IN_PROCESS) {
		buf_addc(&head, ' ');
		duration_human(&head, (double)p->sample_ns);
		buf_addf(&head, ";\nsubtracted: %.1f ns per sample (the clock), %.2f ns per operation (the loop)\n",
			 c->clock_ns, c->loop_ns);
	} else {
		buf_addf(&head, ";\nsubtracted: %.1f ns per sample (the clock around nothing%s)\n", taken,
			 p->mode == OP_PER_PROCESS ? ", measured in each process; median" : "");
	}
	strings_add_lines(&run->head, buf_str(&head));
	struct run_method *m = &run->method;
	results_set_cpus(run, cpus);
	field_set(&m->mode, p->mode == OP_IN_PROCESS ? "in-process" : p->mode == OP_SINGLE ? "single" : "per-process");
	m->samples = (double)p->samples;
	m->sample_ns = (double)p->sample_ns;
	m->seed = (double)p->seed;
	m->clock_ns = c->clock_ns;
	m->clock_step_ns = c->clock_step_ns;
	m->single_ns = taken;
	m->loop_ns = c->loop_ns;
	m->spread_ns = c->spread_ns;
}

void results_syscall(struct run *run, const struct cpu_list *cpus, const struct op_plan *plan,
		     const struct op_control *control, const struct op_result *results, size_t n)
{
	describe_syscall(run, cpus, plan, control, taken_out(plan, control, results, n));
	double spread = plan->mode == OP_IN_PROCESS ? control->spread_ns : control->single_spread_ns;
	for (size_t i = 0; i < n; i++) {
		const struct op_result *r = &results[i];
		note_oddities(run, r);
		if (!r->ns.n)
			continue;
		/*
		 * Nothing was subtracted from the time of the empty loop, so any time can be distinguished from zero.
		 */
		add_syscall(run, r, r->op == op_empty() ? 0 : 3 * spread);
	}
	note_syscall_shortage(run, results, n, plan->samples);
}
