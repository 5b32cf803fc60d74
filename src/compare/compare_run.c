/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/words.h"
#include "compare/compare.h"
#include "measure/machine_env.h"
#include "measure/sample.h"
#include "measure/work.h"
#include "trace/io.h"
#include "trace/pipeline.h"
#include "tracee/names.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs the subjects: once to count their calls, and in other, untraced runs to measure time and memory. */
/*
 * The ptrace engine stops the program at each call, which takes some microseconds. If more calls than this are
 * expected, calls are counted for only a part of the input, and a note says so.
 */
#define SLOW_ENGINE_CALLS 2500000

/* Opens the file in the work directory that receives the standard error of a run, and empties it. */
static int open_errors(const struct compare *c)
{
	return open(c->work.errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* Removes the output of the run before, and runs the command of --prepare. */
static int prepare(struct compare *c, const struct subject *s, struct buf *why)
{
	work_remove(c->work.out);
	int err = compare_beside(c, s, BESIDE_PREPARE, why);
	work_note_input(&c->work);
	return err;
}

/* With --cold, removes the input from the page cache, and measures how much of it remained in the cache. */
static void set_cache(struct compare *c)
{
	if (!c->opt.cold)
		return;
	cache_drop(c->work.in, geteuid() == 0);
	double resident = cache_resident(c->work.in);
	if (resident > c->resident)
		c->resident = resident;
}

/* With --fsync, adds the time until the copy is on the device to the wall time. */
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

/*
 * Creates the input again if the program has changed it, and compares the copy with the input. If the copy of a strategy
 * is wrong, the strategy fails. A command may intentionally write something else, so the difference is only recorded.
 */
static int check_files(struct compare *c, struct subject *s, uint64_t bytes, struct buf *why)
{
	auto_buf wrong = {0};
	int changed = work_restore_input(&c->work, why);
	if (changed < 0)
		return changed;
	s->changes_input |= changed;
	if (!s->copies || (!s->strategy && s->not_a_copy))
		return 0;
	int err = work_check_copy(&c->work, c->work.out, bytes, &wrong);
	if (err < 0 && s->strategy)
		compare_give_up(c, s, buf_str(&wrong), "");
	else if (err < 0)
		s->not_a_copy = true;
	return err < 0 && s->strategy;
}

/* Where the output of a run goes. */
struct output {
	int fd; /* -1: to that of sctrace */
	bool drained;
	struct drain drain;
};

/* Opens the standard output of a run. Returns 0, or -errno with the reason in `why`. */
static int output_open(const struct compare *c, const struct subject *s, struct output *o, struct buf *why)
{
	const char *usual = c->opt.metrics.n ? c->work.output : "null";
	const char *where = s->strategy ? "null" : c->opt.command_output ? c->opt.command_output : usual;
	bool null = strcmp(where, "null") == 0;
	/* The warm-up run finds out whether the command has an output, for a warning about /dev/null. */
	bool probe = null && !s->strategy && c->round == ROUND_WARMUP && !s->has_first;
	*o = (struct output){.fd = null ? c->null_fd : -1, .drained = probe || strcmp(where, "pipe") == 0};
	if (o->drained) {
		int err = drain_open(&o->drain, why);
		o->fd = o->drain.fd;
		return err;
	}
	if (null || c->opt.show_output)
		return 0;
	o->fd = open(where, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (o->fd >= 0)
		return 0;
	int err = -errno;
	buf_addf(why, "cannot write the output to '%s': %s", where, diag_error_text(-err));
	return err;
}

static void output_close(struct compare *c, struct subject *s, struct output *o)
{
	struct drained sum = {0};
	if (o->drained)
		drain_close(&o->drain, &sum);
	else if (o->fd >= 0 && o->fd != c->null_fd)
		close(o->fd);
	c->drain_s += sum.cpu_s;
	if (c->round == ROUND_WARMUP && !s->has_first)
		s->output_bytes = sum.bytes;
}

/* Before a run: reads how many threads can run. They are other programs', because none of the comparison's runs now. */
static void read_load(struct compare *c)
{
	int others = env_runnable_read();
	if (c->round < 0 || others < 0)
		return;
	c->loads++;
	c->others += (unsigned)others;
}

static int sample_subject(struct compare *c, struct subject *s, struct sample *out, struct buf *why)
{
	struct output o;
	int err = output_open(c, s, &o, why);
	if (err < 0)
		return err;
	int errors = open_errors(c);
	struct sample_spec spec = {
		.argv = s->argv,
		.dir = s->strategy ? c->work.dir : NULL,
		.stdin_fd = c->null_fd,
		.stdout_fd = o.fd,
		.stderr_fd = c->opt.show_output ? -1 : errors,
		.cpus = c->cpus.v,
		.ncpus = c->cpus.n,
		.follow = !s->strategy && !s->untraced,
		.untraced = s->untraced || c->opt.no_trace,
		.limit_ns = c->opt.timeout,
		.stop = c->stop,
	};
	read_load(c);
	err = sample_take(&spec, out, why);
	output_close(c, s, &o);
	if (errors >= 0)
		close(errors);
	return err;
}

/* Reads the metrics of --metric from the output of the last run. */
static void read_metrics(const struct compare *c, struct subject *s)
{
	const char *const paths[] = {c->opt.command_output ? c->opt.command_output : c->work.output, c->work.errors};
	for (size_t i = 0; i < c->opt.metrics.n; i++)
		vec_push(&s->metrics.v[i].samples, compare_metric_read(&c->opt.metrics.v[i], paths, 2));
}

/* Runs the subject once beside the measurement. Returns 0 if it works. */
static int try_once(struct compare *c, struct subject *s, struct sample *sample, struct buf *why)
{
	int err = prepare(c, s, why);
	if (err == 0)
		err = sample_subject(c, s, sample, why);
	if (err == 0 && !compare_permits(c, s, sample->status))
		err = -ECANCELED;
	if (err == 0)
		err = check_files(c, s, c->work.size, why);
	return err == 0 ? compare_beside(c, s, BESIDE_CONCLUDE, why) : err;
}

/*
 * A command has failed in its first run. Returns 1 if it works without tracing, and sets s->untraced if it fails again
 * with tracing: programs with LeakSanitizer and debuggers do. Otherwise, it may fail at random. Returns 0 if it does not
 * work either, or -EINTR.
 */
static int retry_untraced(struct compare *c, struct subject *s, struct buf *why)
{
	struct sample sample;
	if (s->strategy || s->untraced || s->samples.n || c->opt.no_trace)
		return 0;
	s->untraced = true;
	int err = try_once(c, s, &sample, why);
	bool works = err == 0;
	s->untraced = false;
	if (works)
		err = try_once(c, s, &sample, why);
	s->untraced = works && err < 0;
	buf_clear(why);
	return err == -EINTR ? err : works;
}

static int timed_run(struct compare *c, struct subject *s, struct sample *out, struct buf *why)
{
	int err = prepare(c, s, why);
	if (err < 0)
		return err;
	set_cache(c);
	err = sample_subject(c, s, out, why);
	/* If a program needs the privileges of its file, or does not work under tracing, this run is made again. */
	bool again = err == 0 && out->lost_privilege && !s->strategy;
	s->untraced |= again;
	if (err == 0 && !again && !compare_permits(c, s, out->status)) {
		err = retry_untraced(c, s, why);
		again = err == 1 && s->untraced;
		err = err < 0 ? err : 0;
	}
	if (again)
		return timed_run(c, s, out, why);
	if (err == 0)
		err = compare_check_status(c, s, out->status);
	if (err == 0 && c->round >= 0)
		read_metrics(c, s);
	if (err == 0)
		add_fsync(c, out);
	if (err == 0)
		err = check_files(c, s, c->work.size, why);
	if (err == 0)
		err = compare_beside(c, s, BESIDE_CONCLUDE, why);
	return err;
}

/* The context pointer of the runner's callbacks points to this struct. */
struct timing {
	struct compare *c;
	struct buf *why;
};

/* Returns `ns` minus `seconds`, or 0 if that would be negative. */
static uint64_t less(uint64_t ns, double seconds)
{
	return (double)ns > seconds * 1e9 ? (uint64_t)((double)ns - seconds * 1e9) : 0;
}

/* Subtracts the time of an empty shell (measure_shell()) from the sample of a command. */
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
	compare_begin_run(t->c, round < 0 ? ROUND_WARMUP : round);
	int err = compare_settle(t->c, s, timed_run(t->c, s, &sample, t->why), t->why);
	if (err)
		return err;
	subtract_shell(t->c, s, &sample);
	if (round < 0 && !s->has_first) {
		s->first = sample;
		s->has_first = true;
	} else if (round >= 0)
		vec_push(&s->samples, sample);
	return 0;
}

static bool timing_enough(void *ctx, size_t i)
{
	return compare_enough(((const struct timing *)ctx)->c, i);
}

/* Measures the wall, user and system time in seconds of starting an empty shell: the medians of ten runs. */
static int measure_shell(const struct compare *c, double shell_s[3], struct buf *why)
{
	enum { N = 10 };
	double v[3][N];
	char **argv = compare_command_argv(c, "", 0, &(struct texts){0}, why);
	if (!argv)
		return -EINVAL;
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
	for (int k = 0; k < 3 && !err; k++)
		shell_s[k] = sample_median(v[k], N);
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
	bool shell = any_command(c) && !c->opt.no_shell;
	double after_s[3] = {0};
	c->resident = c->shell_after_s = -1;
	int err = shell ? measure_shell(c, c->shell_s, why) : 0;
	if (err < 0)
		return err;
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
	err = runner_go(&r);
	compare_progress_end(c);
	/* On a machine whose load changes, the time that was subtracted can be wrong, and a warning says so. */
	if (shell && !err && !*c->stop && measure_shell(c, after_s, &(struct buf){0}) == 0)
		c->shell_after_s = after_s[0];
	return err;
}

/*
 * Returns how many bytes of the input are copied while calls are counted: all, unless the engine is so slow that
 * counting would take minutes.
 */
static uint64_t bytes_to_count(const struct compare *c, const struct subject *s, const char *engine)
{
	if (!s->strategy || c->opt.count_all || strcmp(engine, "ptrace") != 0)
		return c->work.size;
	uint64_t calls = strategy_expected_calls(s->strategy, c->work.size, s->buffer);
	return calls <= SLOW_ENGINE_CALLS ? c->work.size : c->work.size / (calls / SLOW_ENGINE_CALLS + 1);
}

static void pass_on(void *ctx, struct event *ev)
{
	trace_pipeline_event(ctx, ev);
}

/*
 * Runs the program of `spec` once more, to see how it uses its files (--columns). Returns 0 and fills in *use, or returns
 * the error of count_take().
 */
static int take_use(const struct count_spec *spec, struct run_use *use, struct buf *why)
{
	const struct trace_select everything = {0};
	struct trace_pipeline p = {.select = &everything, .session = {.names = &names_live, .start_ns = clock_ns()}};
	struct count_spec events = *spec;
	struct count c;
	struct trace_io io;
	struct run_io result = {0};
	events.event = pass_on;
	events.ctx = &p;
	events.string_max = IO_LINE_MAX;
	trace_io_init(&io);
	trace_pipeline_add(&p, &io.sink);
	trace_pipeline_begin(&p);
	int err = count_take(&events, &c, why);
	trace_pipeline_end(&p);
	if (err == 0) {
		io_profile_finish(&io.profile, &result);
		*use = result.use;
		count_free(&c);
	}
	run_io_free(&result);
	trace_io_free(&io);
	return err;
}

static int count_run(struct compare *c, struct subject *s, bool part, struct buf *why)
{
	struct output o;
	int err = output_open(c, s, &o, why);
	if (err < 0)
		return err;
	int errors = open_errors(c);
	struct count_spec spec = {
		.engine = c->opt.engine,
		.argv = part ? s->part_argv : s->argv,
		.dir = s->strategy ? c->work.dir : NULL,
		.stdin_fd = c->null_fd,
		.stdout_fd = o.fd,
		.stderr_fd = errors,
		.follow = true,
		.limit_ns = c->opt.timeout,
		.stop = c->stop,
	};
	err = count_take(&spec, &s->count, why);
	if (err == 0 && c->opt.columns && compare_permits(c, s, s->count.result.status)) {
		err = check_files(c, s, c->work.size, why);
		if (err == 0)
			err = compare_beside(c, s, BESIDE_CONCLUDE, why);
		if (err == 0)
			err = prepare(c, s, why);
		if (err == 0)
			err = take_use(&spec, &s->use, why);
	}
	output_close(c, s, &o);
	if (errors >= 0)
		close(errors);
	return err;
}

static int count_subject(struct compare *c, struct subject *s, const char *engine, struct buf *why)
{
	uint64_t bytes = bytes_to_count(c, s, engine);
	bool part = bytes < c->work.size;
	int err = part ? work_make_part(&c->work, bytes, why) : 0;
	/* `part` is false for commands, which always use the whole input. */
	if (err == 0)
		err = prepare(c, s, why);
	if (err == 0) {
		set_cache(c);
		err = count_run(c, s, part, why);
	}
	if (err < 0)
		return err;
	s->counted = true;
	s->counted_bytes = bytes;
	s->untraced = s->count.lost_privilege && !s->strategy;
	if (!s->untraced && !compare_permits(c, s, s->count.result.status))
		err = retry_untraced(c, s, why);
	if (s->untraced || err == 1) {
		count_free(&s->count);
		s->use.known = s->counted = false;
		return 0;
	}
	if (err == 0)
		err = compare_check_status(c, s, s->count.result.status);
	if (err == 0)
		err = check_files(c, s, bytes, why);
	return err == 0 ? compare_beside(c, s, BESIDE_CONCLUDE, why) : err;
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
		if (s->unable || s->untraced)
			continue;
		compare_progress_count(c, i);
		compare_begin_run(c, ROUND_COUNT);
		err = compare_settle(c, s, count_subject(c, s, engine->name, why), why);
	}
	compare_progress_end(c);
	return err < 0 ? err : 0;
}
