/* SPDX-License-Identifier: MIT */
#include "cmd/bench/cmd_bench.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "base/words.h"
#include "bench/loads.h"
#include "bench/stop.h"
#include "bench/syscall.h"
#include "cmd/cmd.h"
#include "cmd/display.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BENCH_DONE (-1)

/* Returns BENCH_DONE and the index of the first operand, or an exit status after help or a message. */
static int parse(const struct opt_command *c, struct bench_options *o, int argc, char **argv, int *first)
{
	auto_buf why = {0};
	enum opt_outcome outcome = opt_parse(c, o, argc, argv, first, &why);
	return outcome == OPT_OK ? BENCH_DONE : display_outcome(c, outcome, "bench: ", &why);
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

/* Starts a test: catches signals, and describes the machine. Returns 0, or an exit status after printing a message. */
static int begin(struct bench_session *s, const char *kind, int argc, char **argv)
{
	const struct bench_options *o = s->o;
	ssize_t len = readlink("/proc/self/exe", s->self, sizeof(s->self) - 1);
	if (len <= 0) {
		diag_error("bench: cannot read /proc/self/exe: %s", diag_error_text(errno));
		return EXIT_OWN;
	}
	const char *tmp = getenv("TMPDIR");
	s->dir = o->dir ? o->dir : tmp && *tmp ? tmp : "/var/tmp";
	if (access(s->dir, W_OK | X_OK) < 0) {
		diag_error("bench: cannot create files in '%s': %s; choose another directory with --dir", s->dir,
			   diag_error_text(errno));
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

/*
 * Prints the reason for an error, if it is known. Returns the exit status of an error in the table. For all other errors,
 * sets s->err, which end() reports, and returns BENCH_DONE. Also returns BENCH_DONE if there is no error.
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
	auto_buf out = {0};
	t->list(&out);
	return display_text(NULL, &out);
}

static int check(const struct bench_test *t, const struct bench_options *o, char **words, size_t n)
{
	auto_buf why = {0};
	if (n && !t->takes_operands)
		buf_addf(&why, "unexpected argument '%s'; see %s --help", words[0], t->face->name);
	else if (t->check)
		t->check(o, words, n, &why);
	if (why.len)
		diag_error("bench: %s", buf_str(&why));
	return why.len ? EXIT_USAGE : 0;
}

/*
 * Runs a test and leaves the result in the session; argv[0] is the test's name. Returns BENCH_DONE, and the caller must
 * call end(). Otherwise returns an exit status, and the caller must call quit().
 */
static int measure(const struct bench_test *t, struct bench_session *s, int argc, char **argv)
{
	char kind[64];
	int first;
	auto_buf why = {0};
	*s = (struct bench_session){.o = memory_zeroed(1, sizeof(struct bench_options))};
	*s->o = t->defaults;
	if (t->loads)
		load_list_parse(&s->o->loads, t->loads, &(struct buf){0});
	int status = parse(t->face, s->o, argc, argv, &first);
	if (status != BENCH_DONE)
		return status;
	if (s->o->list)
		return list(t);
	char **words = argv + first;
	size_t n = (size_t)(argc - first);
	snprintf(kind, sizeof(kind), "bench-%s", t->name);
	status = check(t, s->o, words, n);
	if (!status)
		status = begin(s, kind, argc, argv);
	if (!status)
		status = judge(s, t->run(s, words, n, &why), &why);
	return status;
}

/* Frees the session without a result. Returns `status`. */
static int quit(struct bench_session *s, int status)
{
	end_progress(s);
	run_free(&s->run);
	if (s->o)
		vec_free(&s->o->cpus);
	free(s->o);
	return status;
}

/*
 * Prints, saves and draws the result, and frees the session. Returns the exit status, which is EXIT_OWN after a message
 * if s->err is set. If a signal interrupted the test, ends this process by that signal.
 */
static int end(struct bench_session *s)
{
	int status = EXIT_OWN;
	end_progress(s);
	if (s->err)
		diag_error("bench: the measurement failed: %s", diag_error_text(-s->err));
	else {
		results_end(&s->run, &s->start);
		status = display_run(&s->run, "bench", &s->o->show);
	}
	quit(s, status);
	int sig = stop_signal();
	if (sig) {
		/* The signal must end this process, so that its parent process sees why it ended. */
		stop_release();
		raise(sig);
	}
	return status;
}

static int count_ops(int argc, char **argv)
{
	return op_count_run(argc - 2, argv + 2);
}

static int sample_op(int argc, char **argv)
{
	(void)argc;
	return op_sample_write(argv[2], argv[3], STDOUT_FILENO);
}

static int run_suite(int argc, char **argv)
{
	auto_buf why = {0};
	/* If a file would exceed the size limit (SIGXFSZ), only the operation must fail, and not the whole test. */
	outfile_catch_signals();
	int err = suite_run(argv[2], strtoull(argv[3], NULL, 10), argc > 4 ? argv[4] : "", &why);
	if (err)
		diag_error("bench: %s", buf_str(&why));
	return err;
}

/* Internal commands, which sctrace runs in child processes. They return 0 or -errno. argv[0] is "bench". */
static const struct {
	const char *word;
	int (*run)(int argc, char **argv);
} inner[] = {
	{OP_COUNT_WORD, count_ops},
	{OP_SAMPLE_WORD, sample_op},
	{SUITE_WORD, run_suite},
};

static const struct opt options[] = {{BENCH_DIR}, BENCH_OUTPUT_OPTIONS, {0}};
static const char *const usage[] = {"[OPTIONS]", "syscall|switch|sched|latency|load [OPTIONS] ...", NULL};
static const struct opt_command all_face = {
	.name = "sctrace bench",
	.usage = usage,
	.about = "Measures what system calls, context switches, time slices and wake-ups cost on this machine. Without "
		 "the name of a test, it runs a short form of all tests, in less than a minute.",
	.table = options,
	.epilog = "syscall: the cost of single operations\nswitch: the cost of switching from one task to "
		  "another\nsched: how CPU-bound processes share the CPUs\nlatency: how late a timer wakes a task, "
		  "under loads\nload: how much slower a suite or a command runs under loads\n\nEach test has its own "
		  "--help. sctrace-bench(1) explains the results.",
};

void bench_faces(struct opt_command *faces, struct buf *words)
{
	_Static_assert(BENCH_FACES == BENCH_TESTS + 1, "there is a command for each test and one for all of them");
	for (size_t t = 0; t < BENCH_TESTS; t++) {
		struct opt_command *c = &faces[t + 1];
		*c = *bench_tests[t].face;
		if (bench_tests[t].operands)
			bench_tests[t].operands(&words[t + 1]);
		c->operands = words[t + 1].len ? buf_str(&words[t + 1]) : NULL;
		buf_addf(&words[0], "%s%s", t ? " " : "", bench_tests[t].name);
	}
	faces[0] = all_face;
	faces[0].operands = buf_str(&words[0]);
}

/* Runs the short form of a test. Returns 0, or an exit status that ends the command. */
static int run_one(struct bench_session *s, const struct bench_test *t)
{
	struct bench_session part;
	char *argv[BENCH_WORDS_MAX + 4] = {(char *)t->name};
	int argc = 1;
	while (argc <= BENCH_WORDS_MAX && t->shortened[argc - 1]) {
		argv[argc] = (char *)t->shortened[argc - 1];
		argc++;
	}
	argv[argc++] = "--dir";
	argv[argc++] = (char *)s->dir;
	if (s->o->quiet)
		argv[argc++] = "--quiet";
	int status = measure(t, &part, argc, argv);
	if (status != BENCH_DONE)
		return quit(&part, status);
	s->err = part.err;
	if (!s->err)
		results_join(&s->run, &part.run, t->name);
	return quit(&part, 0);
}

/* Prints a message about a word that is not the name of a test. */
static void no_test(const char *word)
{
	auto_buf similar = {0};
	struct near near = {.word = word};
	for (size_t i = 0; i < BENCH_TESTS; i++)
		near_offer(&near, bench_tests[i].name);
	near_say(&near, "sctrace bench ", &similar);
	diag_error("bench: there is no test '%s'; the tests are syscall, switch, sched, latency and load%s", word,
		   buf_str(&similar));
}

/* Runs `sctrace bench` without the name of a test: a short form of each test, and the machine, on one page. */
static int run_all(int argc, char **argv)
{
	struct bench_session s = {.o = memory_zeroed(1, sizeof(struct bench_options))};
	int first;
	int status = parse(&all_face, s.o, argc, argv, &first);
	if (status != BENCH_DONE)
		return quit(&s, status);
	if (first < argc) {
		no_test(argv[first]);
		return quit(&s, EXIT_USAGE);
	}
	status = begin(&s, "bench", argc - 1, argv + 1);
	for (size_t i = 0; i < BENCH_TESTS && !status && !s.err && !stop_signal(); i++)
		status = run_one(&s, &bench_tests[i]);
	return status ? quit(&s, status) : end(&s);
}

int cmd_bench(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < BENCH_TESTS; i++)
		if (strcmp(argv[1], bench_tests[i].name) == 0) {
			struct bench_session s;
			int status = measure(&bench_tests[i], &s, argc - 1, argv + 1);
			return status == BENCH_DONE ? end(&s) : quit(&s, status);
		}
	for (size_t i = 0; argc > 3 && i < sizeof(inner) / sizeof(*inner); i++)
		if (strcmp(argv[1], inner[i].word) == 0)
			return inner[i].run(argc, argv) ? EXIT_OWN : 0;
	return run_all(argc, argv);
}
