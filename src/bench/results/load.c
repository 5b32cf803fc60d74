#include "bench/results/common.h"

#include "base/buf.h"
#include "run/judge.h"

#include <math.h>

static void add_row(struct run *run, const struct slowdown_row *row)
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
	struct buf unseen = {0};
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
	buf_free(&unseen);
}

static void describe_method(struct run *run, const struct cpu_list *cpus, const struct slowdown_plan *plan,
			    uint64_t times)
{
	struct buf head = {0};
	if (plan->command)
		buf_addf(&head, "load: elapsed time of %s, on ", plan->command[0]);
	else
		buf_addf(&head, "load: elapsed time of a fixed suite of system calls, %llu time%s, on ",
			 (unsigned long long)times, times == 1 ? "" : "s");
	results_say_cpus(&head, cpus);
	buf_adds(&head, ", under loads");
	strings_add_lines(&run->head, buf_str(&head));
	buf_free(&head);
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
	describe_method(run, cpus, plan, times);
	for (size_t i = 0; i < n; i++)
		if (rows[i].wall.n)
			add_row(run, &rows[i]);
	if (run_judge(run) == 0)
		note_unseen(run);
}
