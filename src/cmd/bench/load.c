#include "cmd/bench/bench.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/size.h"
#include "bench/describe.h"
#include "bench/stop.h"
#include "bench/suite.h"
#include "cmd/bench/loads.h"
#include "measure/sample.h"
#include "out/chart.h"
#include "run/run.h"
#include "stats/boot.h"
#include "stats/random.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_RUNS  3
#define DEFAULT_LOADS "none,cpu,net,suite,disk"

struct settings {
	struct bench_shared shared; /* first */
	struct load_list loads;
	bool list, show_output, ignore_failure;
	int seed;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
	{.help = "How:"},
	BENCH_LOADS_OPTIONS(struct settings, DEFAULT_LOADS),
	BENCH_CPUS_OPTION("where what is timed runs (default: anywhere)"),
	{.name = "ignore-failure",
	 .parse = opt_flag,
	 .offset = AT(ignore_failure),
	 .help = "go on where the command fails"},
	{.name = "show-output",
	 .parse = opt_flag,
	 .offset = AT(show_output),
	 .help = "let the command write to this terminal"},
	BENCH_SEED_OPTION(struct settings, "loads"),
	BENCH_SHARED_OPTIONS("runs under each load (default 3)",
			     "repeat the suite until it takes about so long alone (default: once)"),
	{0},
};
static const char *const usage[] = {"[OPTIONS] [--] [COMMAND [ARG...]]", NULL};
static const struct opt_command face = {
	.name = "sctrace bench load",
	.usage = usage,
	.about = "How much slower a fixed suite of system calls, or a command, runs under loads.",
	.table = options,
	.epilog = "How to read it: sctrace-bench(1).",
	.stop_at_operand = true,
};

/* One load's row. */
struct row {
	struct load *load;
	VEC(double) wall, user, system; /* seconds, a run each */
};

struct timing {
	struct bench_session *s;
	const struct settings *o;
	struct sample_spec spec;
	struct kid_guard guard;
	struct row rows[LOADS_MAX];
	size_t n;
	double done, all;
	const char *what; /* that is timed, in messages */
};

enum { C_LOAD, C_MEAN, C_SD, C_MIN, C_MAX, C_OVER, C_LOW, C_HIGH, C_USER, C_SYS, C_RUNS, C_WORK };
static const struct column columns[] = {
	[C_LOAD] = {"load", "load", 0},
	[C_MEAN] = {"wall_mean_s", "mean", COL_RIGHT},
	[C_SD] = {"wall_stddev_s", "StdDev", COL_RIGHT},
	[C_MIN] = {"wall_min_s", "min", COL_RIGHT},
	[C_MAX] = {"wall_max_s", "max", COL_RIGHT},
	[C_OVER] = {"over_none_percent", "over none", COL_RIGHT},
	[C_LOW] = {"over_none_low_percent", "from", COL_DATA_ONLY},
	[C_HIGH] = {"over_none_high_percent", "to", COL_DATA_ONLY},
	[C_USER] = {"user_mean_s", "user", COL_RIGHT | COL_OPTIONAL},
	[C_SYS] = {"system_mean_s", "system", COL_RIGHT | COL_OPTIONAL},
	[C_RUNS] = {"runs", "runs", COL_RIGHT},
	[C_WORK] = {"load_work", "what the load did", COL_DATA_ONLY},
};

static struct sample_summary summary_of(const double *v, size_t n)
{
	struct sample_summary d = {0};
	sample_summarise(v, n, &d);
	return d;
}

/* What was measured without a load, or NULL. */
static const struct row *find_none(const struct timing *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (!t->rows[i].load->parts && t->rows[i].wall.n)
			return &t->rows[i];
	return NULL;
}

/* A row against none, in percent; NAN where there is nothing to compare. */
struct over {
	double mean;
	struct interval of; /* 95 % bootstrap interval of the medians' ratio */
	bool unseen;        /* which spans 1 */
};

static struct over compare_with(const struct row *row, const struct row *none, uint64_t seed)
{
	struct over o = {NAN, {NAN, NAN}, false};
	struct interval ratio;
	if (!none || row == none)
		return o;
	o.mean = 100 * (summary_of(row->wall.v, row->wall.n).mean / summary_of(none->wall.v, none->wall.n).mean - 1);
	if (boot_ratio(row->wall.v, row->wall.n, none->wall.v, none->wall.n, seed, &ratio) == 0) {
		o.of = (struct interval){100 * (ratio.low - 1), 100 * (ratio.high - 1)};
		o.unseen = boot_spans_one(&ratio);
	}
	return o;
}

