#include "bench/results/common.h"

#include "base/buf.h"
#include "base/size.h"

#include <math.h>
#include <stdio.h>

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

static void add_result(struct run *run, const struct switch_result *r)
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
			 "%s on CPUs %d and %d: there were %.2f switches per round on average instead of 2; the "
			 "figure is not "
			 "the cost of a switch",
			 r->kind->name, r->cpu[0], r->cpu[1], all);
}

/* Adds a note about kinds that have fewer samples than requested. */
static void note_shortage(struct run *run, const struct switch_result *results, size_t n, size_t samples)
{
	struct buf names = {0};
	for (size_t i = 0; i < n; i++) {
		char name[NAME_BYTES];
		name_of(&results[i], name, sizeof(name));
		if (!results[i].why.len && results[i].ns.n < samples)
			buf_addf(&names, "%s%zu of %s", names.len ? ", " : "", results[i].ns.n, name);
	}
	results_note_shortage(run, "switch", samples, &names);
	buf_free(&names);
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

static void describe_method(struct run *run, const struct switch_plan *p, const struct switch_result *results, size_t n)
{
	struct buf head = {0};
	struct buf size = {0};
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
	buf_free(&head);
	buf_free(&size);
	struct run_method *m = &run->method;
	m->known = true;
	m->samples = (double)p->samples;
	m->sample_ns = (double)p->sample_ns;
	m->working_set_bytes = (double)p->size;
	field_set(&m->policy, place_policy_name(p->policy.policy));
}

void results_switch(struct run *run, const struct switch_plan *plan, const struct switch_result *results, size_t n)
{
	describe_method(run, plan, results, n);
	for (size_t i = 0; i < n; i++) {
		const struct switch_result *r = &results[i];
		if (r->why.len)
			run_note(run, "%s was not measured: %s", r->kind->name, buf_str(&r->why));
		if (!r->ns.n)
			continue;
		note_proof(run, r);
		add_result(run, r);
	}
	note_shortage(run, results, n, plan->samples);
}
