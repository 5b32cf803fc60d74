/* What the tests of `sctrace bench` have in common, but for how a result leaves (bench_result.c). */
#include "cmd/bench/bench.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/size.h"
#include "bench/describe.h"
#include "bench/stop.h"
#include "cmd/put.h"
#include "out/term.h"
#include "run/run.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
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
		buf_adds(why, "no time is too little; write 250ms, 1.5s");
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
		struct table_look look = term_look(STDOUT_FILENO);
		opt_help(c, &text, look.width ? look.width : 80, look.colour);
		*status = put_text(NULL, &text);
	} else if (outcome == OPT_VERSION) {
		*status = put_version();
	} else if (outcome == OPT_ERROR) {
		diag_error("%s", buf_str(&text));
		*status = EXIT_USAGE;
	}
	buf_free(&text);
	return outcome == OPT_OK;
}

static const char *text_of(const json_t *env, const char *group, const char *key)
{
	const json_t *v = json_object_get(group ? json_object_get(env, group) : env, key);
	const char *s = json_string_value(v);
	return s ? s : "?";
}

/* "Linux 6.12.1, PREEMPT_DYNAMIC (voluntary), 2 x Intel ..., in a virtual machine (KVM)" */
static void machine_line(const json_t *env, struct buf *out)
{
	buf_addf(out, "Linux %s, %s, %lld x %s", text_of(env, "kernel", "release"),
		 text_of(env, "kernel", "preemption"), (long long)sysconf(_SC_NPROCESSORS_ONLN),
		 text_of(env, "cpu", "model"));
	const char *hypervisor = json_string_value(json_object_get(env, "hypervisor"));
	if (hypervisor)
		buf_addf(out, ", in a virtual machine (%s)", hypervisor);
	buf_addc(out, '\n');
}

/* What makes figures worthless or hard to compare goes in front. */
static void warn_of_machine(struct bench_session *s, const json_t *env)
{
	const json_t *debug = json_object_get(json_object_get(env, "kernel"), "debug_options");
	if (json_array_size(debug)) {
		struct buf names = {0};
		for (size_t i = 0; i < json_array_size(debug); i++)
			buf_addf(&names, "%s%s", i ? ", " : "", json_string_value(json_array_get(debug, i)));
		buf_addf(&s->banner, "WARNING: this kernel was built with %s: it is slower than others by that alone\n",
			 buf_str(&names));
		buf_free(&names);
	}
}

/* The document, with the command line as it was typed: argv begins at the test's name. */
static json_t *new_run(const char *kind, int argc, char **argv, json_t *env)
{
	char **words = calloc((size_t)argc + 3, sizeof(*words));
	if (!words) {
		json_decref(env);
		return NULL;
	}
	words[0] = "sctrace";
	words[1] = "bench";
	memcpy(words + 2, argv, (size_t)argc * sizeof(*words));
	json_t *run = run_new(kind, argc + 2, words, env);
	free(words);
	return run;
}

int bench_begin(struct bench_session *s, struct bench_shared *o, const char *kind, int argc, char **argv)
{
	s->argc = argc;
	s->argv = argv;
	ssize_t len = readlink("/proc/self/exe", s->self, sizeof(s->self) - 1);
	if (len <= 0) {
		diag_error("cannot read /proc/self/exe: %s", strerror(errno));
		return EXIT_OWN;
	}
	const char *tmp = getenv("TMPDIR");
	s->dir = o->dir ? o->dir : tmp && *tmp ? tmp : "/var/tmp";
	if (access(s->dir, W_OK | X_OK) < 0) {
		diag_error("cannot make files in '%s': %s; name another folder with --dir", s->dir, strerror(errno));
		return EXIT_USAGE;
	}
	json_t *env = env_collect(s->dir);
	if (env) {
		machine_line(env, &s->machine);
		warn_of_machine(s, env);
	}
	s->run = new_run(kind, argc, argv, env);
	if (!s->run) {
		diag_error("out of memory");
		return EXIT_OWN;
	}
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
		diag_error("--prio needs --policy fifo or rr; the policy '%s' has no priorities",
			   place_policy_name(p->policy));
		return EXIT_USAGE;
	}
	if (real_time)
		p->prio = prio ? prio : 50;
	int err = place_try_policy(p);
	if (err) {
		bench_note(s, "the policy %s is not permitted (%s): measured with %s", place_policy_name(p->policy),
			   strerror(-err), place_policy_name(otherwise));
		*p = (struct place_policy){.policy = otherwise};
	}
	return 0;
}