static void add_row(struct table *t, const struct row *row, const struct over *over)
{
	struct sample_summary d = summary_of(row->wall.v, row->wall.n);
	struct buf work = {0};
	char text[32];
	load_work(row->load, &work);
	table_row(t);
	table_string(t, C_LOAD, row->load->name);
	bench_set_time(t, C_MEAN, d.mean);
	bench_set_time(t, C_SD, d.stddev);
	bench_set_time(t, C_MIN, d.min);
	bench_set_time(t, C_MAX, d.max);
	snprintf(text, sizeof(text), "%+.1f %%", over->mean);
	if (isfinite(over->mean))
		table_real(t, C_OVER, over->mean, text);
	table_real(t, C_LOW, over->of.low, NULL);
	table_real(t, C_HIGH, over->of.high, NULL);
	bench_set_time(t, C_USER, summary_of(row->user.v, row->user.n).mean);
	bench_set_time(t, C_SYS, summary_of(row->system.v, row->system.n).mean);
	table_integer(t, C_RUNS, (long long)row->wall.n, NULL);
	table_string(t, C_WORK, buf_str(&work));
	buf_free(&work);
}

static json_t *row_json(struct row *row, const struct over *over)
{
	const double interval[] = {over->of.low, over->of.high};
	json_t *work = json_object();
	json_t *o = bench_describe_json(row->load->name, row->wall.v, row->wall.n, "s");
	for (size_t i = 0; i < row->load->parts; i++) {
		char key[64];
		snprintf(key, sizeof(key), "%s_%s", row->load->kind[i]->name, row->load->kind[i]->unit);
		json_object_set_new(work, key, json_integer((json_int_t)row->load->work[i]));
	}
	if (!o) {
		json_decref(work);
		return NULL;
	}
	json_object_set_new(o, "load_work", work);
	json_object_set_new(o, "over_none_percent", isfinite(over->mean) ? json_real(over->mean) : json_null());
	json_object_set_new(o, "over_none_interval_percent", run_reals(interval, 2));
	json_object_set_new(o, "samples_user_s", run_reals(row->user.v, row->user.n));
	json_object_set_new(o, "samples_system_s", run_reals(row->system.v, row->system.n));
	return o;
}

static void draw(struct timing *t)
{
	const char *labels[LOADS_MAX];
	double value[LOADS_MAX];
	double low[LOADS_MAX];
	double high[LOADS_MAX];
	size_t n = 0;
	struct buf out = {0};
	for (size_t i = 0; i < t->n; i++) {
		const struct row *r = &t->rows[i];
		if (!r->wall.n)
			continue;
		struct sample_summary d = summary_of(r->wall.v, r->wall.n);
		labels[n] = r->load->name;
		value[n] = d.mean;
		low[n] = d.min;
		high[n++] = d.max;
	}
	const struct chart_frame frame = {.title = "Elapsed time under loads",
					  .note = "bars: mean; whiskers: least and most"};
	const struct chart_bar_panel panel = {"wall", {NULL, UNIT_SECONDS, SCALE_LINEAR}, value, low, high};
	if (chart_bars(&frame, labels, n, &panel, 1, &out) == 0)
		t->s->svg = buf_take(&out);
	buf_free(&out);
}

static void report(struct timing *t, uint64_t seed)
{
	const struct row *none = find_none(t);
	struct buf unseen = {0};
	const struct load *loads[LOADS_MAX];
	size_t n = 0;
	struct table *table = table_new(columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; table && i < t->n; i++) {
		struct row *r = &t->rows[i];
		if (!r->wall.n)
			continue;
		struct over over = compare_with(r, none, seed);
		add_row(table, r, &over);
		loads[n++] = r->load;
		json_array_append_new(run_results(t->s->run), row_json(r, &over));
		if (over.unseen)
			buf_addf(&unseen, "%s%s", unseen.len ? ", " : "", r->load->name);
	}
	if (unseen.len)
		bench_note(t->s,
			   "no difference from none was seen (the 95 %% interval of the medians' ratio spans 1): %s",
			   buf_str(&unseen));
	buf_free(&unseen);
	bench_add_table(t->s, NULL, table);
	table = bench_work_table(loads, n);
	bench_add_table(t->s, "what the loads did meanwhile:", table);
	draw(t);
}

