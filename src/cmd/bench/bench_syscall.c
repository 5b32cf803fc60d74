#include "base/clock.h"
#include "base/size.h"
#include "bench/op_count.h"
#include "cmd/bench/cmd_bench.h"
#include "out/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT (2 * NSEC_PER_SEC)

static const struct opt options[] = {
	{.help = "How:"},
	{0, "in-process", NULL, opt_flag, "a sample is the mean of a batch that is long enough for the clock (default)",
	 BENCH_AT(in_process)},
	{0, "single", NULL, opt_flag, "a sample is one call between two reads of the clock", BENCH_AT(single)},
	{0, "per-process", NULL, opt_flag, "a sample is one call in a new process", BENCH_AT(per_process)},
	{'l', "list", NULL, opt_flag, "list operations and groups", BENCH_AT(list)},
	{'c', "cpus", "LIST", bench_opt_cpus, "run on these CPUs only"},
	{BENCH_SEED("operations")},
	{0, "no-count", NULL, opt_flag, "do not trace the operations to count their system calls", BENCH_AT(no_count)},
	BENCH_SHARED_OPTIONS("number of samples per operation (default: 500)",
			     "time per operation (default: as long as the samples take, at most 2s)"),
	{0},
};
static const char *const usage[] = {"[OPTIONS] [OPERATION|GROUP...]", NULL};
static const struct opt_command face = {
	.name = "sctrace bench syscall",
	.usage = usage,
	.about = "Measures the cost of single operations: system calls, and calls that only look like system calls.",
	.table = options,
	.epilog = "sctrace bench syscall --list lists operations and groups. sctrace-bench(1) explains the result.",
};

static void list(struct buf *out)
{
	static const struct column c[] = {{"operation", "operation", 0}, {"group", "group", 0}, {"about", "what", 0}};
	struct table *t = table_new(c, 3);
	for (size_t i = 0; op_at(i); i++) {
		table_row(t);
		table_string(t, 0, op_at(i)->name);
		table_string(t, 1, op_at(i)->group);
		table_string(t, 2, op_at(i)->about);
	}
	table_render(t, TABLE_TEXT, NULL, out);
	table_free(t);
}

static void operands(struct buf *out)
{
	const struct op *op;
	const char *group = "";
	for (size_t i = 0; (op = op_at(i)); i++) {
		if (strcmp(op->group, group) != 0 && strcmp(op->group, op->name) != 0)
			buf_addf(out, "%s ", op->group);
		group = op->group;
		buf_addf(out, "%s ", op->name);
	}
}

static int check(const struct bench_options *o, char **words, size_t n, struct buf *why)
{
	if (o->in_process + o->single + o->per_process <= 1)
		return op_check(words, n, why);
	buf_adds(why, "only one of --in-process, --single and --per-process can be used");
	return -EINVAL;
}

static int make_plan(struct op_plan *p, const struct bench_session *s, const struct op_control *c, struct buf *why)
{
	const struct bench_options *o = s->o;
	*p = (struct op_plan){
		.mode = o->single        ? OP_SINGLE
			: o->per_process ? OP_PER_PROCESS
					 : OP_IN_PROCESS,
		.samples = (size_t)o->runs,
		.sample_ns = 5 * op_least_sample_ns(c) / 2,
		.limit_ns = DEFAULT_LIMIT,
		.seed = bench_seed(o),
		.dir = s->dir,
		.self = s->self,
		.progress = s->progress,
	};
	if (!o->time_ns)
		return 0;
	p->limit_ns = o->time_ns;
	p->sample_ns = o->time_ns / p->samples;
	if (p->mode == OP_IN_PROCESS && p->sample_ns < op_least_sample_ns(c)) {
		buf_addf(why, "--time is too short for %zu samples with this clock; use ", p->samples);
		duration_human(why, (double)(op_least_sample_ns(c) * p->samples));
		buf_adds(why, " or longer, or fewer --runs");
		return -ERANGE;
	}
	p->sample_ns = p->sample_ns * 3 / 4; /* the rest of the time is for finding the size of a batch */
	return 0;
}

static void count_calls(struct bench_session *s, struct op_result *results, size_t n)
{
	struct buf why = {0};
	progress_say(&s->progress, "counting system calls");
	if (op_count_kernel(results, n, s->self, s->dir, &why) < 0 && why.len)
		run_note(&s->run, "system calls were not counted: %s", buf_str(&why));
	buf_free(&why);
}

static int measure(struct bench_session *s, struct op_result *results, size_t n, struct buf *why)
{
	struct op_control control;
	struct op_plan plan;
	op_control_measure(&control);
	int err = make_plan(&plan, s, &control, why);
	if (!err)
		err = op_measure(&plan, &control, results, n);
	if (err)
		return err;
	if (!s->o->no_count)
		count_calls(s, results, n);
	results_syscall(&s->run, &s->o->cpus, &plan, &control, results, n);
	return 0;
}

static int run(struct bench_session *s, char **words, size_t nwords, struct buf *why)
{
	struct cpu_list before = {0};
	struct op_result *results;
	size_t n = op_choose(&results, words, nwords);
	cpu_list_allowed(&before);
	if (s->o->cpus.n)
		place_pin(s->o->cpus.v, s->o->cpus.n);
	int err = measure(s, results, n, why);
	place_pin(before.v, before.n);
	vec_free(&before);
	for (size_t i = 0; i < n; i++)
		op_result_free(&results[i]);
	free(results);
	return err;
}

const struct bench_test bench_syscall_test = {.name = "syscall",
					      .face = &face,
					      .defaults.runs = 500,
					      .list = list,
					      .takes_operands = true,
					      .operands = operands,
					      .check = check,
					      .run = run};
