/* SPDX-License-Identifier: MIT */
/* The tests of `sctrace bench`: their options, and how they measure. */
#include "base/clock.h"
#include "base/size.h"
#include "bench/syscall.h"
#include "cmd/bench/cmd_bench.h"
#include "out/table.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses a list of CPUs. This process must be allowed to use the CPUs. */
static int opt_cpus(const struct opt_use *u)
{
	struct bench_options *s = u->settings;
	s->cpus.n = 0;
	return cpu_list_parse(&s->cpus, u->value, u->why) ? -EINVAL : 0;
}

/* Parses a duration above zero. */
static int opt_time(const struct opt_use *u)
{
	int r = opt_duration(u);
	if (r == 0 && ((struct bench_options *)u->settings)->time_ns == 0)
		return opt_refuse(u, "a time of 0 is too short; write for example 250ms or 1.5s");
	return r;
}

/* Parses a list such as "none,net,suite+disk". */
static int opt_loads(const struct opt_use *u)
{
	return load_list_parse(&((struct bench_options *)u->settings)->loads, u->value, u->why);
}

/* Returns the seed that was given with --seed, or a new one. */
static uint64_t seed_of(const struct bench_options *o)
{
	return o->seed ? (uint64_t)o->seed : clock_ns() & 0x7fffffff;
}

#define SHARED_OPTIONS(runs_help, time_help)                                                                           \
	{.help = "Measuring:"}, {'r', "runs", "N", opt_int, runs_help, BENCH_AT(runs), .min = 1, .max = 1000000},      \
		{'t', "time", "TIME", opt_time, time_help, BENCH_AT(time_ns)}, {BENCH_DIR}, {.help = "Output:"},       \
		BENCH_OUTPUT_OPTIONS

#define POLICY_OPTIONS(policy_help)                                                                                    \
	{0, "policy", "POLICY", opt_word, policy_help, BENCH_AT(policy), COMPLETE_WORDS, "other batch fifo rr"},       \
	{                                                                                                              \
		0, "prio", "N", opt_int, "real-time priority, for fifo and rr", BENCH_AT(prio), .min = 1, .max = 99    \
	}

/* The options --loads and --list. */
#define LOADS_OPTIONS(defaults)                                                                                        \
	{0,                                                                                                            \
	 "loads",                                                                                                      \
	 "LIST",                                                                                                       \
	 opt_loads,                                                                                                    \
	 "measure under these loads; A+B runs several at once (see --list) (default: " defaults ")",                   \
	 .complete = COMPLETE_LIST,                                                                                    \
	 .words = LOAD_WORDS},                                                                                         \
	{                                                                                                              \
		'l', "list", NULL, opt_flag, "list the loads", BENCH_AT(list)                                          \
	}

/* The values of the option --seed, for the random order of `what`. */
#define SEED(what)                                                                                                     \
	0, "seed", "N", opt_int,                                                                                       \
		"seed for the random order of the " what " (default: a new one, which is saved with the run)",         \
		BENCH_AT(seed), .min = 1, .max = 0x7fffffff

/* bench syscall: the cost of single operations */
#define SYSCALL_LIMIT_NS (2 * NSEC_PER_SEC)

static const struct opt syscall_options[] = {
	{.help = "How:"},
	{0, "in-process", NULL, opt_flag, "a sample is the mean of a batch that is long enough for the clock (default)",
	 BENCH_AT(in_process)},
	{0, "single", NULL, opt_flag, "a sample is one call between two reads of the clock", BENCH_AT(single)},
	{0, "per-process", NULL, opt_flag, "a sample is one call in a new process", BENCH_AT(per_process)},
	{'l', "list", NULL, opt_flag, "list operations and groups", BENCH_AT(list)},
	{'c', "cpus", "LIST", opt_cpus, "run on these CPUs only"},
	{SEED("operations")},
	{0, "no-count", NULL, opt_flag, "do not trace the operations to count their system calls", BENCH_AT(no_count)},
	SHARED_OPTIONS("number of samples per operation (default: 500)",
		       "time per operation (default: as long as the samples take, at most 2s)"),
	{0},
};
static const struct opt_command syscall_face = {
	.name = "sctrace bench syscall",
	.usage = (const char *const[]){"[OPTIONS] [OPERATION|GROUP...]", NULL},
	.about = "Measures the cost of single operations: system calls, and calls that only look like system calls.",
	.table = syscall_options,
	.epilog = "sctrace bench syscall --list lists operations and groups. sctrace-bench(1) explains the result.",
};

