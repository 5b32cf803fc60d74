#include "cmd/bench/cmd_bench.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "base/words.h"
#include "bench/loads.h"
#include "bench/op_count.h"
#include "bench/stop.h"
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct bench_test *const tests[] = {
	&bench_syscall_test, &bench_switch_test, &bench_sched_test, &bench_latency_test, &bench_load_test,
};
#define TESTS (sizeof(tests) / sizeof(*tests))

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
	struct buf why = {0};
	/* If a file would exceed the size limit (SIGXFSZ), only the operation must fail, and not the whole test. */
	outfile_catch_signals();
	int err = suite_run(argv[2], strtoull(argv[3], NULL, 10), argc > 4 ? argv[4] : "", &why);
	if (err)
		diag_error("bench: %s", buf_str(&why));
	buf_free(&why);
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

void bench_faces(struct opt_command *faces, struct buf *words)
{
	_Static_assert(BENCH_FACES == TESTS + 1, "there is a command for each test and one for all of them");
	for (size_t t = 0; t < TESTS; t++) {
		struct opt_command *c = &faces[t + 1];
		*c = *tests[t]->face;
		if (tests[t]->operands)
			tests[t]->operands(&words[t + 1]);
		c->operands = words[t + 1].len ? buf_str(&words[t + 1]) : NULL;
		buf_addf(&words[0], "%s%s", t ? " " : "", tests[t]->name);
	}
	faces[0] = bench_all_face;
	faces[0].operands = buf_str(&words[0]);
}

int cmd_bench(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < TESTS; i++)
		if (strcmp(argv[1], tests[i]->name) == 0) {
			struct bench_session s;
			int status = bench_measure(tests[i], &s, argc - 1, argv + 1);
			return status == BENCH_DONE ? bench_end(&s) : bench_quit(&s, status);
		}
	for (size_t i = 0; argc > 3 && i < sizeof(inner) / sizeof(*inner); i++)
		if (strcmp(argv[1], inner[i].word) == 0)
			return inner[i].run(argc, argv) ? EXIT_OWN : 0;
	return cmd_bench_all(argc, argv);
}

/* Runs `sctrace bench` without the name of a test: a short form of each test, and the machine, on one page. */
#define WORDS_MAX 32

/* The short form of each test: the arguments that a user would type for it. */
static const struct shortened {
	const struct bench_test *test;
	const char *words[WORDS_MAX];
} shortened[] = {
	{&bench_syscall_test,
	 {"--runs=200", "loop", "getpid", "monotonic", "monotonic-raw", "read-zero", "read-file", "fgets-1",
	  "write-null", "stat", "open-close", "pipe", "mmap", "page-fault", "signal", "thread", "fork", "spawn"}},
	{&bench_switch_test, {"--runs=50", "--time=200ms", "pipe", "futex-thread", "yield", "ucontext", "bare"}},
	{&bench_sched_test, {"--runs=1", "--time=200ms"}},
	{&bench_latency_test, {"--time=2s", "--loads=none,cpu,disk"}},
	{&bench_load_test, {"--runs=2", "--loads=none,net,disk"}},
};
#define ALL_TESTS (sizeof(shortened) / sizeof(*shortened))

static const struct opt options[] = {{BENCH_DIR}, BENCH_OUTPUT_OPTIONS, {0}};
static const char *const usage[] = {"[OPTIONS]", "syscall|switch|sched|latency|load [OPTIONS] ...", NULL};
const struct opt_command bench_all_face = {
	.name = "sctrace bench",
	.usage = usage,
	.about = "Measures what system calls, context switches, time slices and wake-ups cost on this machine. Without "
		 "the "
		 "name of a test, it runs a short form of all tests, in less than a minute.",
	.table = options,
	.epilog = "syscall: the cost of single operations\nswitch: the cost of switching from one task to "
		  "another\nsched: how CPU-bound processes share the CPUs\nlatency: how late a timer wakes a task, "
		  "under loads\nload: how much slower a suite or a command runs under loads\n\nEach test has its own "
		  "--help. sctrace-bench(1) explains the results.",
};

/* Runs one test. Returns 0, or an exit status that ends the command. */
static int run_one(struct bench_session *s, const struct shortened *p)
{
	struct bench_session part;
	char *argv[WORDS_MAX + 4] = {(char *)p->test->name};
	int argc = 1;
	while (argc <= WORDS_MAX && p->words[argc - 1]) {
		argv[argc] = (char *)p->words[argc - 1];
		argc++;
	}
	argv[argc++] = "--dir";
	argv[argc++] = (char *)s->dir;
	if (s->o->quiet)
		argv[argc++] = "--quiet";
	int status = bench_measure(p->test, &part, argc, argv);
	if (status != BENCH_DONE)
		return bench_quit(&part, status);
	s->err = part.err;
	if (!s->err)
		results_join(&s->run, &part.run, p->test->name);
	return bench_quit(&part, 0);
}

/* Prints a message about a word that is not the name of a test. */
static void no_test(const char *word)
{
	struct near near;
	struct buf similar = {0};
	near_init(&near, word);
	for (size_t i = 0; i < ALL_TESTS; i++)
		near_offer(&near, shortened[i].test->name);
	near_say(&near, "sctrace bench ", &similar);
	diag_error("bench: there is no test '%s'; the tests are syscall, switch, sched, latency and load%s", word,
		   buf_str(&similar));
	buf_free(&similar);
}

int cmd_bench_all(int argc, char **argv)
{
	struct bench_session s = {.o = memory_zeroed(1, sizeof(struct bench_options))};
	int first;
	int status = bench_parse(&bench_all_face, s.o, argc, argv, &first);
	if (status != BENCH_DONE)
		return bench_quit(&s, status);
	if (first < argc) {
		no_test(argv[first]);
		return bench_quit(&s, EXIT_USAGE);
	}
	status = bench_begin(&s, "bench", argc - 1, argv + 1);
	for (size_t i = 0; i < ALL_TESTS && !status && !s.err && !stop_signal(); i++)
		status = run_one(&s, &shortened[i]);
	return status ? bench_quit(&s, status) : bench_end(&s);
}
