#include "bench/slowdown.h"

#include "base/buf.h"
#include "base/size.h"
#include "bench/loads.h"
#include "bench/stop.h"
#include "measure/sample.h"
#include "stats/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct timing {
	const struct slowdown_plan *plan;
	struct sample_spec spec;
	struct kid_guard guard;
	struct run *run;
	struct buf *why;
};

static void keep(struct slowdown_row *row, const struct sample *m)
{
	vec_push(&row->wall, (double)m->wall_ns * 1e-9);
	vec_push(&row->user, (double)m->user_ns * 1e-9);
	vec_push(&row->system, (double)m->system_ns * 1e-9);
}

/* Returns 0, or -ECANCELED with the reason if the suite or the command has failed and must not fail. */
static int check_status(const struct timing *t, int status)
{
	const char *what = t->plan->command ? "the command" : "the suite";
	if (status == 0 || t->plan->ignore_failure)
		return 0;
	if (WIFSIGNALED(status))
		buf_addf(t->why, "%s was killed by signal %d (%s), so its time is not valid", what, WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		buf_addf(t->why, "%s exited with status %d, so its time is not valid", what, WEXITSTATUS(status));
	if (t->plan->command)
		buf_adds(t->why, "; use --ignore-failure to accept it");
	return -ECANCELED;
}

/* Runs the suite or the command once under one load. Returns 0, or -errno, which ends the test. */
static int time_once(struct timing *t, struct slowdown_row *row)
{
	struct sample m;
	int err = load_begin(row->load, t->plan->dir, &t->guard, t->run);
	if (err)
		return err == -EINTR ? err : 0;
	err = sample_take(&t->spec, &m, t->why);
	load_end(row->load, &t->guard, err ? NULL : t->run);
	if (!err)
		err = check_status(t, m.status);
	if (!err)
		keep(row, &m);
	return err;
}

/* Measures in rounds: each round has all loads in a new random order. Returns 0 or -errno. */
static int time_all(struct timing *t, struct slowdown_row *rows, size_t n)
{
	struct rng rng;
	size_t order[LOADS_MAX];
	struct progress progress = t->plan->progress;
	int err = kid_guard_open(&t->guard);
	rng_seed(&rng, t->plan->seed);
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	progress.all = (double)n * t->plan->runs;
	for (int run = 0; run < t->plan->runs && !err; run++) {
		rng_shuffle(&rng, order, n);
		for (size_t i = 0; i < n && !err && !stop_signal(); i++, progress.done++) {
			progress.what = rows[order[i]].load->name;
			progress_show(&progress);
			err = time_once(t, &rows[order[i]]);
		}
	}
	kid_guard_close(&t->guard);
	return err;
}

/*
 * Finds out how often the suite must run to take about the requested time, and sets *times. This first run also warms
 * up the caches. Returns 0 or -errno.
 */
static int find_times(const struct timing *t, uint64_t *times)
{
	struct sample m;
	progress_say(&t->plan->progress, "once to warm up");
	*times = 1;
	int err = sample_take(&t->spec, &m, t->why);
	if (!err)
		err = check_status(t, m.status);
	if (err || !t->plan->time_ns)
		return err;
	*times = (t->plan->time_ns + m.wall_ns / 2) / (m.wall_ns + 1);
	if (*times >= 1)
		return 0;
	buf_adds(t->why, "--time is too short for the suite, which takes ");
	duration_human(t->why, (double)m.wall_ns);
	buf_adds(t->why, " to run once");
	return -ERANGE;
}

int slowdown_measure(const struct slowdown_plan *plan, struct slowdown_row *rows, size_t n, uint64_t *times,
		     struct run *run, struct buf *why)
{
	char count[32] = "1";
	char *suite[] = {(char *)plan->self,    "bench", SUITE_WORD, (char *)plan->dir, count,
			 (char *)plan->without, NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* The standard error of the suite is not redirected, so that the user sees why the suite has failed. */
	struct timing t = {
		.plan = plan,
		.spec = {.argv = plan->command ? plan->command : suite,
			 .stdin_fd = null,
			 .stdout_fd = plan->show_output ? -1 : null,
			 .stderr_fd = plan->show_output || !plan->command ? -1 : null,
			 .cpus = plan->cpus,
			 .ncpus = plan->ncpus,
			 .stop = stop_flag()},
		.run = run,
		.why = why,
	};
	int err = find_times(&t, times);
	snprintf(count, sizeof(count), "%llu", (unsigned long long)*times);
	if (!err)
		err = time_all(&t, rows, n);
	if (null >= 0)
		close(null);
	return err;
}

void slowdown_rows_free(struct slowdown_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		vec_free(&rows[i].wall);
		vec_free(&rows[i].user);
		vec_free(&rows[i].system);
	}
}
