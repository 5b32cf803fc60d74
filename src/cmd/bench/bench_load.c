#include "cmd/bench/cmd_bench.h"

#include <errno.h>

#define DEFAULT_LOADS "none,cpu,net,suite,disk"

static const struct opt options[] = {
	{.help = "How:"},
	BENCH_LOADS_OPTIONS(DEFAULT_LOADS),
	{'c', "cpus", "LIST", bench_opt_cpus, "run the suite or the command on these CPUs (default: any)"},
	{0, "ignore-failure", NULL, opt_flag, "continue if the command fails", BENCH_AT(ignore_failure)},
	{0, "show-output", NULL, opt_flag, "let the command write to this terminal", BENCH_AT(show_output)},
	{BENCH_SEED("loads")},
	BENCH_SHARED_OPTIONS("number of runs under each load; from 5 on, a 95 % interval is shown (default: 3)",
			     "repeat the suite until it takes about this long without a load (default: once)"),
	{0},
};
static const char *const usage[] = {"[OPTIONS] [--] [COMMAND [ARG...]]", NULL};
static const struct opt_command face = {
	.name = "sctrace bench load",
	.usage = usage,
	.about = "Measures how much slower a fixed suite of system calls, or a command, runs under loads.",
	.table = options,
	.epilog = "sctrace-bench(1) explains the result.",
	.stop_at_operand = true,
};

static int check(const struct bench_options *o, char **words, size_t n, struct buf *why)
{
	(void)words;
	if (n && o->time_ns)
		buf_adds(why, "--time cannot be used with a command; it sets the length of the suite");
	else if (n && o->show_output && display_is_data(&o->show))
		buf_adds(why, DISPLAY_MIXED);
	return why->len ? -EINVAL : 0;
}

static int run(struct bench_session *s, char **words, size_t nwords, struct buf *why)
{
	struct bench_options *o = s->o;
	struct slowdown_row rows[LOADS_MAX] = {0};
	struct buf without = {0};
	uint64_t times;
	size_t n = o->loads.n;
	if (!nwords)
		results_note_suite(&s->run, s->dir, &without);
	const struct slowdown_plan plan = {
		.command = nwords ? words : NULL,
		.self = s->self,
		.without = buf_str(&without),
		.dir = s->dir,
		.time_ns = o->time_ns,
		.runs = o->runs,
		.seed = bench_seed(o),
		.cpus = o->cpus.v,
		.ncpus = o->cpus.n,
		.show_output = o->show_output,
		.ignore_failure = o->ignore_failure,
		.progress = s->progress,
	};
	results_note_loads(&s->run, s->dir, o->loads.v, n);
	for (size_t i = 0; i < n; i++)
		rows[i].load = &o->loads.v[i];
	int err = slowdown_measure(&plan, rows, n, &times, &s->run, why);
	if (!err || err == -EINTR)
		results_load(&s->run, &o->cpus, &plan, times, rows, n);
	slowdown_rows_free(rows, n);
	buf_free(&without);
	return err;
}

const struct bench_test bench_load_test = {.name = "load",
					   .face = &face,
					   .defaults.runs = 3,
					   .loads = DEFAULT_LOADS,
					   .list = load_describe,
					   .takes_operands = true,
					   .check = check,
					   .run = run};
