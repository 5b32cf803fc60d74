/* Runs `sctrace bench` without the name of a test: a short form of each test, and the machine, on one page. */
#include "cmd/bench/bench.h"

#include "base/diag.h"
#include "base/memory.h"
#include "base/near.h"
#include "bench/stop.h"

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
#define TESTS (sizeof(shortened) / sizeof(*shortened))

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
	for (size_t i = 0; i < TESTS; i++)
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
	for (size_t i = 0; i < TESTS && !status && !s.err && !stop_signal(); i++)
		status = run_one(&s, &shortened[i]);
	return status ? bench_quit(&s, status) : bench_end(&s);
}
