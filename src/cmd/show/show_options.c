/* SPDX-License-Identifier: MIT */
/* The options of `sctrace show`: its own, and those of the tracer. */
#include "base/buf.h"
#include "cmd/cmd.h"
#include "cmd/trace/opts.h"

#include <string.h>

/* Options of the tracer that `sctrace show` rejects, because they have no meaning for a recording. */
static const char *const refused[] = {
	"attach",        "cgroup",       "all",        "user",          "env",    "argv0",
	"daemonize",     "kill-on-exit", "detach-on",  "interruptible", "engine", "pin",
	"list-engines",  "inject",       "fault",      "record",        "last",   "interval",
	"syscall-limit", "follow-forks", "completion", "namespace",     "comm",   "uid",
};

static bool is_refused(const struct opt *o)
{
	for (size_t i = 0; o->name && i < sizeof(refused) / sizeof(*refused); i++)
		if (strcmp(o->name, refused[i]) == 0)
			return true;
	return false;
}

/* Returns true if all options below the heading are rejected. */
static bool is_empty(const struct opt *heading)
{
	const struct opt *o = heading + 1;
	while ((o->letter || o->name) && is_refused(o))
		o++;
	return !o->letter && !o->name;
}

static const char *const usage[] = {"[OPTIONS] RECORDING", "--diff [OPTIONS] RECORDING RECORDING",
				    "--profile=seccomp [OPTIONS] RECORDING...", NULL};

static const struct opt own[] = {
	{.help = "Which part:"},
	{0, "last", "N", opt_int, "show only the last N calls of each thread",
	 .offset = offsetof(struct trace_opts, show_last), .min = 1, .max = 1 << 30},
	{0, "since", "DURATION", opt_duration, "show only what happened later than this after the start, such as 1.5s",
	 .offset = offsetof(struct trace_opts, since_ns)},
	{0, "until", "DURATION", opt_duration, "show only what happened earlier than this after the start",
	 .offset = offsetof(struct trace_opts, until_ns)},
	{0, "pid", "PID[,PID...]", trace_opt_show_ids, "show only these processes"},
	{0, "tid", "TID[,TID...]", trace_opt_show_ids, "show only these threads"},
	{.help = "Comparison:"},
	{0, "diff", NULL, opt_flag,
	 "compare two recordings: show calls that were removed or added, that fail, or that are slower",
	 .offset = offsetof(struct trace_opts, diff)},
	{0},
};

/* Options whose help text in `sctrace show` differs from that of the tracer. */
static const struct {
	char letter;
	const char *help, *words;
} other[] = {
	{'e',
	 "trace=SET (or just SET), status=, errno=, signal=, fds=; a SET is a list of names, %groups, /regex, all, "
	 "none; !SET: all others",
	 "trace status errno signal trace-fds read write abbrev verbose raw quiet decode-fds decode-pids"},
	{'o', "write to FILE instead of standard output; |COMMAND writes to a command", NULL},
};

static void adapt(struct opt *o)
{
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		if (o->letter == other[i].letter) {
			o->help = other[i].help;
			o->words = other[i].words;
		}
}

/* Appends the rows of `table` to `rows`: all, or only those that --help shows. Returns the number of rows. */
static size_t add_rows(struct opt *rows, size_t n, const struct opt *table, bool all)
{
	for (const struct opt *o = table; !opt_is_end(o) && n + 1 < SHOW_OPTIONS; o++)
		if (all || (o->letter || o->name ? !is_refused(o) : !is_empty(o)))
			rows[n++] = *o;
	rows[n] = (struct opt){0};
	return n;
}

void show_face(struct opt_command *c, struct opt *rows)
{
	size_t n = add_rows(rows, 0, trace_command.table, false);
	for (size_t i = 0; i < n; i++)
		adapt(&rows[i]);
	add_rows(rows, n, own, true);
	*c = (struct opt_command){
		.name = "sctrace show",
		.usage = usage,
		.about = "Prints a recording that sctrace --record made, with the options of a live trace.",
		.table = rows,
		.epilog = "RECORDING is a file, or - for standard input. See sctrace-show(1), sctrace-recording(5).",
	};
}

void show_all_options(struct opt_command *c, struct opt *rows)
{
	/* The own rows come first, because the tracer has another option --last. */
	size_t n = add_rows(rows, 0, own, true);
	add_rows(rows, n, trace_command.table, true);
	*c = (struct opt_command){.name = "sctrace show", .table = rows};
}

int show_check(struct trace_opts *o, struct buf *why)
{
	const struct option_rule rules[] = {
		{o->pids.n || o->cgroup || o->all,
		 "-p, --cgroup and --all select running processes and cannot be used with a recording"},
		{o->user || o->argv0 || o->env.n || o->daemonize || o->kill_on_exit || o->pin || o->interruptible,
		 "-u, -E, --argv0, -D, -I, --kill-on-exit and --pin need a program to run and cannot be used with a "
		 "recording"},
		{o->injects.rules.n || o->break_execve,
		 "-e inject, -e fault and -b change a running program and cannot be used with a recording"},
		{o->engine || o->list_engines,
		 "--engine cannot be used with a recording: the engine was chosen when the recording was made"},
		{o->look.namespaces || (o->look.outer_ids && !o->look.pid_names),
		 "a recording does not contain the namespaces that -e namespace=new and --decode-pids=pidns print"},
		{o->record || o->last_set, "--record and --last cannot be used with a recording; use cp(1) to copy it"},
		{conditions_use_main(&o->expect),
		 "main: in --expect cannot be used with a recording, which does not contain the start of main"},
		{o->diff && (o->count || o->count_too || o->io || o->save || o->folded || o->stacks ||
			     o->format == TRACE_PERFETTO),
		 "--diff prints its own table, or JSON; -c, -C, --io, --save, -k, --stacks and --format=perfetto "
		 "cannot be used with it"},
		{o->interval_ns, "--interval cannot be used with a recording, which is counted as a whole"},
		{o->completion, "--completion is an option of sctrace itself; write sctrace --completion=SHELL"},
	};
	int err = option_rules(rules, sizeof(rules) / sizeof(*rules), "", why);
	return err ? err : trace_opts_check(o, true, why);
}
