#include "cmd/bench/bench.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/size.h"
#include "bench/op_count.h"
#include "bench/results/results.h"
#include "bench/stop.h"
#include "bench/syscall.h"
#include "cmd/put.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SAMPLES 500
#define DEFAULT_LIMIT   (2 * NSEC_PER_SEC)

struct settings {
	struct bench_shared shared; /* must be first */
	bool in_process, single, per_process, list, no_count;
	int seed;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
	{.help = "How:"},
	{0, "in-process", NULL, opt_flag, "a sample is the mean of a batch that is long enough for the clock (default)",
	 AT(in_process)},
	{0, "single", NULL, opt_flag, "a sample is one call between two reads of the clock", AT(single)},
	{0, "per-process", NULL, opt_flag, "a sample is one call in a new process", AT(per_process)},
	{'l', "list", NULL, opt_flag, "list operations and groups", AT(list)},
	BENCH_CPUS_OPTION("run on these CPUs only"),
	BENCH_SEED_OPTION(struct settings, "operations"),
	{0, "no-count", NULL, opt_flag, "do not trace the operations to count their system calls", AT(no_count)},
	BENCH_SHARED_OPTIONS("number of samples per operation (default: 500)",
			     "time per operation (default: as long as the clock needs)"),
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

static int list(void)
{
	static const struct column c[] = {{"operation", "operation", 0}, {"group", "group", 0}, {"about", "what", 0}};
	struct table *t = table_new(c, 3);
	struct buf out = {0};
	for (size_t i = 0; op_at(i); i++) {
		table_row(t);
		table_string(t, 0, op_at(i)->name);
		table_string(t, 1, op_at(i)->group);
		table_string(t, 2, op_at(i)->about);
	}
	table_render(t, TABLE_TEXT, NULL, &out);
	int status = put_text(NULL, &out);
	table_free(t);
	buf_free(&out);
	return status;
}

static bool chosen(const struct op *op, int n, char **words)
{
	for (int i = 0; i < n; i++)
		if (strcmp(words[i], op->name) == 0 || strcmp(words[i], op->group) == 0)
			return true;
	return n == 0;
}

static bool words_known(int nwords, char **words)
{
	for (int w = 0; w < nwords; w++) {
		bool known = false;
		for (size_t i = 0; op_at(i); i++)
			known |= chosen(op_at(i), 1, &words[w]);
		if (!known) {
			diag_error("there is no operation or group '%s'; sctrace bench syscall --list lists them",
				   words[w]);
			return false;
		}
	}
	return true;
}

/* Fills `results`, which must have room for all operations, with the chosen operations. Returns their number. */
static size_t choose(struct op_result *results, int nwords, char **words)
{
	size_t n = 0;
	for (size_t i = 0; op_at(i); i++)
		if (chosen(op_at(i), nwords, words))
			results[n++].op = op_at(i);
	return n;
}

static void on_progress(void *ctx, size_t done, size_t all, const char *name)
{
	bench_progress(ctx, (double)done, (double)all, name);
}

/* Makes the plan from the options. Returns 0, or EXIT_USAGE after a message. */
static int make_plan(struct op_plan *p, const struct settings *o, const struct op_control *c, struct bench_session *s)
{
	*p = (struct op_plan){
		.mode = o->single        ? OP_SINGLE
			: o->per_process ? OP_PER_PROCESS
					 : OP_IN_PROCESS,
		.samples = o->shared.runs ? (size_t)o->shared.runs : DEFAULT_SAMPLES,
		.sample_ns = 5 * op_least_sample_ns(c) / 2,
		.limit_ns = DEFAULT_LIMIT,
		.seed = o->seed ? (uint64_t)o->seed : clock_ns() & 0x7fffffff,
		.dir = s->dir,
		.self = s->self,
		.progress = on_progress,
		.progress_ctx = s,
	};
	if (!o->shared.time_given)
		return 0;
	p->limit_ns = o->shared.time_ns;
	p->sample_ns = o->shared.time_ns / p->samples;
	if (p->mode == OP_IN_PROCESS && p->sample_ns < op_least_sample_ns(c)) {
		struct buf b = {0};
		duration_human(&b, (double)(op_least_sample_ns(c) * p->samples));
		diag_error("--time is too short for %zu samples with this clock; use %s or longer, or fewer --runs",
			   p->samples, buf_str(&b));
		buf_free(&b);
		return EXIT_USAGE;
	}
	p->sample_ns = p->sample_ns * 3 / 4; /* the rest of the time is for finding the size of a batch */
	return 0;
}

static bool ready(void *settings, int nwords, char **words, int *status)
{
	const struct settings *o = settings;
	if (o->list) {
		*status = list();
		return false;
	}
	*status = EXIT_USAGE;
	if (o->in_process + o->single + o->per_process > 1) {
		diag_error("only one of --in-process, --single and --per-process can be used");
		return false;
	}
	return words_known(nwords, words);
}

static void count_calls(struct bench_session *s, struct op_result *results, size_t n)
{
	struct buf why = {0};
	bench_progress(s, 0, 0, "counting system calls");
	if (op_count_kernel(results, n, s->self, s->dir, &why) < 0 && why.len)
		bench_note(s, "system calls were not counted: %s", buf_str(&why));
	buf_free(&why);
}

static int measure(struct bench_session *s, const struct settings *o, struct op_result *results, size_t n)
{
	struct op_control control;
	struct op_plan plan;
	op_control_measure(&control);
	int status = make_plan(&plan, o, &control, s);
	if (status)
		return status;
	s->err = op_measure(&plan, &control, results, n);
	if (s->err)
		return BENCH_DONE;
	if (!o->no_count)
		count_calls(s, results, n);
	results_syscall(&s->run, &s->o->cpus, &plan, &control, results, n);
	return BENCH_DONE;
}

static int run(struct bench_session *s, void *settings, int nwords, char **words)
{
	struct cpu_list before = {0};
	size_t n = 0;
	while (op_at(n))
		n++;
	struct op_result *results = memory_zeroed(n + 1, sizeof(*results));
	n = choose(results, nwords, words);
	cpu_list_allowed(&before);
	if (s->o->cpus.n)
		place_pin(s->o->cpus.v, s->o->cpus.n);
	int status = measure(s, settings, results, n);
	place_pin(before.v, before.n);
	vec_free(&before);
	for (size_t i = 0; i < n; i++)
		op_result_free(&results[i]);
	free(results);
	return status;
}

const struct bench_test bench_syscall_test = {"syscall", &face, sizeof(struct settings), NULL, ready, run};