static int keep(struct row *row, const struct sample *m)
{
	bool kept = vec_push(&row->wall, (double)m->wall_ns * 1e-9) &&
		    vec_push(&row->user, (double)m->user_ns * 1e-9) &&
		    vec_push(&row->system, (double)m->system_ns * 1e-9);
	return kept ? 0 : -ENOMEM;
}

/* 0, or -ECANCELED after a note: the command failed. */
static int check_status(struct timing *t, int status)
{
	if (status == 0 || t->o->ignore_failure)
		return 0;
	if (WIFSIGNALED(status))
		diag_error("%s was killed by signal %d (%s); its time is worth nothing", t->what, WTERMSIG(status),
			   strsignal(WTERMSIG(status)));
	else
		diag_error("%s ended with status %d; its time is worth nothing (or give --ignore-failure)", t->what,
			   WEXITSTATUS(status));
	return -ECANCELED;
}

/* One run under one load; 0, or -errno that ends all. */
static int time_once(struct timing *t, struct row *row)
{
	struct buf why = {0};
	struct sample m;
	int err = load_start(row->load, t->s->dir, &t->guard, &why);
	if (err) {
		if (why.len)
			bench_note(t->s, "%s was not measured: %s", row->load->name, buf_str(&why));
		buf_free(&why);
		return err == -EINTR ? err : 0;
	}
	err = sample_take(&t->spec, &m, &why);
	if (err && err != -EINTR)
		diag_error("%s", buf_str(&why));
	buf_clear(&why);
	if (load_stop(row->load, &t->guard, &why) < 0 && !err)
		bench_note(t->s, "%s is not what it says: %s", row->load->name, buf_str(&why));
	buf_free(&why);
	if (!err)
		err = check_status(t, m.status);
	return err ? err : keep(row, &m);
}

/* Rounds in random order; 0 or -errno. */
static int time_all(struct timing *t, int runs, uint64_t seed)
{
	struct rng rng;
	size_t order[LOADS_MAX];
	int err = kid_guard_open(&t->guard);
	rng_seed(&rng, seed);
	t->all = (double)t->n * runs;
	for (int run = 0; run < runs && !err; run++) {
		rng_shuffle(&rng, order, t->n);
		for (size_t i = 0; i < t->n && !err && !stop_signal(); i++, t->done++) {
			bench_progress(t->s, t->done, t->all, t->rows[order[i]].load->name);
			err = time_once(t, &t->rows[order[i]]);
		}
	}
	kid_guard_close(&t->guard);
	return err;
}

/* How often the suite must run to take about the time asked for; warms up too. */
static int repetitions(struct timing *t, uint64_t *times)
{
	struct sample m;
	struct buf why = {0};
	int err = sample_take(&t->spec, &m, &why);
	if (err && err != -EINTR)
		diag_error("%s", buf_str(&why));
	buf_free(&why);
	if (err)
		return err;
	err = check_status(t, m.status);
	*times = 1;
	if (err || !t->o->shared.time_given)
		return err;
	*times = (t->o->shared.time_ns + m.wall_ns / 2) / (m.wall_ns + 1);
	if (*times >= 1)
		return 0;
	struct buf once = {0};
	duration_human(&once, (double)m.wall_ns);
	diag_error("--time is too short for the suite, which takes %s once", buf_str(&once));
	buf_free(&once);
	return -ERANGE;
}

static void describe_method(struct timing *t, uint64_t times, uint64_t seed, char **command, const char *without)
{
	struct bench_session *s = t->s;
	if (command)
		buf_addf(&s->head, "load: elapsed time of %s, on ", command[0]);
	else
		buf_addf(&s->head, "load: elapsed time of a fixed suite of system calls, %llu time%s, on ",
			 (unsigned long long)times, times == 1 ? "" : "s");
	bench_say_cpus(s, &s->head);
	buf_adds(&s->head, ", under loads\n");
	json_object_set_new(s->run, "method",
			    json_pack("{s:o, s:o, s:I, s:s, s:I}", "cpus", bench_cpus_json(s), "command",
				      command ? run_string(command[0]) : json_null(), "suite_times", (json_int_t)times,
				      "suite_without", without, "seed", (json_int_t)seed));
}