static void syscall_list(struct buf *out)
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

static void syscall_operands(struct buf *out)
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

static int syscall_check(const struct bench_options *o, char **words, size_t n, struct buf *why)
{
	if (o->in_process + o->single + o->per_process <= 1)
		return op_check(words, n, why);
	buf_adds(why, "only one of --in-process, --single and --per-process can be used");
	return -EINVAL;
}

static int syscall_make_plan(struct op_plan *p, const struct bench_session *s, const struct op_control *c,
			     struct buf *why)
{
	const struct bench_options *o = s->o;
	*p = (struct op_plan){
		.mode = o->single        ? OP_SINGLE
			: o->per_process ? OP_PER_PROCESS
					 : OP_IN_PROCESS,
		.samples = (size_t)o->runs,
		.sample_ns = 5 * op_least_sample_ns(c) / 2,
		.limit_ns = SYSCALL_LIMIT_NS,
		.seed = seed_of(o),
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
	auto_buf why = {0};
	progress_say(&s->progress, "counting system calls");
	if (op_count_kernel(results, n, s->self, s->dir, &why) < 0 && why.len)
		run_note(&s->run, "system calls were not counted: %s", buf_str(&why));
}

static int measure(struct bench_session *s, struct op_result *results, size_t n, struct buf *why)
{
	struct op_control control;
	struct op_plan plan;
	op_control_measure(&control);
	int err = syscall_make_plan(&plan, s, &control, why);
	if (!err)
		err = op_measure(&plan, &control, results, n);
	if (err)
		return err;
	if (!s->o->no_count)
		count_calls(s, results, n);
	results_syscall(&s->run, &s->o->cpus, &plan, &control, results, n);
	return 0;
}

static int syscall_run(struct bench_session *s, char **words, size_t nwords, struct buf *why)
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

/* bench switch: the cost of switching between two tasks */
#define SWITCH_SAMPLE_NS 50000
#define SWITCH_PERCENT   60 /* per cent of the time for samples; the rest is for preparing the measurement */

static const struct opt switch_options[] = {
	{.help = "How:"},
	{'c', "cpus", "LIST", opt_cpus,
	 "the CPU on which two tasks take turns, and a second one for wake-ups between CPUs (default: the first two)"},
	{'s', "size", "SIZE", opt_size, "memory that each task changes at each turn (default: 0)", BENCH_AT(size)},
	POLICY_OPTIONS("batch (default: no task preempts the one that woke it), other, fifo or rr"),
	{'l', "list", NULL, opt_flag, "list the kinds", BENCH_AT(list)},
	SHARED_OPTIONS("samples per kind (default: 100)", "time per kind (default: 0.5s)"),
	{0},
};
static const struct opt_command switch_face = {
	.name = "sctrace bench switch",
	.usage = (const char *const[]){"[OPTIONS] [KIND...]", NULL},
	.about =
		"Measures the cost of switching from one task to another on one CPU, and counts the switches as proof.",
	.table = switch_options,
	.epilog = "sctrace bench switch --list lists the kinds. sctrace-bench(1) explains the result.",
};

static void switch_list(struct buf *out)
{
	for (size_t i = 0; switch_kind_at(i); i++)
		buf_addf(out, "%-13s %s\n", switch_kind_at(i)->name, switch_kind_at(i)->about);
}

static void switch_operands(struct buf *out)
{
	for (size_t i = 0; switch_kind_at(i); i++)
		buf_addf(out, "%s ", switch_kind_at(i)->name);
}

static int switch_check_all(const struct bench_options *o, char **words, size_t n, struct buf *why)
{
	if (o->size <= UINT64_C(1) << 30)
		return switch_check(words, n, o->size, why);
	buf_adds(why, "--size is too large; the maximum is 1G");
	return -EINVAL;
}

static int switch_make_plan(struct switch_plan *p, struct bench_session *s, struct buf *why)
{
	const struct bench_options *o = s->o;
	*p = (struct switch_plan){
		.samples = (size_t)o->runs,
		.limit_ns = o->time_ns * 3 / 2, /* other programs may make a sample longer than was planned */
		.size = o->size,
		.cpu = {o->cpus.v[0], o->cpus.n > 1 ? o->cpus.v[1] : o->cpus.v[0]},
		.progress = s->progress,
	};
	int err = place_choose_policy(&p->policy, o->policy, SCHED_BATCH, o->prio, &s->run, why);
	if (err)
		return err;
	p->sample_ns = o->time_ns / p->samples * SWITCH_PERCENT / 100;
	if (p->sample_ns < SWITCH_SAMPLE_NS) {
		buf_addf(why, "the time is too short for %zu samples; use --time=%zums or longer, or fewer --runs",
			 p->samples, p->samples * SWITCH_SAMPLE_NS / (10000 * SWITCH_PERCENT) + 1);
		return -ERANGE;
	}
	return 0;
}

static int switch_run(struct bench_session *s, char **words, size_t nwords, struct buf *why)
{
	struct switch_plan plan;
	struct switch_result *results;
	struct cpu_list *cpus = &s->o->cpus;
	bool given = cpus->n;
	int err = given ? 0 : cpu_list_allowed(cpus);
	if (!err)
		err = switch_make_plan(&plan, s, why);
	if (err)
		return err;
	size_t n = switch_choose(&results, words, nwords, cpus->n > 1, plan.size);
	err = switch_measure_all(&plan, results, n);
	if (!err)
		results_switch(&s->run, &plan, results, n);
	if (cpus->n < 2 && !given)
		run_note(&s->run, "only one CPU can be used, so wake-ups between CPUs were not measured");
	for (size_t i = 0; i < n; i++)
		switch_result_free(&results[i]);
	free(results);
	return err;
}

/* bench sched: how processes share the CPUs */
#define SCHED_LEAST_NS (5 * 1000 * 1000ull)

/* Parses "1,2,4" into the struct number_list at the option's offset. Each number must be from o->min to o->max. */
static int opt_numbers(const struct opt_use *u)
{
	const struct opt *o = u->row;
	struct number_list *list = (struct number_list *)((char *)u->settings + o->offset);
	list->n = 0;
	for (const char *p = u->value; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		char word[16];
		int64_t value;
		size_t len = strcspn(p, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(len < 15 ? len : 15), p);
		if (number_parse(word, o->min, o->max, &value) < 0 || list->n == SCHED_PROCS)
			return opt_refuse(u, "'%s' is not a list of numbers from %ld to %ld; write for example 1,2,4",
					  u->value, o->min, o->max);
		list->v[list->n++] = (int)value;
	}
	return 0;
}

static const struct opt sched_options[] = {
	{.help = "How:"},
	{'n', "procs", "LIST", opt_numbers, "numbers of competing processes (default: 1,2,4)", BENCH_AT(procs),
	 .min = 1, .max = SCHED_PROCS},
	{'c', "cpus", "LIST", opt_cpus, "CPUs that the processes share (default: the first one)"},
	{0, "nice", "LIST", opt_numbers, "nice values, assigned to the processes in turn (default: 0)", BENCH_AT(nice),
	 .min = -20, .max = 19},
	POLICY_OPTIONS("other (default), batch, fifo or rr"),
	SHARED_OPTIONS("number of repetitions (default: 3)", "time that one process takes alone (default: 0.3s)"),
	{0},
};
static const struct opt_command sched_face = {
	.name = "sctrace bench sched",
	.usage = (const char *const[]){"[OPTIONS]", NULL},
	.about = "Measures how CPU-bound processes share the CPUs: throughput, latency, slices and shares.",
	.table = sched_options,
	.epilog = "sctrace-bench(1) explains the result.",
};

/* Checks that each value of --nice has an effect. */
static int sched_check(const struct bench_options *o, char **words, size_t n, struct buf *why)
{
	int most = 0;
	(void)words;
	(void)n;
	for (size_t i = 0; i < o->procs.n; i++)
		most = o->procs.v[i] > most ? o->procs.v[i] : most;
	if (o->nice.n > (size_t)most)
		buf_addf(why, "--nice has %zu values, but there are at most %d processes (--procs)", o->nice.n, most);
	else if (o->nice.n && o->policy && (strcmp(o->policy, "fifo") == 0 || strcmp(o->policy, "rr") == 0))
		buf_addf(why, "--nice has no effect with the real-time policy '%s'; use only one of them", o->policy);
	return why->len ? -EINVAL : 0;
}

static int sched_make_plan(struct sched_plan *p, struct bench_session *s, struct buf *why)
{
	struct bench_options *o = s->o;
	if (o->time_ns < SCHED_LEAST_NS) {
		buf_adds(why, "--time is too short to see slices; it must be at least 5ms");
		return -ERANGE;
	}
	*p = (struct sched_plan){
		.cpus = o->cpus.v,
		.ncpus = o->cpus.n,
		.nice = o->nice.v,
		.nnice = o->nice.n,
		.progress = s->progress,
	};
	int err = place_choose_policy(&p->policy, o->policy, SCHED_OTHER, o->prio, &s->run, why);
	if (err)
		return err;
	place_permit_nice(&p->policy, o->nice.v, o->nice.n, &s->run);
	progress_say(&s->progress, "calibrating the work");
	err = sched_calibrate(&p->work, o->time_ns, p->cpus, p->ncpus);
	if (err)
		buf_addf(why, "cannot calibrate the work: %s", strerror(-err));
	return err ? -ECANCELED : 0;
}

static int sched_run(struct bench_session *s, char **words, size_t nwords, struct buf *why)
{
	(void)words;
	(void)nwords;
	struct bench_options *o = s->o;
	struct sched_plan plan;
	struct sched_size sizes[SCHED_PROCS];
	if (!o->cpus.n) {
		cpu_list_allowed(&o->cpus);
		o->cpus.n = 1;
	}
	int err = sched_make_plan(&plan, s, why);
	if (err)
		return err;
	err = sched_measure_all(&plan, o->procs.v, sizes, o->procs.n, (size_t)o->runs);
	if (!err)
		results_sched(&s->run, &o->cpus, &plan, sizes, o->procs.n);
	sched_sizes_free(sizes, o->procs.n);
	return err;
}

/* bench latency: how late a timer wakes a task */
#define LATENCY_LOADS "none,net,suite+net,suite,suite+disk"
#define LATENCY_PRIO  80

static const struct opt latency_options[] = {
	{.help = "How:"},
	LOADS_OPTIONS(LATENCY_LOADS),
	{'i', "interval", "TIME", opt_duration, "time from one wake-up to the next (default: 1ms)",
	 BENCH_AT(interval_ns)},
	{'c', "cpus", "LIST", opt_cpus, "run the woken task on these CPUs (default: any)"},
	POLICY_OPTIONS("fifo (the default, if permitted), rr, other or batch"),
	SHARED_OPTIONS("measure all loads N times, and add up the histograms (default: 1)",
		       "time for each load (default: 5s)"),
	{0},
};
static const struct opt_command latency_face = {
	.name = "sctrace bench latency",
	.usage = (const char *const[]){"[OPTIONS]", NULL},
	.about = "Measures how late the kernel's timer wakes a task, under loads.",
	.table = latency_options,
	.epilog = "sctrace-bench(1) explains the result.",
};

static int latency_make_plan(struct latency_plan *p, struct bench_session *s, struct buf *why)
{
	const struct bench_options *o = s->o;
	*p = (struct latency_plan){
		.interval_ns = o->interval_ns,
		.time_ns = o->time_ns,
		.cpus = o->cpus.v,
		.ncpus = o->cpus.n,
		.progress = s->progress,
	};
	if (p->interval_ns < 10000) {
		buf_adds(why, "--interval is too short for a timer; it must be at least 10us");
		return -ERANGE;
	}
	if (p->time_ns < 10 * p->interval_ns) {
		buf_adds(why, "--time is too short for ten wake-ups at this interval; use a longer --time or a shorter "
			      "--interval");
		return -ERANGE;
	}
	bool real_time = !o->policy || strcmp(o->policy, "fifo") == 0 || strcmp(o->policy, "rr") == 0;
	int prio = o->prio || !real_time ? o->prio : LATENCY_PRIO;
	return place_choose_policy(&p->policy, o->policy ? o->policy : "fifo", SCHED_OTHER, prio, &s->run, why);
}

static int latency_run(struct bench_session *s, char **words, size_t nwords, struct buf *why)
{
	(void)words;
	(void)nwords;
	struct bench_options *o = s->o;
	struct latency_plan plan;
	struct latency_row rows[LOADS_MAX] = {0};
	size_t n = o->loads.n;
	int err = latency_make_plan(&plan, s, why);
	if (err)
		return err;
	results_note_loads(&s->run, s->dir, o->loads.v, n);
	for (size_t i = 0; i < n; i++)
		rows[i].load = &o->loads.v[i];
	err = latency_measure_all(&plan, rows, n, o->runs, s->dir, &s->run);
	if (!err)
		results_latency(&s->run, &o->cpus, &plan, rows, n);
	for (size_t i = 0; i < n; i++)
		latency_free(&rows[i].r);
	return err;
}

/* bench load: a suite or a command under loads */
#define LOAD_LOADS "none,cpu,net,suite,disk"

static const struct opt load_options[] = {
	{.help = "How:"},
	LOADS_OPTIONS(LOAD_LOADS),
	{'c', "cpus", "LIST", opt_cpus, "run the suite or the command on these CPUs (default: any)"},
	{0, "ignore-failure", NULL, opt_flag, "continue if the command fails", BENCH_AT(ignore_failure)},
	{0, "show-output", NULL, opt_flag, "let the command write to this terminal", BENCH_AT(show_output)},
	{SEED("loads")},
	SHARED_OPTIONS("number of runs under each load; from 5 on, a 95 % interval is shown (default: 3)",
		       "repeat the suite until it takes about this long without a load (default: once)"),
	{0},
};
static const struct opt_command load_face = {
	.name = "sctrace bench load",
	.usage = (const char *const[]){"[OPTIONS] [--] [COMMAND [ARG...]]", NULL},
	.about = "Measures how much slower a fixed suite of system calls, or a command, runs under loads.",
	.table = load_options,
	.epilog = "sctrace-bench(1) explains the result.",
	.stop_at_operand = true,
};

static int load_check(const struct bench_options *o, char **words, size_t n, struct buf *why)
{
	(void)words;
	if (n && o->time_ns)
		buf_adds(why, "--time cannot be used with a command; it sets the length of the suite");
	else if (n && o->show_output && display_is_data(&o->show))
		buf_adds(why, DISPLAY_MIXED);
	return why->len ? -EINVAL : 0;
}

static int load_run(struct bench_session *s, char **words, size_t nwords, struct buf *why)
{
	struct bench_options *o = s->o;
	struct slowdown_row rows[LOADS_MAX] = {0};
	auto_buf without = {0};
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
		.seed = seed_of(o),
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
	return err;
}

const struct bench_test bench_tests[BENCH_TESTS] = {
	{.name = "syscall",
	 .face = &syscall_face,
	 .defaults.runs = 500,
	 .list = syscall_list,
	 .takes_operands = true,
	 .operands = syscall_operands,
	 .check = syscall_check,
	 .run = syscall_run,
	 .shortened = {"--runs=200", "loop", "getpid", "monotonic", "monotonic-raw", "read-zero", "read-file",
		       "fgets-1", "write-null", "stat", "open-close", "pipe", "mmap", "page-fault", "signal", "thread",
		       "fork", "spawn"}},
	{.name = "switch",
	 .face = &switch_face,
	 .defaults = {.runs = 100, .time_ns = NSEC_PER_SEC / 2},
	 .list = switch_list,
	 .takes_operands = true,
	 .operands = switch_operands,
	 .check = switch_check_all,
	 .run = switch_run,
	 .shortened = {"--runs=50", "--time=200ms", "pipe", "futex-thread", "yield", "ucontext", "bare"}},
	{.name = "sched",
	 .face = &sched_face,
	 .defaults = {.runs = 3, .time_ns = NSEC_PER_SEC * 3 / 10, .procs = {{1, 2, 4}, 3}},
	 .check = sched_check,
	 .run = sched_run,
	 .shortened = {"--runs=1", "--time=200ms"}},
	{.name = "latency",
	 .face = &latency_face,
	 .defaults = {.runs = 1, .time_ns = 5 * NSEC_PER_SEC, .interval_ns = 1000000},
	 .loads = LATENCY_LOADS,
	 .list = load_describe,
	 .run = latency_run,
	 .shortened = {"--time=2s", "--loads=none,cpu,disk"}},
	{.name = "load",
	 .face = &load_face,
	 .defaults.runs = 3,
	 .loads = LOAD_LOADS,
	 .list = load_describe,
	 .takes_operands = true,
	 .check = load_check,
	 .run = load_run,
	 .shortened = {"--runs=2", "--loads=none,net,disk"}},
};
