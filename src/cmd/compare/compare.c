/* `sctrace compare`: the order of its steps, and its end, which leaves nothing behind. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/outfile.h"
#include "bench/place.h"
#include "cmd/cmd.h"
#include "cmd/put.h"
#include "cmd/show.h"
#include "measure/env.h"
#include "run/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SIZE (1u << 20)

/* The one flag: which signal asks for the end. Everything that is running is killed, and the work directory removed. */
static volatile sig_atomic_t stop_signal;

static void on_signal(int sig)
{
	stop_signal = sig;
}

/*
 * Handlers, not SIG_IGN: execve(2) sets them back to the default, so the programs we run find the signals as they should
 * be. What the user had ignored (nohup) stays ignored.
 */
static void catch_signals(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction old;
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(ending[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
	outfile_catch_signals();
	/* Ignored by a parent, children's ends would not be told to us. */
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

/* Ends by the signal that asked for it, as a program that does not catch it would. */
static int end_by_signal(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
	return 128 + sig;
}

static void compare_free(struct compare *c)
{
	struct buf why = {0};
	if (work_close(&c->work, &why) < 0)
		diag_note("%s", buf_str(&why));
	buf_free(&why);
	for (size_t i = 0; i < c->subjects.n; i++)
		compare_subject_free(c->subjects.v[i]);
	vec_free(&c->subjects);
	vec_free(&c->cpus);
	compare_options_free(&c->opt);
	run_free(&c->run);
	if (c->null_fd >= 0)
		close(c->null_fd);
}

/* "0,2-3" */
static int read_cpus(struct compare *c, struct buf *why)
{
	struct cpu_list list = {0};
	int err = c->opt.cpus ? cpu_list_parse(&list, c->opt.cpus, why) : 0;
	for (size_t i = 0; i < list.n && !err; i++)
		err = vec_push(&c->cpus, list.v[i]) ? 0 : -ENOMEM;
	vec_free(&list);
	return err;
}

static int prepare(struct compare *c, char *const *commands, size_t n, struct buf *why)
{
	int err = read_cpus(c, why);
	if (!err)
		err = work_open(&c->work, c->opt.dir, why);
	if (!err)
		err = compare_plan(c, commands, n, why);
	if (!err)
		err = work_make_input(&c->work, c->opt.input ? c->opt.input : "random",
				      c->opt.size || (c->opt.input && strcmp(c->opt.input, "zero") != 0 &&
						      strcmp(c->opt.input, "random") != 0)
					      ? c->opt.size
					      : DEFAULT_SIZE,
				      why);
	if (err)
		return err;
	env_collect(&c->run.env, c->work.dir);
	return 0;
}

/* CPU time of ours and of our programs that have ended, in seconds. */
static double own_cpu_s(void)
{
	static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
	double sum = 0;
	for (size_t i = 0; i < sizeof(whose) / sizeof(*whose); i++) {
		struct rusage u;
		getrusage(whose[i], &u);
		sum += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
	}
	return sum;
}

/* What the processors did before the timed runs. */
struct activity {
	struct env_activity all;
	double own_s;
	uint64_t at_ns;
	bool known;
};

static void activity_begin(struct activity *a)
{
	a->known = env_activity_read(&a->all) == 0;
	a->own_s = own_cpu_s();
	a->at_ns = clock_ns();
}

/* How much of the machine was used by others while we ran: all processors' time less what our programs used. */
static void activity_end(struct compare *c, const struct activity *a)
{
	struct env_activity after;
	if (!a->known || env_activity_read(&after) < 0)
		return;
	double busy = after.busy_s - a->all.busy_s;
	double steal = after.steal_s - a->all.steal_s;
	double all = busy + after.idle_s - a->all.idle_s + steal;
	/* /proc/stat counts in ticks of 10 ms: too coarse for what is over at once. */
	if (all <= 0 || clock_ns() - a->at_ns < NSEC_PER_SEC / 2)
		return;
	c->other_share = fmax(0, (busy - (own_cpu_s() - a->own_s)) / all);
	c->steal_share = fmax(0, steal / all);
}

/* Is there something to show of a comparison that was broken off? */
static bool any_result(const struct compare *c)
{
	for (size_t i = 0; i < c->subjects.n; i++)
		if (c->subjects.v[i]->samples.n || c->subjects.v[i]->counted)
			return true;
	return false;
}

static int run_all(struct compare *c, struct buf *why)
{
	int err = 0;
	if (!c->opt.no_count)
		err = compare_count(c, why);
	/* Where no engine may trace, times are still worth having; the warning says what is missing. */
	if (err == -ENOTSUP || err == -EPERM) {
		diag_note("compare: calls cannot be counted: %s", buf_str(why));
		buf_clear(why);
		err = 0;
	}
	struct activity before;
	activity_begin(&before);
	if (!err)
		err = compare_time(c, why);
	/* What was measured until then is shown all the same. */
	if (err == -EINTR && any_result(c)) {
		c->interrupted = true;
		buf_clear(why);
		err = 0;
	}
	if (!err)
		activity_end(c, &before);
	return err ? err : compare_fill(c, why);
}

static int finish(struct compare *c, int err, const struct buf *why)
{
	int status = EXIT_OWN;
	if (err == -EINTR || stop_signal)
		status = 0;
	else if (err)
		diag_error("compare: %s", why->len ? buf_str(why) : strerror(-err));
	else if (!run_fastest(&c->run))
		diag_error("compare: none of the strategies could run here");
	else
		status = 0;
	if (err == -EINVAL)
		status = EXIT_USAGE;
	compare_free(c);
	return stop_signal ? end_by_signal(stop_signal) : status;
}

static int compare_run(struct compare *c, char *const *commands, size_t n)
{
	struct buf why = {0};
	int err = prepare(c, commands, n, &why);
	if (!err)
		err = run_all(c, &why);
	int status = err ? 0 : show_run(&c->run, "compare", &c->opt.show);
	if (c->interrupted)
		diag_note("interrupted: the figures are of the runs made until then");
	else if (err == -EINTR)
		diag_note("interrupted before anything was measured");
	int end = finish(c, err, &why);
	buf_free(&why);
	return status ? status : end;
}

static int list(const struct compare_options *o)
{
	struct buf out = {0};
	struct table_look look = show_look(&o->show);
	compare_list(&out, &look);
	int status = put_text(NULL, &out);
	buf_free(&out);
	return status;
}

int cmd_compare(int argc, char **argv)
{
	struct compare c = {.stop = &stop_signal, .resident = -1, .other_share = -1, .steal_share = -1};
	int first;
	int status;
	int parsed = compare_parse(&c.opt, argc, argv, &first, &status);
	if (parsed == 0 && c.opt.list)
		status = list(&c.opt);
	if (parsed < 0 || c.opt.list) {
		compare_options_free(&c.opt);
		return status;
	}
	status = show_check("compare", &c.opt.show);
	if (status) {
		compare_options_free(&c.opt);
		return status;
	}
	catch_signals();
	run_init(&c.run, "compare", argc, argv);
	c.work.stop = &stop_signal;
	c.progress = isatty(STDERR_FILENO);
	c.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return compare_run(&c, argv + first, (size_t)(argc - first));
}
