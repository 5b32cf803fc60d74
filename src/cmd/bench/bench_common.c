#include "base/clock.h"
#include "base/diag.h"
#include "base/memory.h"
#include "bench/stop.h"
#include "cmd/bench/cmd_bench.h"
#include "cmd/display.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Code that the tests of `sctrace bench` share: options, progress, notes, and displaying the result. */
int bench_opt_cpus(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	(void)o;
	struct bench_options *s = ctx;
	s->cpus.n = 0;
	return cpu_list_parse(&s->cpus, arg, why) ? -EINVAL : 0;
}

int bench_opt_time(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	int r = opt_duration(ctx, o, arg, why);
	if (r == 0 && ((struct bench_options *)ctx)->time_ns == 0) {
		buf_adds(why, "a time of 0 is too short; write for example 250ms or 1.5s");
		return -EINVAL;
	}
	return r;
}

int bench_opt_loads(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	(void)o;
	return load_list_parse(&((struct bench_options *)ctx)->loads, arg, why);
}

int bench_parse(const struct opt_command *c, struct bench_options *o, int argc, char **argv, int *first)
{
	struct buf why = {0};
	enum opt_outcome outcome = opt_parse(c, o, argc, argv, first, &why);
	int status = outcome == OPT_OK ? BENCH_DONE : put_outcome(c, outcome, "bench: ", &why);
	buf_free(&why);
	return status;
}

/* Shows the progress in a line that the next one replaces, at most 20 times a second. */
static void show_progress(void *ctx, double done, double all, const char *what)
{
	struct bench_session *s = ctx;
	uint64_t now = clock_ns();
	if (now - s->shown_ns < NSEC_PER_SEC / 20)
		return;
	s->shown_ns = now;
	if (all > 0)
		fprintf(stderr, "\r\033[K%3.0f %% %s", 100 * done / all, what);
	else
		fprintf(stderr, "\r\033[K%s", what);
}

static void end_progress(struct bench_session *s)
{
	if (s->progress.show)
		fputs("\r\033[K", stderr);
	s->progress.show = NULL;
}

int bench_begin(struct bench_session *s, const char *kind, int argc, char **argv)
{
	const struct bench_options *o = s->o;
	ssize_t len = readlink("/proc/self/exe", s->self, sizeof(s->self) - 1);
	if (len <= 0) {
		diag_error("bench: cannot read /proc/self/exe: %s", error_text(errno));
		return EXIT_OWN;
	}
	const char *tmp = getenv("TMPDIR");
	s->dir = o->dir ? o->dir : tmp && *tmp ? tmp : "/var/tmp";
	if (access(s->dir, W_OK | X_OK) < 0) {
		diag_error("bench: cannot create files in '%s': %s; choose another directory with --dir", s->dir,
			   error_text(errno));
		return EXIT_USAGE;
	}
	int status = display_check("bench", &o->show, NULL);
	if (status)
		return status;
	results_begin(&s->run, &s->start, kind, argc, argv, s->dir);
	if (!o->quiet && !o->show_output && isatty(STDERR_FILENO))
		s->progress = (struct progress){.show = show_progress, .ctx = s};
	stop_catch();
	return 0;
}

uint64_t bench_seed(const struct bench_options *o)
{
	return o->seed ? (uint64_t)o->seed : clock_ns() & 0x7fffffff;
}

/*
 * Prints the reason for an error, if it is known. Returns the exit status of an error in the table. For all other errors,
 * sets s->err, which bench_end() reports, and returns BENCH_DONE. Also returns BENCH_DONE if there is no error.
 */
static int judge(struct bench_session *s, int err, const struct buf *why)
{
	static const struct {
		int err, status;
	} ends[] = {
		{-ECANCELED, EXIT_OWN}, {-ENOENT, EXIT_NOT_FOUND}, {-EACCES, EXIT_CANNOT_RUN}, {-ERANGE, EXIT_USAGE}};
	if (err == -EINTR)
		return BENCH_DONE;
	if (err && why->len) {
		end_progress(s);
		diag_error("bench: %s", buf_str(why));
		for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
			if (err == ends[i].err)
				return ends[i].status;
	}
	s->err = err;
	return BENCH_DONE;
}

static int list(const struct bench_test *t)
{
	struct buf out = {0};
	t->list(&out);
	int status = put_text(NULL, &out);
	buf_free(&out);
	return status;
}

static int check(const struct bench_test *t, const struct bench_options *o, char **words, size_t n)
{
	struct buf why = {0};
	if (n && !t->takes_operands)
		buf_addf(&why, "unexpected argument '%s'; see %s --help", words[0], t->face->name);
	else if (t->check)
		t->check(o, words, n, &why);
	if (why.len)
		diag_error("bench: %s", buf_str(&why));
	int status = why.len ? EXIT_USAGE : 0;
	buf_free(&why);
	return status;
}

int bench_measure(const struct bench_test *t, struct bench_session *s, int argc, char **argv)
{
	char kind[64];
	int first;
	struct buf why = {0};
	*s = (struct bench_session){.o = memory_zeroed(1, sizeof(struct bench_options))};
	*s->o = t->defaults;
	if (t->loads)
		load_list_parse(&s->o->loads, t->loads, &(struct buf){0});
	int status = bench_parse(t->face, s->o, argc, argv, &first);
	if (status != BENCH_DONE)
		return status;
	if (s->o->list)
		return list(t);
	char **words = argv + first;
	size_t n = (size_t)(argc - first);
	snprintf(kind, sizeof(kind), "bench-%s", t->name);
	status = check(t, s->o, words, n);
	if (!status)
		status = bench_begin(s, kind, argc, argv);
	if (!status)
		status = judge(s, t->run(s, words, n, &why), &why);
	buf_free(&why);
	return status;
}

int bench_quit(struct bench_session *s, int status)
{
	end_progress(s);
	run_free(&s->run);
	if (s->o)
		vec_free(&s->o->cpus);
	free(s->o);
	return status;
}

int bench_end(struct bench_session *s)
{
	int status = EXIT_OWN;
	end_progress(s);
	if (s->err)
		diag_error("bench: the measurement failed: %s", error_text(-s->err));
	else {
		results_end(&s->run, &s->start);
		status = display_run(&s->run, "bench", &s->o->show);
	}
	bench_quit(s, status);
	int sig = stop_signal();
	if (sig) {
		/* The signal must end this process, so that its parent process sees why it ended. */
		stop_release();
		raise(sig);
	}
	return status;
}
