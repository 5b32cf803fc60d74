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
	/* If a file exceeds the size limit (SIGXFSZ), only the operation that writes it must fail. */
	outfile_catch_signals();
	int err = suite_run(argv[2], strtoull(argv[3], NULL, 10), argc > 4 ? argv[4] : "", &why);
	if (err)
		diag_error("%s", buf_str(&why));
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

static bool has(const struct opt *rows, size_t n, const struct opt *o)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].name && o->name && strcmp(rows[i].name, o->name) == 0)
			return true;
	return false;
}

void bench_options(struct opt *rows, size_t max)
{
	size_t n = 0;
	for (size_t t = 0; t < sizeof(tests) / sizeof(*tests); t++)
		for (const struct opt *o = tests[t]->face->table; o->letter || o->name || o->help; o++)
			if (o->name && n + 1 < max && !has(rows, n, o))
				rows[n++] = *o;
	rows[n] = (struct opt){0};
}

void bench_names(struct buf *out)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		buf_addf(out, "%s%s", i ? " " : "", tests[i]->name);
}

const struct opt_command *bench_face(size_t i)
{
	return i < sizeof(tests) / sizeof(*tests) ? tests[i]->face : NULL;
}

void bench_operands(size_t i, struct buf *out)
{
	if (tests[i]->operands)
		tests[i]->operands(out);
}

static int run_test(const struct bench_test *t, int argc, char **argv)
{
	struct bench_session s;
	int status = bench_measure(t, &s, argc, argv);
	return status == BENCH_DONE ? bench_end(&s) : bench_quit(&s, status);
}

int cmd_bench(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(tests) / sizeof(*tests); i++)
		if (strcmp(argv[1], tests[i]->name) == 0)
			return run_test(tests[i], argc - 1, argv + 1);
	for (size_t i = 0; argc > 3 && i < sizeof(inner) / sizeof(*inner); i++)
		if (strcmp(argv[1], inner[i].word) == 0)
			return inner[i].run(argc, argv) ? EXIT_OWN : 0;
	return cmd_bench_all(argc, argv);
}
