#include "bench/results/common.h"

#include "base/buf.h"
#include "base/size.h"

#include <stdlib.h>

static void note_oddities(struct run *run, const struct op_result *r)
{
	if (r->why.len)
		run_note(run, "%s cannot run here: %s", r->op->name, buf_str(&r->why));
	if (r->wrong)
		run_note(run, "%s failed %llu times, so its figures are not the cost of this operation", r->op->name,
			 (unsigned long long)r->wrong);
}

/* Adds a note about operations that have fewer samples than requested. */
static void note_shortage(struct run *run, const struct op_result *results, size_t n, size_t samples)
{
	struct buf names = {0};
	for (size_t i = 0; i < n; i++)
		if (!results[i].why.len && results[i].ns.n < samples)
			buf_addf(&names, "%s%zu of %s", names.len ? ", " : "", results[i].ns.n, results[i].op->name);
	results_note_shortage(run, "syscall", samples, &names);
	buf_free(&names);
}

static void add_result(struct run *run, const struct op_result *r, double resolution)
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
static void describe_method(struct run *run, const struct cpu_list *cpus, const struct op_plan *p,
			    const struct op_control *c, double taken)
{
	static const char *const modes[] = {
		[OP_IN_PROCESS] = "in one process, each the mean of a batch of at least",
		[OP_SINGLE] = "in one process, each a single call between two reads of the clock",
		[OP_PER_PROCESS] = "each a single call in a new process",
	};
	struct buf head = {0};
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
	buf_free(&head);
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
	describe_method(run, cpus, plan, control, taken_out(plan, control, results, n));
	double spread = plan->mode == OP_IN_PROCESS ? control->spread_ns : control->single_spread_ns;
	for (size_t i = 0; i < n; i++) {
		const struct op_result *r = &results[i];
		note_oddities(run, r);
		if (!r->ns.n)
			continue;
		/*
		 * Nothing was subtracted from the time of the empty loop, so any time can be distinguished from zero.
		 */
		add_result(run, r, r->op == op_empty() ? 0 : 3 * spread);
	}
	note_shortage(run, results, n, plan->samples);
}
