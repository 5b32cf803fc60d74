/*
 * Counted and timed runs. Calls are counted in one run; time and memory are measured in others. The two are never
 * mixed.
 */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/words.h"
#include "decode/decode.h"
#include "measure/cache.h"
#include "measure/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * An engine that stops the program at each call needs some microseconds for it. Beyond this number of calls only a part
 * of the input is counted, and a note says so.
 */
#define SLOW_ENGINE_CALLS 2500000

/* The reason why a run gave no result: its message, and how it ended. */
static char *failure(const struct compare *c, const struct subject *s, int status)
{
	struct buf b = {0};
	work_complaint(&c->work, s->strategy ? s->strategy->program : NULL, &b);
	const char *signal = WIFSIGNALED(status) ? decode_signal_name(WTERMSIG(status)) : NULL;
	if (b.len == 0 && WIFSIGNALED(status))
		buf_addf(&b, "killed by %s", signal ? signal : "SIG?");
	else if (b.len == 0)
		buf_addf(&b, "exited with status %d", WEXITSTATUS(status));
	return buf_take(&b);
}

/* The destination of a run's standard error: a file in the work directory, emptied. */
static int open_errors(const struct compare *c)
{
	return open(c->work.errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static bool ended_well(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/*
 * Handles a subject without a result. Strategies, and commands whose failures are ignored, become a row with the
 * reason; any other command ends the comparison.
 */
static int give_up(const struct compare *c, struct subject *s, char *reason, struct buf *why)
{
	if (s->strategy) {
		free(s->unable);
		s->unable = reason;
		return 1;
	}
	buf_addf(why, "'%s' failed: %s; use --ignore-failure to continue nevertheless", s->name,
		 reason ? reason : "out of memory");
	free(reason);
	return c->opt.ignore_failure ? 1 : -ECANCELED;
}

/* --prepare and --conclude. */
static int run_beside(const struct compare *c, const struct subject *s, const struct compare_texts *given,
		      struct buf *why)
{
	if (!given->n)
		return 0;
	const char *command = given->v[given->n == 1 ? 0 : s->index];
	char **argv = compare_command_argv(c, command, s->buffer, &s->params, c->work.in, why);
	if (!argv)
		return -EINVAL;
	struct sample sample;
	int err = sample_take(&(struct sample_spec){.argv = argv,
						    .stdin_fd = c->null_fd,
						    .stdout_fd = c->opt.show_output ? -1 : c->null_fd,
						    .stderr_fd = -1,
						    .stop = c->stop},
			      &sample, why);
	words_free(argv);
	if (err == 0 && !ended_well(sample.status)) {
		buf_addf(why, "'%s' failed", command);
		err = -ECANCELED;
	}
	return err;
}

/* Puts the input into the state that the run needs: out of the page cache, or in it. */
static void set_cache(struct compare *c)
{
	if (!c->opt.cold)
		return;
	cache_drop(c->work.in, geteuid() == 0);
	double resident = cache_resident(c->work.in);
	if (resident > c->resident)
		c->resident = resident;
}

/* --fsync: the time until the copy is on the device belongs to the run. */
static void add_fsync(const struct compare *c, struct sample *s)
{
	int fd = c->opt.fsync ? open(c->work.out, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	uint64_t from = clock_ns();
	fsync(fd);
	s->wall_ns += clock_ns() - from;
	close(fd);
}

/* A copier with a wrong copy has no result. A command may be meant to write something else. */
static int check_copy(struct compare *c, struct subject *s, uint64_t bytes, struct buf *why)
{
	struct buf wrong = {0};
	if (!s->copies || (!s->strategy && s->not_a_copy))
		return 0;
	int err = work_check_copy(&c->work, c->work.out, bytes, &wrong);
	if (err < 0 && s->strategy)
		err = give_up(c, s, buf_take(&wrong), why);
	else if (err < 0)
		s->not_a_copy = true;
	buf_free(&wrong);
	return err == 1 ? 1 : 0;
}

static int sample_subject(struct compare *c, struct subject *s, struct sample *out, struct buf *why)
{
	int errors = open_errors(c);
	struct sample_spec spec = {
		.argv = s->argv,
		.dir = s->strategy ? c->work.dir : NULL,
		.stdin_fd = c->null_fd,
		.stdout_fd = c->opt.show_output ? -1 : c->null_fd,
		.stderr_fd = c->opt.show_output ? -1 : errors,
		.cpus = c->cpus.v,
		.ncpus = c->cpus.n,
		.follow = !s->strategy,
		.stop = c->stop,
	};
	int err = sample_take(&spec, out, why);
	if (errors >= 0)
		close(errors);
	return err;
}

static int timed_run(struct compare *c, struct subject *s, struct sample *out, struct buf *why)
{
	unlink(c->work.out);
	int err = run_beside(c, s, &c->opt.prepare, why);
	if (err < 0)
		return err;
	set_cache(c);
	err = sample_subject(c, s, out, why);
	if (err == 0 && !ended_well(out->status) && !(c->opt.ignore_failure && !s->strategy))
		err = give_up(c, s, failure(c, s, out->status), why);
	if (err == 0)
		add_fsync(c, out);
	if (err == 0)
		err = check_copy(c, s, c->work.size, why);
	if (err == 0)
		err = run_beside(c, s, &c->opt.conclude, why);
	return err;
}

/* The context of the runner's callbacks. */
struct timing {
	struct compare *c;
	struct buf *why;
};

/* `ns` minus `seconds` of the shell, but not below zero. */
static uint64_t less(uint64_t ns, double seconds)
{
	return (double)ns > seconds * 1e9 ? (uint64_t)((double)ns - seconds * 1e9) : 0;
}

/* Subtracts the shell's own start from a sample. */
static void subtract_shell(const struct compare *c, const struct subject *s, struct sample *sample)
{
	if (s->strategy || c->opt.no_shell)
		return;
	sample->wall_ns = less(sample->wall_ns, c->shell_s[0]);
	sample->user_ns = less(sample->user_ns, c->shell_s[1]);
	sample->system_ns = less(sample->system_ns, c->shell_s[2]);
}

static int timing_run(void *ctx, size_t i, int round)
{
	struct timing *t = ctx;
	struct subject *s = t->c->subjects.v[i];
	struct sample sample;
	if (s->unable)
		return 1;
	compare_progress_time(t->c, i, round);
	int err = timed_run(t->c, s, &sample, t->why);
	if (err)
		return err;
	subtract_shell(t->c, s, &sample);
	if (round < 0 && !s->has_first) {
		s->first = sample;
		s->has_first = true;
	} else if (round >= 0 && !vec_push(&s->samples, sample)) {
		return -ENOMEM;
	}
	return 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;
	return (x > y) - (x < y);
}

static bool timing_enough(void *ctx, size_t i)
{
	return compare_enough(((const struct timing *)ctx)->c, i);
}

/* The cost of starting an empty shell: the median of ten. */
static int measure_shell(struct compare *c, struct buf *why)
{
	enum { N = 10 };
	double v[3][N];
	char **argv = compare_command_argv(c, "", 0, NULL, c->work.in, why);
	if (!argv)
		return -ENOMEM;
	int err = 0;
	for (int i = 0; i < N && !err; i++) {
		struct sample s;
		err = sample_take(&(struct sample_spec){.argv = argv,
							.stdin_fd = c->null_fd,
							.stdout_fd = c->null_fd,
							.stderr_fd = -1,
							.cpus = c->cpus.v,
							.ncpus = c->cpus.n,
							.follow = true,
							.stop = c->stop},
				  &s, why);
		v[0][i] = (double)s.wall_ns * 1e-9;
		v[1][i] = (double)s.user_ns * 1e-9;
		v[2][i] = (double)s.system_ns * 1e-9;
	}
	words_free(argv);
	for (int k = 0; k < 3 && !err; k++) {
		qsort(v[k], N, sizeof(double), compare_doubles);
		c->shell_s[k] = (v[k][N / 2 - 1] + v[k][N / 2]) / 2;
	}
	return err;
}

static bool any_command(const struct compare *c)
{
	for (size_t i = 0; i < c->subjects.n; i++)
		if (!c->subjects.v[i]->strategy)
			return true;
	return false;
}

int compare_time(struct compare *c, struct buf *why)
{
	c->resident = -1;
	if (any_command(c) && !c->opt.no_shell) {
		int err = measure_shell(c, why);
		if (err < 0)
			return err;
	}
	struct timing t = {.c = c, .why = why};
	struct runner r = {
		.subjects = c->subjects.n,
		.warmup = (unsigned)c->opt.warmup,
		.min_runs = (unsigned)c->opt.min_runs,
		.max_runs = (unsigned)c->opt.max_runs,
		.budget_ns = c->opt.min_time ? UINT64_MAX : c->opt.max_time,
		.seed = (uint64_t)c->opt.seed,
		.run = timing_run,
		.enough = timing_enough,
		.ctx = &t,
	};
	c->started_ns = clock_ns();
	int err = runner_go(&r);
	compare_progress_end(c);
	return err;
}

/* How much of the input the counted run copies: everything, unless a slow engine would need minutes. */
static uint64_t bytes_to_count(const struct compare *c, const struct subject *s, const char *engine)
{
	if (!s->strategy || c->opt.count_all || strcmp(engine, "ptrace") != 0)
		return c->work.size;
	uint64_t calls = strategy_expected_calls(s->strategy, c->work.size, s->buffer);
	return calls <= SLOW_ENGINE_CALLS ? c->work.size : c->work.size / (calls / SLOW_ENGINE_CALLS + 1);
}

static int count_run(struct compare *c, struct subject *s, bool part, struct buf *why)
{
	int errors = open_errors(c);
	struct count_spec spec = {
		.engine = c->opt.engine,
		.argv = part ? s->part_argv : s->argv,
		.dir = s->strategy ? c->work.dir : NULL,
		.stdin_fd = c->null_fd,
		.stdout_fd = c->null_fd,
		.stderr_fd = errors,
		.follow = true,
		.stop = c->stop,
	};
	int err = count_take(&spec, &s->count, why);
	if (errors >= 0)
		close(errors);
	return err;
}

static int count_subject(struct compare *c, struct subject *s, const char *engine, struct buf *why)
{
	uint64_t bytes = bytes_to_count(c, s, engine);
	bool part = bytes < c->work.size;
	unlink(c->work.out);
	int err = part ? work_make_part(&c->work, bytes, why) : 0;
	/* A command uses the same input as in timed runs. */
	if (err == 0)
		err = run_beside(c, s, &c->opt.prepare, why);
	if (err == 0)
		err = count_run(c, s, part, why);
	if (err < 0)
		return err;
	s->counted = true;
	s->counted_bytes = bytes;
	s->partly = part;
	if (!ended_well(s->count.result.status) && !(c->opt.ignore_failure && !s->strategy))
		return give_up(c, s, failure(c, s, s->count.result.status), why);
	err = check_copy(c, s, bytes, why);
	return err == 0 ? run_beside(c, s, &c->opt.conclude, why) : err;
}

int compare_count(struct compare *c, struct buf *why)
{
	const struct engine_ops *engine = engine_choose(c->opt.engine, CAP_COUNTS | CAP_FOLLOW, why);
	if (!engine)
		return -ENOTSUP;
	buf_clear(why);
	int err = 0;
	for (size_t i = 0; i < c->subjects.n && err >= 0; i++) {
		struct subject *s = c->subjects.v[i];
		if (s->unable)
			continue;
		compare_progress_count(c, i);
		err = count_subject(c, s, engine->name, why);
	}
	compare_progress_end(c);
	return err < 0 ? err : 0;
}
