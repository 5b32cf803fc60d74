/* Shell completion for all commands. */
#include "cmd/trace/cmd_trace.h"

#include "base/buf.h"
#include "cmd/cmd.h"

enum { OTHERS = 4 };

int completion_script(const char *shell, struct buf *out)
{
	struct opt_command trace = trace_command, show, bench[BENCH_FACES];
	struct opt show_rows[SHOW_OPTIONS];
	const struct opt_command *all[OTHERS + BENCH_FACES] = {&trace, &compare_command, &report_command, &show};
	struct buf words[BENCH_FACES] = {0}, sets = {0};
	filter_words(&sets);
	show_face(&show, show_rows, SHOW_OPTIONS);
	trace.set_words = show.set_words = buf_str(&sets);
	bench_faces(bench, words);
	for (size_t i = 0; i < BENCH_FACES; i++)
		all[OTHERS + i] = &bench[i];
	int err = opt_completion(all, OTHERS + BENCH_FACES, shell, out);
	for (size_t i = 0; i < BENCH_FACES; i++)
		buf_free(&words[i]);
	buf_free(&sets);
	return err;
}
