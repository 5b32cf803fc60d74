/* Code that the tests of `sctrace bench` share: options, progress, notes, and displaying the result. */
#include "cmd/bench/bench.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/size.h"
#include "bench/stop.h"
#include "cmd/display.h"
#include "cmd/put.h"
#include "run/judge.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int bench_opt_cpus(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	(void)o;
	struct bench_shared *s = ctx;
	s->cpus.n = 0;
	return cpu_list_parse(&s->cpus, arg, why) ? -EINVAL : 0;
}

int bench_opt_time(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	struct bench_shared *s = ctx;
	struct opt at = *o;
	at.offset = offsetof(struct bench_shared, time_ns);
	int r = opt_duration(ctx, &at, arg, why);
	if (r == 0 && s->time_ns == 0) {
		buf_adds(why, "a time of 0 is too short; write for example 250ms or 1.5s");
		return -EINVAL;
	}
	s->time_given = true;
	return r;
}

bool bench_parse(const struct opt_command *c, struct bench_shared *settings, int argc, char **argv, int *first,
		 int *status)
{
	struct buf text = {0};
	enum opt_outcome outcome = opt_parse(c, settings, argc, argv, first, &text);
	*status = 0;
	if (outcome == OPT_HELP) {
		*status = put_help(c);
	} else if (outcome == OPT_VERSION) {
		*status = put_version();
	} else if (outcome == OPT_ERROR) {
		diag_error("%s", buf_str(&text));
		*status = EXIT_USAGE;
	}
	buf_free(&text);
	return outcome == OPT_OK;
}

/* Initialises a run with the command line that the user typed; argv begins with the test's name. */
static void init_run(struct run *run, const char *kind, int argc, char **argv)
{
	run_init(run, kind, 0, NULL);
	strings_add(&run->command, "sctrace");
	strings_add(&run->command, "bench");
	for (int i = 0; i < argc; i++)
		strings_add(&run->command, argv[i]);
}

int bench_begin(struct bench_session *s, struct bench_shared *o, const char *kind, int argc, char **argv)
{
	init_run(&s->run, kind, argc, argv);
	ssize_t len = readlink("/proc/self/exe", s->self, sizeof(s->self) - 1);
	if (len <= 0) {
		diag_error("cannot read /proc/self/exe: %s", strerror(errno));
		return EXIT_OWN;
	}
	const char *tmp = getenv("TMPDIR");
	s->dir = o->dir ? o->dir : tmp && *tmp ? tmp : "/var/tmp";
	if (access(s->dir, W_OK | X_OK) < 0) {
		diag_error("cannot create files in '%s': %s; choose another directory with --dir", s->dir,
			   strerror(errno));
		return EXIT_USAGE;
	}
	int status = display_check("bench", &o->show);
	if (status)
		return status;
	env_collect(&s->run.env, s->dir);
	env_activity_read(&s->before);
	if (getloadavg(&s->load, 1) != 1)
		s->load = 0;
	s->progress = !o->quiet && isatty(STDERR_FILENO);
	stop_catch();
	return 0;
}

int bench_choose_policy(struct bench_session *s, const char *word, int otherwise, int prio, struct place_policy *p)
{
	*p = (struct place_policy){.policy = word ? place_policy_by_name(word) : otherwise};
	bool real_time = p->policy == SCHED_FIFO || p->policy == SCHED_RR;
	if (prio && !real_time) {
		diag_error("--prio needs --policy fifo or --policy rr; the policy '%s' has no priorities",
			   place_policy_name(p->policy));
		return EXIT_USAGE;
	}
	if (real_time)
		p->prio = prio ? prio : 50;
	int err = place_try_policy(p);
	if (err) {
		bench_note(s, "the policy %s is not permitted (%s), so %s was used", place_policy_name(p->policy),
			   strerror(-err), place_policy_name(otherwise));
		*p = (struct place_policy){.policy = otherwise};
	}
	return 0;
}

int bench_measure(const struct bench_test *t, struct bench_session *s, int argc, char **argv)
{
	char kind[64];
	int first;
	int status;
	*s = (struct bench_session){.o = memory_zeroed(1, t->settings)};
	if (t->defaults)
		t->defaults(s->o);
	if (!bench_parse(t->face, s->o, argc, argv, &first, &status))
		return status;
	if (t->ready && !t->ready(s->o, argc - first, argv + first, &status))
		return status;
	if (!t->ready && first < argc) {
		diag_error("unexpected argument '%s'; see %s --help", argv[first], t->face->name);
		return EXIT_USAGE;
	}
	snprintf(kind, sizeof(kind), "bench-%s", t->name);
	status = bench_begin(s, s->o, kind, argc, argv);
	return status ? status : t->run(s, s->o, argc - first, argv + first);
}

void bench_progress(struct bench_session *s, double done, double all, const char *what)
{
	uint64_t now = clock_ns();
	if (!s->progress || now - s->shown_ns < NSEC_PER_SEC / 20)
		return;
	s->shown_ns = now;
	if (all > 0)
		fprintf(stderr, "\r\033[K%3.0f %% %s", 100 * done / all, what);
	else
		fprintf(stderr, "\r\033[K%s", what);
}

/*
 * Adds a note if the machine was busy when the test started, and a note if the hypervisor gave CPU time to other guests
 * during the measurement.
 */
static void note_activity(struct bench_session *s)
{
	struct env_activity now;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (s->load > 0.5 * (double)cpus)
		bench_note(s, "the machine was busy at the start: load average %.2f on %ld CPUs", s->load, cpus);
	if (env_activity_read(&now) < 0)
		return;
	double steal = now.steal_s - s->before.steal_s;
	double all = steal + now.busy_s - s->before.busy_s + now.idle_s - s->before.idle_s;
	if (all > 0 && steal / all > 0.01)
		bench_note(s, "the hypervisor gave %.1f %% of the CPU time to other guests (steal)", 100 * steal / all);
}

int bench_quit(struct bench_session *s, int status)
{
	if (s->progress)
		fputs("\r\033[K", stderr);
	run_free(&s->run);
	if (s->o)
		vec_free(&s->o->cpus);
	free(s->o);
	return status;
}

static int show(struct bench_session *s)
{
	note_activity(s);
	if (stop_signal())
		bench_note(s, s->run.subjects.n ? "interrupted: these are the measurements up to then"
						: "interrupted before anything was measured");
	s->run.head.known = true;
	s->run.notes.known = true;
	s->run.interrupted = stop_signal() ? TRUTH_YES : TRUTH_NO;
	run_judge(&s->run);
	return display_run(&s->run, "bench", &s->o->show);
}

int bench_end(struct bench_session *s)
{
	int status = EXIT_OWN;
	if (s->progress)
		fputs("\r\033[K", stderr);
	s->progress = false;
	if (s->err)
		diag_error("the measurement failed: %s", strerror(-s->err));
	else
		status = show(s);
	bench_quit(s, status);
	int sig = stop_signal();
	if (sig) {
		/*
		 * This process must be ended by the signal that it caught, so that its parent process sees why it
		 * ended.
		 */
		stop_release();
		raise(sig);
	}
	return status;
}
