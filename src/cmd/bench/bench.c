#include "cmd/bench/bench.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/outfile.h"
#include "bench/op_count.h"
#include "bench/suite.h"
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
