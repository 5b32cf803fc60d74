#include "cmd/bench/bench.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/size.h"
#include "bench/results/results.h"
#include "bench/stop.h"
#include "bench/suite.h"
#include "cmd/bench/loads.h"
#include "measure/sample.h"
#include "stats/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_RUNS  3
#define DEFAULT_LOADS "none,cpu,net,suite,disk"

struct settings {
	struct bench_shared shared; /* must be first */
	struct load_list loads;
	bool list, show_output, ignore_failure;
	int seed;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
	{.help = "How:"},
	BENCH_LOADS_OPTIONS(struct settings, DEFAULT_LOADS),
	BENCH_CPUS_OPTION("run the suite or the command on these CPUs (default: any)"),
	{0, "ignore-failure", NULL, opt_flag, "continue if the command fails", AT(ignore_failure)},
	{0, "show-output", NULL, opt_flag, "let the command write to this terminal", AT(show_output)},
	BENCH_SEED_OPTION(struct settings, "loads"),
	BENCH_SHARED_OPTIONS("number of runs under each load (default: 3)",
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

struct timing {
	struct bench_session *s;
	const struct settings *o;
	struct sample_spec spec;
	struct kid_guard guard;
	struct load_row rows[LOADS_MAX];
	size_t n;
	double done, all;
	const char *what; /* how messages name the command that is timed */
};

static void keep(struct load_row *row, const struct sample *m)
{
	vec_push(&row->wall, (double)m->wall_ns * 1e-9);
	vec_push(&row->user, (double)m->user_ns * 1e-9);
	vec_push(&row->system, (double)m->system_ns * 1e-9);
}

/* Returns 0, or -ECANCELED after a message if the command failed and --ignore-failure was not given. */
static int check_status(struct timing *t, int status)
{
	if (status == 0 || t->o->ignore_failure)
		return 0;
	if (WIFSIGNALED(status))
		diag_error("%s was killed by signal %d (%s), so its time is not valid", t->what, WTERMSIG(status),
			   strsignal(WTERMSIG(status)));
	else
		diag_error("%s exited with status %d, so its time is not valid; use --ignore-failure to accept it",
			   t->what, WEXITSTATUS(status));
	return -ECANCELED;
}

/* Runs the command once under one load. Returns 0, or -errno, which ends the test. */
static int time_once(struct timing *t, struct load_row *row)
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
		bench_note(t->s, "the load '%s' did not run as intended: %s", row->load->name, buf_str(&why));
	buf_free(&why);
	if (!err)
		err = check_status(t, m.status);
	if (!err)
		keep(row, &m);
	return err;
}

/*
 * Times the command `runs` times under each load, in rounds: each round has all loads in a new random order. Returns 0
 * or -errno.
 */
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

/*
 * Finds out how often the suite must run to take about the requested time, and sets *times. These first runs also warm
 * up the caches.
 */
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
	diag_error("--time is too short for the suite, which takes %s to run once", buf_str(&once));
	buf_free(&once);
	return -ERANGE;
}

/*
 * Appends to `without` the operations that cannot run on this machine, and adds a note about them. The suite leaves
 * them out. A failure of the suite therefore has another reason, and makes the measured time invalid.
 */
static void note_missing(struct bench_session *s, struct buf *without)
{
	struct buf why = {0};
	suite_find_missing(s->dir, without, &why);
	if (why.len)
		bench_note(s,
			   "operations that cannot run on this machine are omitted from the suite, so it takes less "
			   "time: %s",
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

/*
 * Prepares to time the command `argv`. If `suite` is set, the command is the suite of sctrace itself, whose standard
 * error is not redirected, so that the user sees why the suite failed.
 */
static struct timing *new_timing(struct bench_session *s, struct settings *o, char *const *argv, bool suite)
{
	struct timing *t = memory_zeroed(1, sizeof(*t));
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

/*
 * Returns the exit status for an error whose message has already been printed. For any other error, sets s->err, unless
 * the error is -EINTR, and returns BENCH_DONE.
 */
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
	results_note_loads(&s->run, s->dir, o->loads.v, o->loads.n);
	bench_progress(s, 0, 0, "once to warm up");
	int err = repetitions(t, &times);
	if (!command)
		snprintf(count, sizeof(count), "%llu", (unsigned long long)times);
	if (!err)
		err = time_all(t, o->shared.runs ? o->shared.runs : DEFAULT_RUNS, seed);
	if (!err || err == -EINTR)
		results_load(&s->run, &o->shared.cpus,
			     &(struct load_method){command ? command[0] : NULL, times, seed, buf_str(&without)},
			     t->rows, t->n);
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
		diag_error("--time cannot be used with a command; it sets the length of the suite");
		*status = EXIT_USAGE;
		return false;
	}
	return bench_loads_ready(o->list, face.name, 0, NULL, status);
}

const struct bench_test bench_load_test = {"load", &face, sizeof(struct settings), defaults, ready, run};
