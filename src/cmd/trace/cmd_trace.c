/* SPDX-License-Identifier: MIT */
#include "cmd/trace/cmd_trace.h"

#include "base/diag.h"
#include "base/outfile.h"
#include "cmd/cmd.h"
#include "cmd/display.h"
#include "out/width.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* `sctrace` itself: traces the calls of a program, or counts them. This file handles the command line. */
#define NAME_COLUMNS 9 /* in --list-engines */

static int print_out(struct buf *text)
{
	int status = display_text(NULL, text);
	buf_free(text);
	return status;
}

/* Lists the engines. The lines are wrapped only on a terminal, because scripts search for whole lines. */
static int list_engines(void)
{
	struct buf text = {0};
	const struct engine_ops *const *e = engine_list();
	int width = isatty(STDOUT_FILENO) ? width_look(STDOUT_FILENO).width : INT_MAX;
	for (size_t i = 0; e[i]; i++) {
		auto_buf why = {0}, state = {0};
		bool works = e[i]->probe(0, &why) == 0;
		buf_addf(&state, "%s%s%s", works ? "works here" : "does not work here", why.len ? ": " : "",
			 buf_str(&why));
		buf_addf(&text, "%-*s", NAME_COLUMNS, e[i]->name);
		buf_add_wrapped(&text, e[i]->purpose, NAME_COLUMNS, NAME_COLUMNS, width);
		buf_fill(&text, ' ', NAME_COLUMNS);
		buf_add_wrapped(&text, buf_str(&state), NAME_COLUMNS, NAME_COLUMNS, width);
	}
	return print_out(&text);
}

/* `sctrace help COMMAND`, for completion. main() handles it. */
static const struct opt no_options[] = {{0}};
static const struct opt_command help_command = {
	.name = "sctrace help", .table = no_options, .operands = "compare bench report show"};

enum { OTHERS = 5 };

/* Appends the completion script of all commands for `shell`. Returns 0, or -EINVAL if the shell is unknown. */
static int completion_script(const char *shell, struct buf *out)
{
	struct opt_command trace = trace_command, show, bench[BENCH_FACES];
	struct opt show_rows[SHOW_OPTIONS];
	const struct opt_command *all[OTHERS + BENCH_FACES] = {&trace, &compare_command, &report_command, &show,
							       &help_command};
	struct buf words[BENCH_FACES] = {0}, sets = {0};
	filter_words(&sets);
	show_face(&show, show_rows);
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

static int print_completion(const char *shell)
{
	struct buf text = {0};
	if (completion_script(shell, &text) == 0)
		return print_out(&text);
	diag_error("there is no completion script for '%s', only for bash, zsh and fish", shell);
	return EXIT_USAGE;
}

/* Some long options of strace do more than those of sctrace. If one was given, suggests letters that do the same. */
static void say_instead(struct buf *why)
{
	static const struct {
		const char *refused, *instead;
	} spellings[] = {
		{"--strings-in-hex takes", "-x, or -xx for all strings"},
		{"--daemonize takes", "-D, -DD (in its own process group) or -DDD (in its own session)"},
		{"--interruptible: '", "1, 2, 3 or 4"},
	};
	for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings); i++)
		if (strstr(buf_str(why), spellings[i].refused))
			buf_addf(why, "; write %s", spellings[i].instead);
}

static int wrong_usage(const struct trace *t, struct buf *why)
{
	const char *name = t->o.truss ? "truss" : "sctrace";
	const char *letter = strstr(buf_str(why), "unknown option '-");
	const char *meaning = letter ? trace_other_dialect(t->o.truss, letter[17]) : NULL;
	if (meaning)
		buf_addf(why, "; in %s, -%c %s", t->o.truss ? "strace" : "FreeBSD truss", letter[17], meaning);
	if (meaning && t->o.truss)
		buf_adds(why, " (to use the letters of strace, run it as sctrace)");
	else if (meaning)
		buf_adds(why, " (to use the letters of truss, run sctrace under the name truss)");
	say_instead(why);
	if (!strchr(buf_str(why), '\n'))
		buf_addf(why, " (see %s --help)", name);
	display_usage_error("", buf_str(why));
	buf_free(why);
	return EXIT_USAGE;
}

