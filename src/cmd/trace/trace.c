/* sctrace itself: traces a program's calls, or counts them. Here: the command line, and what is asked put together. */
#include "trace/trace.h"

#include "base/diag.h"
#include "base/escape.h"
#include "cmd/cmd.h"
#include "cmd/put.h"
#include "out/term.h"
#include "syscall/table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line as any error; what follows (the text with a caret under a word) below it. */
static void say_error(const char *text)
{
	size_t len = strcspn(text, "\n");
	diag_error("%.*s", (int)len, text);
	struct buf rest = {0};
	for (const char *p = text + len; *p;) {
		size_t n = strcspn(++p, "\n");
		escape_line(&rest, p, n);
		buf_addc(&rest, '\n');
		p += n;
	}
	if (rest.len && write(STDERR_FILENO, rest.s, rest.len) < 0)
		(void)0;
	buf_free(&rest);
}

/* Writes to standard output; EXIT_OWN where that fails. */
static int print_out(struct buf *text)
{
	int status = put_text(NULL, text);
	buf_free(text);
	return status;
}

static int print_help(const struct opt_command *c)
{
	struct buf help = {0};
	struct table_look look = term_look(STDOUT_FILENO);
	opt_help(c, &help, look.width, look.colour);
	return print_out(&help);
}

static int list_engines(void)
{
	struct buf text = {0};
	const struct engine_ops *const *e = engine_list();
	for (size_t i = 0; e[i]; i++) {
		struct buf why = {0};
		bool works = e[i]->probe(0, &why) == 0;
		buf_addf(&text, "%-8s %s\n%-8s %s%s%s\n", e[i]->name, e[i]->purpose, "",
			 works ? "works here" : "does not work here", why.len ? ": " : "", buf_str(&why));
		buf_free(&why);
	}
	return print_out(&text);
}

/* The faces of all commands; `bench` completes the options of all its tests. */
static int print_completion(const char *shell)
{
	struct opt bench_rows[64];
	struct buf tests = {0};
	bench_names(&tests);
	const struct opt_command bench = {.name = "sctrace bench",
					  .about = "Measure this machine",
					  .table = bench_rows,
					  .operands = buf_str(&tests)};
	const struct opt_command *const all[] = {&trace_command, &compare_command, &bench, &report_command};
	struct buf text = {0};
	bench_options(bench_rows, sizeof(bench_rows) / sizeof(*bench_rows));
	int err = opt_completion(all, sizeof(all) / sizeof(*all), shell, &text);
	buf_free(&tests);
	if (err == 0)
		return print_out(&text);
	diag_error("there is no completion for '%s'; there is for bash, zsh and fish", shell);
	return EXIT_USAGE;
}

/* Where strace's long names do more than ours: the letters that do the same. */
static void say_instead(struct buf *why)
{
	static const struct {
		const char *refused, *instead;
	} spellings[] = {
		{"--absolute-timestamps takes", "-t, -tt (microseconds) or -ttt (since the Epoch)"},
		{"--relative-timestamps takes", "-r, which has microseconds"},
		{"--syscall-times takes", "-T, which has microseconds"},
		{"--strings-in-hex takes", "-x, or -xx for all strings"},
		{"--daemonize takes", "-D, -DD (in its own process group) or -DDD (in its own session)"},
		{"--interruptible: '", "1, 2, 3 or 4"},
		{"'--output-separately'", "-ff"},
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
		buf_addf(why, "; in %s's dialect -%c %s", t->o.truss ? "strace" : "FreeBSD truss", letter[17], meaning);
	if (meaning && t->o.truss)
		buf_adds(why, " (use the name sctrace for those letters)");
	else if (meaning)
		buf_adds(why, " (the name truss brings those letters)");
	say_instead(why);
	if (!strchr(buf_str(why), '\n'))
		buf_addf(why, " (%s --help tells more)", name);
	say_error(buf_str(why));
	buf_free(why);
	return EXIT_USAGE;
}

/* Which calls the engine need stop at; calls that end others' restarts and handlers belong to those. */
static void choose_only(struct trace *t)
{
	static const char *const always[] = {"restart_syscall", "rt_sigreturn"};
	memset(&t->only, 0xff, sizeof(t->only));
	if (!t->o.select.by_call)
		return;
	memcpy(t->only.bits, t->o.select.calls.native, sizeof(t->o.select.calls.native));
	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++) {
		int64_t nr = syscall_number(syscall_native_arch(), always[i]);
		if (nr >= 0 && nr < CALL_SET_MAX)
			t->only.bits[nr / 64] |= UINT64_C(1) << (nr % 64);
	}
}

/* Does counting need to see each call, or can the engine's own counts do? */
static bool needs_events(const struct trace_opts *o)
{
	bool grouped = o->by && (strcmp(o->by, "fd") == 0 || strcmp(o->by, "path") == 0);
	return grouped || trace_select_needs_exit(&o->select) || o->select.paths.n || o->select.fds.n || o->count_too ||
	       o->folded;
}

static void choose_sink(struct trace *t)
{
	static const struct trace_sink *const sinks[] = {[TRACE_TEXT] = &trace_text_sink,
							 [TRACE_JSON] = &trace_json_sink,
							 [TRACE_PERFETTO] = &trace_perfetto_sink};
	t->by_events = (t->o.count || t->o.count_too) && needs_events(&t->o);
	if (t->o.count)
		return;
	t->sink = t->o.folded ? NULL : t->o.truss ? &trace_truss_sink : sinks[t->o.format];
	if (t->o.folded)
		t->by_events = true;
}

static bool wants_colour(const struct trace *t)
{
	const char *when = t->o.color ? t->o.color : "auto";
	if (strcmp(when, "auto") != 0)
		return strcmp(when, "never") != 0;
	return term_look(t->out.fd).colour;
}

static int run(struct trace *t)
{
	struct buf why = {0};
	bool separate = t->o.follow > 1 && !t->o.truss;
	choose_only(t);
	choose_sink(t);
	int r = trace_out_open(&t->out, separate ? NULL : t->o.output, t->o.append, &why);
	if (r == 0)
		r = trace_stack_open(t, &why);
	if (r < 0) {
		diag_error("%s", buf_str(&why));
		trace_out_close(&t->out, &why);
		buf_free(&why);
		return EXIT_OWN;
	}
	t->colour = wants_colour(t);
	return trace_run(t);
}

static bool called_truss(const char *argv0)
{
	const char *slash = strrchr(argv0, '/');
	return strcmp(slash ? slash + 1 : argv0, "truss") == 0;
}

static void use_truss(struct trace *t)
{
	t->o.truss = true;
	t->o.view.format = SUMMARY_TRUSS;
}

int cmd_trace(int argc, char **argv)
{
	struct trace t = {0};
	struct buf why = {0};
	int first = 1;
	trace_opts_init(&t.o);
	if (argc > 0 && called_truss(argv[0]))
		use_truss(&t);
	const struct opt_command *c = t.o.truss ? &truss_command : &trace_command;
	int status = EXIT_USAGE;
	enum opt_outcome outcome = opt_parse(c, &t.o, argc, argv, &first, &why);
	if (outcome == OPT_HELP)
		status = print_help(c);
	else if (outcome == OPT_VERSION)
		status = put_version();
	else if (outcome == OPT_ERROR)
		status = wrong_usage(&t, &why);
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
	buf_free(&why);
	buf_free(&t.why);
	map_free(&t.groups);
	summary_free(&t.summary);
	summary_free(&t.period);
	trace_opts_free(&t.o);
	return status;
}
