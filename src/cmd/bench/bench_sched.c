#include "base/clock.h"
#include "base/size.h"
#include "cmd/bench/cmd_bench.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define LEAST_TIME (5 * 1000 * 1000ull)

/* Parses "1,2,4" into the struct number_list at the option's offset. Each number must be from o->min to o->max. */
static int opt_numbers(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	struct number_list *list = (struct number_list *)((char *)ctx + o->offset);
	list->n = 0;
	for (const char *p = arg; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		char word[16];
		int64_t value;
		size_t len = strcspn(p, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(len < 15 ? len : 15), p);
		if (number_parse(word, o->min, o->max, &value) < 0 || list->n == SCHED_PROCS) {
			buf_addf(why, "'%s' is not a list of numbers from %ld to %ld; write for example 1,2,4", arg,
				 o->min, o->max);
			return -EINVAL;
		}
		list->v[list->n++] = (int)value;
	}
	return 0;
}

static const struct opt options[] = {
	{.help = "How:"},
	{'n', "procs", "LIST", opt_numbers, "numbers of competing processes (default: 1,2,4)", BENCH_AT(procs),
	 .min = 1, .max = SCHED_PROCS},
	{'c', "cpus", "LIST", bench_opt_cpus, "CPUs that the processes share (default: the first one)"},
	{0, "nice", "LIST", opt_numbers, "nice values, assigned to the processes in turn (default: 0)", BENCH_AT(nice),
	 .min = -20, .max = 19},
	BENCH_POLICY_OPTIONS("other (default), batch, fifo or rr"),
	BENCH_SHARED_OPTIONS("number of repetitions (default: 3)", "time that one process takes alone (default: 0.3s)"),
	{0},
};
static const char *const usage[] = {"[OPTIONS]", NULL};
static const struct opt_command face = {
	.name = "sctrace bench sched",
	.usage = usage,
	.about = "Measures how CPU-bound processes share the CPUs: throughput, latency, slices and shares.",
	.table = options,
	.epilog = "sctrace-bench(1) explains the result.",
};

/* Checks that each value of --nice has an effect. */
static int check(const struct bench_options *o, char **words, size_t n, struct buf *why)
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

static int make_plan(struct sched_plan *p, struct bench_session *s, struct buf *why)
{
	struct bench_options *o = s->o;
	if (o->time_ns < LEAST_TIME) {
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

static int run(struct bench_session *s, char **words, size_t nwords, struct buf *why)
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
	int err = make_plan(&plan, s, why);
	if (err)
		return err;
	err = sched_measure_all(&plan, o->procs.v, sizes, o->procs.n, (size_t)o->runs);
	if (!err)
		results_sched(&s->run, &o->cpus, &plan, sizes, o->procs.n);
	sched_sizes_free(sizes, o->procs.n);
	return err;
}

const struct bench_test bench_sched_test = {
	.name = "sched",
	.face = &face,
	.defaults = {.runs = 3, .time_ns = NSEC_PER_SEC * 3 / 10, .procs = {{1, 2, 4}, 3}},
	.check = check,
	.run = run};
