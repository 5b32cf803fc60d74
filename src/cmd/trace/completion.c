/* Shell completion for all commands. */
#include "cmd/trace/trace.h"

#include "base/buf.h"
#include "cmd/cmd.h"

enum { TESTS_MAX = 16 };

int completion_script(const char *shell, struct buf *out)
{
	struct opt_command trace = trace_command;
	struct opt rows[64], show_rows[SHOW_OPTIONS];
	struct opt_command show;
	struct opt_command bench = {.name = "sctrace bench", .about = "Measure this machine", .table = rows};
	const struct opt_command *all[5 + TESTS_MAX] = {&trace, &compare_command, &report_command, &show, &bench};
	struct opt_command tests[TESTS_MAX];
	struct buf operands[TESTS_MAX] = {0};
	struct buf sets = {0}, names = {0};
	size_t n = 5;
	filter_words(&sets);
	show_face(&show, show_rows, SHOW_OPTIONS);
	trace.set_words = show.set_words = buf_str(&sets);
	/* The completion of `bench` without the name of a test offers the options of all tests. */
	bench_options(rows, sizeof(rows) / sizeof(*rows));
	bench_names(&names);
	bench.operands = buf_str(&names);
	for (size_t i = 0; i < TESTS_MAX && bench_face(i); i++) {
		bench_operands(i, &operands[i]);
		tests[i] = *bench_face(i);
		tests[i].operands = operands[i].len ? buf_str(&operands[i]) : NULL;
		all[n++] = &tests[i];
	}
	int err = opt_completion(all, n, shell, out);
	for (size_t i = 0; i < TESTS_MAX; i++)
		buf_free(&operands[i]);
	buf_free(&names);
	buf_free(&sets);
	return err;
}