/* The suite's own choice: whatever fails beside is a failure of it, and its time worth nothing. */
static void note_missing(struct bench_session *s, struct buf *without)
{
	struct buf why = {0};
	suite_find_missing(s->dir, without, &why);
	if (why.len)
		bench_note(s, "the suite is without what cannot run here, and takes less time by that: %s",
			   buf_str(&why));
	buf_free(&why);
}

static void free_timing(struct timing *t)
{
	for (size_t i = 0; i < t->n; i++) {
		vec_free(&t->rows[i].wall);
		vec_free(&t->rows[i].user);
		vec_free(&t->rows[i].system);
	}
	if (t->spec.stdin_fd >= 0)
		close(t->spec.stdin_fd);
	free(t);
}

/* What the suite says of itself, when it ends with a failure, is ours to say. */
static struct timing *new_timing(struct bench_session *s, struct settings *o, char *const *argv, bool suite)
{
	struct timing *t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	t->s = s;
	t->o = o;
	t->n = o->loads.n;
	t->what = suite ? "the suite" : "the command";
	t->spec = (struct sample_spec){.argv = argv,
				       .stdin_fd = null,
				       .stdout_fd = o->show_output ? -1 : null,
				       .stderr_fd = o->show_output || suite ? -1 : null,
				       .cpus = o->shared.cpus.v,
				       .ncpus = o->shared.cpus.n,
				       .stop = stop_flag()};
	for (size_t i = 0; i < t->n; i++)
		t->rows[i].load = &o->loads.v[i];
	return t;
}

/* What a failure ends with; messages were given where there are any to give. */
static int end_with(struct bench_session *s, int err)
{
	static const struct {
		int err, status;
	} ends[] = {
		{-ECANCELED, EXIT_OWN}, {-ENOENT, EXIT_NOT_FOUND}, {-EACCES, EXIT_CANNOT_RUN}, {-ERANGE, EXIT_USAGE}};
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (err == ends[i].err)
			return ends[i].status;
	s->err = err == -EINTR ? 0 : err;
	return BENCH_DONE;
}

static int run(struct bench_session *s, void *settings, int nwords, char **words)
{
	struct settings *o = settings;
	char **command = nwords ? words : NULL;
	uint64_t seed = o->seed ? (uint64_t)o->seed : clock_ns() & 0x7fffffff;
	uint64_t times = 1;
	char count[32] = "1";
	struct buf without = {0};
	if (!command)
		note_missing(s, &without);
	char *suite[] = {s->self, "bench", SUITE_WORD, (char *)s->dir, count, (char *)buf_str(&without), NULL};
	struct timing *t = new_timing(s, o, command ? command : suite, !command);
	if (!t) {
		buf_free(&without);
		return end_with(s, -ENOMEM);
	}
	bench_note_loads(s, &o->loads);
	bench_progress(s, 0, 0, "once to warm up");
	int err = repetitions(t, &times);
	if (!command)
		snprintf(count, sizeof(count), "%llu", (unsigned long long)times);
	if (!err)
		err = time_all(t, o->shared.runs ? o->shared.runs : DEFAULT_RUNS, seed);
	describe_method(t, times, seed, command, buf_str(&without));
	if (!err || err == -EINTR)
		report(t, seed);
	free_timing(t);
	buf_free(&without);
	return end_with(s, err);
}

static void defaults(void *settings)
{
	bench_default_loads(&((struct settings *)settings)->loads, DEFAULT_LOADS);
}

static bool ready(void *settings, int nwords, char **words, int *status)
{
	const struct settings *o = settings;
	(void)words;
	if (nwords && o->shared.time_given) {
		diag_error("--time is for the suite; a command takes as long as it takes");
		*status = EXIT_USAGE;
		return false;
	}
	return bench_loads_ready(o->list, face.name, 0, NULL, status);
}

const struct bench_test bench_load_test = {"load", &face, sizeof(struct settings), defaults, ready, run};
