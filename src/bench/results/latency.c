#include "bench/results/common.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"

#include <math.h>
#include <string.h>

static double quantile(const struct latency_result *r, double q)
{
	return fmin(fmax(hist_quantile(&r->hist, q), (double)r->min), (double)r->max);
}

static void add_row(struct run *run, const struct latency_row *row)
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
static void describe_method(struct run *run, const struct cpu_list *cpus, const struct latency_plan *p,
			    const struct latency_result *r)
{
	struct buf head = {0};
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
	buf_free(&head);
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
	describe_method(run, cpus, plan, first < n ? &rows[first].r : &(struct latency_result){0});
	for (size_t i = first; i < n; i++)
		if (rows[i].r.n)
			add_row(run, &rows[i]);
}