int trace_open_outputs(struct trace *t)
{
	auto_buf why = {0};
	/* The file of --save is written at the end, so a path that cannot be written is refused before the program runs. */
	int r = t->o.save ? outfile_check(t->o.save) : 0;
	if (r < 0)
		buf_addf(&why, "cannot save the run as '%s': %s", t->o.save, outfile_why(r));
	t->out.separate = trace_opts_separate(&t->o) ? t->o.output : NULL;
	t->out.program = t->program ? t->program[0] : NULL;
	t->out.append = t->o.append;
	t->out.failure = &t->failure;
	if (r == 0)
		r = trace_out_open(&t->out.common, t->out.separate ? NULL : t->o.output, t->o.append, &why);
	if (r == 0 && t->o.record)
		r = recording_create(&t->writer, t->o.record, t->o.last_set ? &t->o.last : NULL, &why);
	/* --last also keeps the stack of a crash, if stacks can be walked. */
	bool stacks = t->o.stacks || t->o.folded;
	if (r == 0 && !t->recording && (stacks || t->o.last_set))
		r = stack_open(&t->stack, &why) < 0 && stacks ? -ENOSYS : 0;
	if (r == 0)
		return 0;
	diag_error("%s", buf_str(&why));
	trace_out_close(&t->out.common, &why);
	return EXIT_OWN;
}

void trace_say_unused(const struct trace *t)
{
	auto_buf unused = {0};
	trace_opts_unused(&t->o, &unused);
	if (unused.len)
		diag_note("%s prints no calls, so these options have no effect: %s; -C prints the calls as well",
			  t->o.count ? "-c"
			  : t->o.io  ? "--io"
				     : "--tree",
			  buf_str(&unused));
	if (trace_opts_page(&t->o) && t->o.view.format == SUMMARY_CSV && (t->o.count || t->o.count_too))
		diag_note("--format=csv prints a single table, that of the calls; leave out -c for that of %s",
			  t->o.io ? "the files" : "the processes");
}

static int run(struct trace *t)
{
	trace_say_unused(t);
	trace_wire_wants(t);
	int status = trace_open_outputs(t);
	return status ? status : trace_run(t);
}

void trace_free(struct trace *t)
{
	buf_free(&t->failure.why);
	buf_free(&t->choice);
	strings_clear(&t->selection);
	trace_count_free(&t->count);
	trace_folded_free(&t->folded);
	trace_io_free(&t->io);
	trace_tree_free(&t->tree);
	trace_files_free(&t->files);
	trace_seccomp_free(&t->seccomp);
	trace_waiting_free(&t->waiting);
	buf_free(&t->waiting_calls);
	trace_totals_free(&t->totals);
	trace_recorder_free(&t->recorder);
	recording_head_free(&t->head);
	if (t->writer)
		recording_drop(t->writer);
	stack_close(t->stack);
	trace_opts_free(&t->o);
}

static bool called_truss(const char *argv0)
{
	const char *slash = strrchr(argv0, '/');
	return strcmp(slash ? slash + 1 : argv0, "truss") == 0;
}

int cmd_trace(int argc, char **argv)
{
	struct trace t = {0};
	auto_buf why = {0};
	int first = 1;
	trace_opts_init(&t.o);
	recording_head_init(&t.head);
	t.o.truss = argc > 0 && called_truss(argv[0]);
	t.o.view.format = t.o.truss ? SUMMARY_TRUSS : SUMMARY_TEXT;
	const struct opt_command *c = t.o.truss ? &truss_command : &trace_command;
	int status = EXIT_USAGE;
	enum opt_outcome outcome = opt_parse(c, &t.o, argc, argv, &first, &why);
	if (outcome == OPT_ERROR)
		status = wrong_usage(&t, &why);
	else if (outcome != OPT_OK)
		status = display_outcome(c, outcome, "", &why);
	else if (t.o.list_engines)
		status = list_engines();
	else if (t.o.completion)
		status = print_completion(t.o.completion);
	else if (trace_opts_check(&t.o, first < argc, &why) < 0)
		status = wrong_usage(&t, &why);
	else {
		t.program = first < argc ? argv + first : NULL;
		status = run(&t);
	}
	trace_free(&t);
	return status;
}