void bench_say_cpus(struct bench_session *s, struct buf *out)
{
	buf_adds(out, s->o->cpus.n ? "CPU " : "any CPU");
	cpu_list_format(out, &s->o->cpus);
}

json_t *bench_cpus_json(struct bench_session *s)
{
	struct buf b = {0};
	cpu_list_format(&b, &s->o->cpus);
	json_t *o = s->o->cpus.n ? json_string(buf_str(&b)) : json_null();
	buf_free(&b);
	return o;
}

int bench_measure(const struct bench_test *t, struct bench_session *s, int argc, char **argv)
{
	char kind[64];
	int first;
	int status;
	*s = (struct bench_session){.o = calloc(1, t->settings)};
	if (!s->o) {
		diag_error("out of memory");
		return EXIT_OWN;
	}
	if (t->defaults)
		t->defaults(s->o);
	if (!bench_parse(t->face, s->o, argc, argv, &first, &status))
		return status;
	if (t->ready && !t->ready(s->o, argc - first, argv + first, &status))
		return status;
	if (!t->ready && first < argc) {
		diag_error("unexpected '%s'; see %s --help", argv[first], t->face->name);
		return EXIT_USAGE;
	}
	snprintf(kind, sizeof(kind), "bench-%s", t->name);
	status = bench_begin(s, s->o, kind, argc, argv);
	return status ? status : t->run(s, s->o, argc - first, argv + first);
}

void bench_note(struct bench_session *s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_addv(&s->notes, fmt, ap);
	va_end(ap);
	buf_addc(&s->notes, '\n');
}

void bench_note_shortage(struct bench_session *s, const char *test, size_t samples, struct buf *rows)
{
	if (rows->len && !stop_signal())
		bench_note(s,
			   "fewer than %zu samples for want of time: %s; more by sctrace bench %s with a longer --time",
			   samples, buf_str(rows), test);
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

void bench_add_table(struct bench_session *s, const char *title, struct table *t)
{
	if (!t || !table_rows(t)) {
		table_free(t);
		return;
	}
	struct bench_part part = {title ? strdup(title) : NULL, t};
	if (!vec_push(&s->parts, part)) {
		free(part.title);
		table_free(t);
	}
}

json_t *bench_describe_json(const char *name, double *samples, size_t n, const char *unit)
{
	static const char *const keys[] = {"min", "q1", "median", "mean", "q3", "max", "stddev"};
	/* The samples first: describing sorts them, and their order in time is worth keeping. */
	json_t *kept = run_reals(samples, n);
	struct sample_summary d;
	describe(&d, samples, n);
	const double values[] = {d.min, d.q1, d.median, d.mean, d.q3, d.max, d.stddev};
	json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:I}", "name", name, "unit", unit, "samples", (json_int_t)n,
			      "outliers_low", (json_int_t)d.outliers_low, "outliers_high", (json_int_t)d.outliers_high);
	char key[64];
	for (size_t i = 0; o && i < sizeof(keys) / sizeof(*keys); i++) {
		snprintf(key, sizeof(key), "%s_%s", keys[i], unit);
		json_object_set_new(o, key, isfinite(values[i]) ? json_real(values[i]) : json_null());
	}
	snprintf(key, sizeof(key), "samples_%s", unit);
	if (o)
		json_object_set_new(o, key, kept);
	else
		json_decref(kept);
	return o;
}

void bench_set_time(struct table *t, size_t col, double seconds)
{
	struct buf b = {0};
	if (seconds == 0)
		buf_adds(&b, "0 s");
	else if (isfinite(seconds))
		duration_human(&b, seconds * 1e9);
	table_real(t, col, seconds, buf_str(&b));
	buf_free(&b);
}
