#include "cmd/trace_opts.h"

#include "base/buf.h"
#include "base/near.h"
#include "base/size.h"
#include "engine/engine.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) .offset = offsetof(struct trace_opts, member)

/*
 * Says in `why` what is wrong with the word at `at` of `text`, and below it, on two further lines, the text with a caret
 * under that word. The command prints the lines apart (trace.c).
 */
static int point_at(const char *text, size_t at, int r, struct buf *why)
{
	if (r < 0 && why->len) {
		buf_addf(why, "\n  %s\n  ", text);
		buf_fill(why, ' ', at);
		buf_addc(why, '^');
	}
	return r;
}

typedef int select_fn(struct trace_select *s, const char *text, size_t *at, struct buf *why);

static int parse_inject(struct trace_opts *o, const char *text, bool fault, size_t *at, struct buf *why)
{
	return trace_inject_parse(&o->injects, text, fault, at, why);
}

/* What may stand before the "=" of -e; abbrev, verbose, raw, quiet and decode-fds change the look alone. */
static const struct {
	const char *name;
	select_fn *select;
} qualifiers[] = {
	{"trace", trace_select_calls},     {"t", trace_select_calls},       {"signal", trace_select_signals},
	{"signals", trace_select_signals}, {"s", trace_select_signals},     {"status", trace_select_status},
	{"errno", trace_select_errnos},    {"trace-fds", trace_select_fds}, {"fds", trace_select_fds},
	{"fd", trace_select_fds},
};

static int opt_look(struct trace_opts *o, const char *name, size_t len, const char *value)
{
	if (len == 3 && memcmp(name, "raw", 3) == 0)
		o->raw = strcmp(value, "none") != 0;
	else if ((len == 6 && memcmp(name, "abbrev", 6) == 0) || (len == 1 && name[0] == 'a'))
		o->verbose_count = strcmp(value, "none") == 0;
	else if ((len == 7 && memcmp(name, "verbose", 7) == 0) || (len == 1 && name[0] == 'v'))
		o->raw = strcmp(value, "none") == 0 || o->raw;
	else if ((len == 5 && memcmp(name, "quiet", 5) == 0) || (len == 1 && name[0] == 'q'))
		o->quiet = strcmp(value, "none") == 0 ? 0 : strcmp(value, "all") == 0 ? 3 : 2;
	else if ((len == 10 && (memcmp(name, "decode-fds", 10) == 0 || memcmp(name, "decode-fd", 9) == 0)))
		o->fd_names = strcmp(value, "none") == 0 ? 0 : strcmp(value, "path") == 0 ? 1 : 2;
	else
		return -EINVAL;
	return 0;
}

static int opt_expr(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	size_t len = strcspn(arg, "=");
	size_t at = 0;
	if (!arg[len])
		return point_at(arg, at, trace_select_calls(&o->select, arg, &at, why) < 0 ? -EINVAL : 0, why);
	const char *value = arg + len + 1;
	size_t from = len + 1;
	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++) {
		if (strlen(qualifiers[i].name) != len || memcmp(qualifiers[i].name, arg, len) != 0)
			continue;
		int r = qualifiers[i].select(&o->select, value, &at, why);
		return point_at(arg, from + at, r, why);
	}
	bool fault = len == 5 && memcmp(arg, "fault", 5) == 0;
	if (fault || (len == 6 && memcmp(arg, "inject", 6) == 0)) {
		int r = parse_inject(o, value, fault, &at, why);
		return point_at(arg, from + at, r, why);
	}
	if (opt_look(o, arg, len, value) == 0)
		return 0;
	buf_addf(
		why,
		"'%.*s' is no kind of choice; there are trace, status, errno, signal, fds, inject, fault, raw, abbrev, "
		"quiet, decode-fds",
		(int)len, arg);
	return point_at(arg, 0, -EINVAL, why);
}

/* The long forms --trace=SET, --status=SET and so on: the name is the qualifier. */
static int opt_named_expr(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct buf text = {0};
	buf_addf(&text, "%s=%s", row->name, arg);
	int r = opt_expr(ctx, row, buf_str(&text), why);
	buf_free(&text);
	return r;
}

static int opt_successful(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)arg;
	(void)why;
	((struct trace_opts *)ctx)->select.status = row->letter == 'z' ? STATUS_SUCCESSFUL : STATUS_FAILED;
	return 0;
}

static int opt_path(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	if (!arg[0]) {
		buf_adds(why, "a path is missing");
		return -EINVAL;
	}
	return trace_select_path(&o->select, arg);
}

static int opt_pids(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	const char *p = arg;
	for (;;) {
		char *end;
		long pid = strtol(p, &end, 10);
		if (end == p || pid <= 0 || pid > INT_MAX || !strchr(", \n\t", *end)) {
			buf_addf(why, "'%s' is no process; write its number, or several as 12,34", arg);
			return -EINVAL;
		}
		if (!vec_push(&o->pids, (pid_t)pid))
			return -ENOMEM;
		p = end + strspn(end, ", \n\t");
		if (!*p)
			return 0;
	}
}

static int opt_engine(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	struct near near;
	(void)row;
	o->engine = arg;
	if (strcmp(arg, "auto") == 0 || engine_find(arg))
		return 0;
	near_init(&near, arg);
	buf_addf(why, "there is no engine '%s' in this build; there are auto", arg);
	for (const struct engine_ops *const *e = engine_list(); *e; e++) {
		buf_addf(why, ", %s", (*e)->name);
		near_offer(&near, (*e)->name);
	}
	near_say(&near, "", why);
	return -EINVAL;
}

static int opt_env(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	if (arg[0] == '=' || !arg[0]) {
		buf_addf(why, "'%s' names no variable; write NAME=VALUE, or NAME to take it away", arg);
		return -EINVAL;
	}
	return vec_push(&o->env, arg) ? 0 : -ENOMEM;
}

static int opt_break(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)row;
	if (strcmp(arg, "execve") != 0) {
		buf_addf(why, "'%s' is nothing to detach at; only execve is", arg);
		return -EINVAL;
	}
	((struct trace_opts *)ctx)->break_execve = true;
	return 0;
}

static int opt_columns(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)row;
	return summary_columns_parse(arg, &((struct trace_opts *)ctx)->view.columns, why);
}

static int opt_sort(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)row;
	int r = summary_sort_parse(arg, &((struct trace_opts *)ctx)->view.sort, why);
	if (r < 0)
		buf_adds(why,
			 " (-S sorts here; the -S that hides signals is FreeBSD truss's: run sctrace under the name "
			 "truss, or write -e signal=none)");
	return r;
}

static int opt_format(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	if (strcmp(arg, "perfetto") == 0) {
		o->format = TRACE_PERFETTO;
		return 0;
	}
	int r = summary_format_parse(arg, &o->view.format, why);
	if (r < 0)
		return r;
	o->format = o->view.format == SUMMARY_JSON ? TRACE_JSON : TRACE_TEXT;
	return 0;
}

static int opt_json(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	return opt_format(ctx, row, arg ? arg : "json", why);
}

static int opt_interval(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	int r = opt_duration(ctx, row, arg, why);
	if (r == 0 && o->interval_ns < 10000000) {
		buf_adds(why, "the least interval is 10ms");
		return -EINVAL;
	}
	return r;
}

/* -O: a number is microseconds, as strace has it. */
static int opt_overhead(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	int64_t us;
	int r = number_parse(arg, 0, 1000000, &us);
	if (r == 0)
		o->overhead_ns = (uint64_t)us * 1000;
	else
		r = duration_parse(arg, &o->overhead_ns);
	if (r < 0)
		buf_addf(why, "'%s' is no cost of a call; write 20 (microseconds) or 20us", arg);
	o->overhead_set = true;
	return r < 0 ? -EINVAL : 0;
}

/* Letters that need nothing here: -w (times are wall-clock time anyway), -F (an old spelling of -f). */
static int opt_nothing(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)ctx;
	(void)row;
	(void)arg;
	(void)why;
	return 0;
}

static const struct opt trace_table[] = {
	{.help = "Whom to trace:"},
	{'f', "follow-forks", NULL, opt_count, "children too; -ff with -o FILE: a file FILE.PID each", AT(follow)},
	{'p', "attach", "PID[,PID...]", opt_pids, "running processes with all their threads; Ctrl-C lets them go", 0,
	 COMPLETE_PID},
	{0, "cgroup", "PATH", opt_string, "count a whole control group, by the bpf engine", AT(cgroup), COMPLETE_FILE},
	{0, "all", NULL, opt_flag, "count every process of the system, by the bpf engine", AT(all)},
	{'u', "user", "USER", opt_string, "run the program as USER", AT(user), COMPLETE_USER},
	{'E', "env", "VAR[=VALUE]", opt_env, "set VAR for the program, or take it away"},
	{0, "argv0", "NAME", opt_string, "tell the program that it is called NAME", AT(argv0)},
	{'D', "daemonize", NULL, opt_flag, "stay out of the way: the program is the direct child of the shell",
	 AT(daemonize)},
	{0, "kill-on-exit", NULL, opt_flag, "kill the program when sctrace dies", AT(kill_on_exit)},
	{'b', "detach-on", "execve", opt_break, "let go of a process when it runs another program",
	 .complete = COMPLETE_WORDS, .words = "execve"},
	{'I', "interruptible", "N", opt_int,
	 "which signals end sctrace: 1 and 2 all, 3 none, 4 none, nor does Ctrl-Z stop it", AT(interruptible), .min = 1,
	 .max = 4},
	{0, "engine", "NAME", opt_engine, "how to trace: auto, or one of --list-engines", 0, COMPLETE_WORDS,
	 "auto ptrace patch bpf"},
	{0, "list-engines", NULL, opt_flag, "say which engines there are and whether they work here", AT(list_engines)},
	{0, "pin", NULL, opt_flag, "tracer and program on one CPU: faster stops, but it changes the program", AT(pin)},

	{.help = "Which calls:"},
	{'e', NULL, "EXPR", opt_expr,
	 "trace=SET (or SET alone), status=, errno=, signal=, fds=, inject=; a SET is names, %groups, /regex, all, "
	 "none, "
	 "after ! the others"},
	{0, "trace", "SET", opt_named_expr,
	 "these calls: openat,%network,/^sched_; !SET: all others; ?NAME: if it exists"},
	{0, "status", "SET", opt_named_expr, "calls that ended so: successful, failed, unfinished",
	 .complete = COMPLETE_WORDS, .words = "successful failed unfinished unavailable detached"},
	{0, "errno", "LIST", opt_named_expr, "calls that failed with one of these: ENOENT,EACCES"},
	{0, "signal", "SET", opt_named_expr, "these signals; none: no signals"},
	{'z', "successful-only", NULL, opt_successful, "calls that succeeded"},
	{'Z', "failed-only", NULL, opt_successful, "calls that failed"},
	{'P', "trace-path", "PATH", opt_path, "calls that touch PATH; PATH/...: or anything below it",
	 .complete = COMPLETE_FILE},
	{0, "trace-fds", "LIST", opt_named_expr, "calls that touch these descriptors: 0,1,2"},
	{0, "slower", "DURATION", opt_duration, "calls that took longer: 10ms",
	 offsetof(struct trace_opts, select.slower_ns)},
	{0, "inject", "SET:ACTION", opt_named_expr,
	 "tamper: error=ENOSPC, retval=N, signal=S, delay_enter=D, delay_exit=D, each with :when=N+K"},
	{0, "fault", "SET[:ACTION]", opt_named_expr, "the same, error=ENOSYS where nothing is said"},

	{.help = "How a trace looks:"},
	{'o', "output", "FILE", opt_string, "write to FILE instead of standard error; |COMMAND: into a command",
	 AT(output), COMPLETE_FILE},
	{'A', "output-append-mode", NULL, opt_flag, "append to FILE", AT(append)},
	{'t', "absolute-timestamps", NULL, opt_count, "time of day; -tt: with microseconds; -ttt: since the Epoch",
	 AT(clock)},
	{'r', "relative-timestamps", NULL, opt_flag, "time since the call before", AT(relative)},
	{'T', "syscall-times", NULL, opt_flag, "time spent in each call, tracing cost taken out", AT(durations)},
	{'n', "syscall-number", NULL, opt_flag, "the call's number", AT(numbers)},
	{'i', "instruction-pointer", NULL, opt_flag, "the address of the call", AT(addresses)},
	{'y', "decode-fds", NULL, opt_count, "what descriptors are; -yy: sockets' addresses too", AT(fd_names)},
	{'k', "stack-trace", NULL, opt_flag, "the functions that led to each call", AT(stacks)},
	{0, "stacks", "folded[,time]", opt_string, "stacks added up for flame graphs, weighted by calls or by time",
	 AT(folded)},
	{'s', "string-limit", "N", opt_int, "show N bytes of strings (32)", AT(string_max), .min = 0, .max = 1 << 24},
	{'x', "strings-in-hex", NULL, opt_count, "strings that cannot be printed in hex; -xx: all", AT(hex)},
	{'v', "no-abbrev", NULL, opt_count, "structures in full", AT(verbose_count)},
	{'a', "columns", "N", opt_int, "put results at column N (40)", AT(column), .min = 0, .max = 1000},
	{'q', "quiet", NULL, opt_count, "no messages of attaching; -qq: nor of exits; -qqq: nothing but calls",
	 AT(quiet)},
	{0, "json", NULL, opt_json, "an object a line, see sctrace-trace(5)"},
	{0, "format", "FORMAT", opt_format, "json or perfetto; with -c: text, wide, truss, strace, csv, markdown, json",
	 0, COMPLETE_WORDS, "text wide truss strace csv markdown json perfetto"},
	{0, "color", "[WHEN]", opt_word, "auto (on a terminal), always, never", AT(color), COMPLETE_WORDS,
	 "auto always never"},

	{.help = "Summaries:"},
	{'c', "summary-only", NULL, opt_flag, "count and time the calls instead of showing them", AT(count)},
	{'C', "summary", NULL, opt_flag, "show them and count them", AT(count_too)},
	{'S', "summary-sort-by", "COLUMN", opt_sort, "sort by a column; none: in order of appearance",
	 .complete = COMPLETE_WORDS, .words = "seconds calls errors syscall avg min max p50 p90 p99 stddev bytes none"},
	{'U', "summary-columns", "LIST", opt_columns, "columns: seconds,calls,p90,bytes; +LIST: the usual and these"},
	{0, "by", "WHAT", opt_word, "rows for each process, thread, fd or path", AT(by), COMPLETE_WORDS,
	 "process thread fd path"},
	{0, "errors", NULL, opt_flag, "which calls failed how often with what", AT(errors)},
	{0, "hist", "CALL", opt_string, "how long CALL took, as a histogram", AT(hist)},
	{0, "interval", "DURATION", opt_interval, "print the table that often (on SIGUSR1 too)", AT(interval_ns)},
	{0, "save", "FILE", opt_string, "keep the summary for `sctrace report`", AT(save), COMPLETE_FILE},
	{'O', "summary-syscall-overhead", "DURATION", opt_overhead,
	 "take this out of each call, not the measured cost"},
	{'w', "summary-wall-clock", NULL, opt_nothing, "wall-clock time (it always is)"},
	{'F', NULL, NULL, opt_nothing, NULL},
	{0, "seccomp-bpf", NULL, opt_nothing, NULL}, /* always so */
	{0, "completion", "SHELL", opt_string, NULL, AT(completion), COMPLETE_WORDS, "bash zsh fish"},
	{0},
};

static const char *const trace_usage[] = {
	"[OPTIONS] [--] PROGRAM [ARG...]",
	"[OPTIONS] -p PID[,PID...]",
	"compare | bench | report ...   (each has its own --help)",
	NULL,
};

const struct opt_command trace_command = {
	.name = "sctrace",
	.usage = trace_usage,
	.about = "Shows the system calls of a program; with -c counts and times them.",
	.table = trace_table,
	.epilog = "The exit status is the program's own. Manuals: sctrace(1), sctrace-trace(5).",
	.stop_at_operand = true,
};

static const struct opt truss_table[] = {
	{'a', NULL, NULL, opt_nothing, "show the arguments of execve (always shown here)"},
	{'c', NULL, NULL, opt_flag, "count and time the calls instead of showing them", AT(count)},
	{'d', NULL, NULL, opt_flag, "time since the start", AT(clock)},
	{'D', NULL, NULL, opt_flag, "time since the event before", AT(relative)},
	{'e', NULL, NULL, opt_count, "show the environment of execve", AT(verbose_count)},
	{'f', NULL, NULL, opt_count, "children too", AT(follow)},
	{'H', NULL, NULL, opt_flag, "show thread ids", AT(truss_thread_ids)},
	{'o', NULL, "FILE", opt_string, "write to FILE instead of standard error", AT(output), COMPLETE_FILE},
	{'p', NULL, "PID", opt_pids, "a running process", 0, COMPLETE_PID},
	{'s', NULL, "N", opt_int, "show N bytes of strings (32)", AT(string_max), .min = 0, .max = 1 << 24},
	{'S', NULL, NULL, opt_flag, "hide signals", offsetof(struct trace_opts, select.by_signal)},
	{'t', "trace", "SET", opt_named_expr, "these calls only"},
	{0, "format", "FORMAT", opt_format, "with -c: truss (usual here), text, wide, strace, csv, markdown, json", 0,
	 COMPLETE_WORDS, "text wide truss strace csv markdown json"},
	{0, "engine", "NAME", opt_engine, "how to trace: auto, or one of sctrace --list-engines"},
	{0},
};

static const char *const truss_usage[] = {"[-acDdefHS] [-o FILE] [-s N] [-t SET] PROGRAM [ARG...]",
					  "[-acDdefHS] [-o FILE] [-s N] [-t SET] -p PID", NULL};

const struct opt_command truss_command = {
	.name = "truss",
	.usage = truss_usage,
	.about = "Shows the system calls of a program, with FreeBSD truss's letters and layouts.",
	.table = truss_table,
	.epilog = "This is sctrace under the name truss; sctrace(1) has more.",
	.stop_at_operand = true,
};

static const struct {
	bool in_truss; /* the dialect where the letter is known */
	char letter;
	const char *meaning;
} other[] = {
	{true, 'H', "shows thread ids"},
	{true, 'd', "shows the time since the start; here that is -r, or -ttt since the Epoch"},
	{false, 'C', "shows calls and a summary"},
	{false, 'E', "changes the program's environment"},
	{false, 'P', "shows the calls that touch a path"},
	{false, 'T', "shows the time spent in each call"},
	{false, 'U', "chooses the summary's columns"},
	{false, 'i', "shows the address of each call"},
	{false, 'k', "shows stacks"},
	{false, 'n', "shows the number of each call"},
	{false, 'q', "leaves messages out"},
	{false, 'r', "shows the time since the call before; here that is -D"},
	{false, 'u', "runs the program as another user"},
	{false, 'v', "shows structures in full"},
	{false, 'w', "takes wall-clock time, which is always so here"},
	{false, 'x', "shows strings in hex"},
	{false, 'y', "shows what descriptors are"},
	{false, 'z', "shows successful calls"},
	{false, 'Z', "shows failed calls"},
};

const char *trace_other_dialect(bool truss, char letter)
{
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		if (other[i].letter == letter && other[i].in_truss != truss)
			return other[i].meaning;
	return NULL;
}

void trace_opts_init(struct trace_opts *o)
{
	*o = (struct trace_opts){.string_max = 32, .column = 40};
}

void trace_opts_free(struct trace_opts *o)
{
	vec_free(&o->pids);
	vec_free(&o->env);
	trace_select_free(&o->select);
	trace_injects_free(&o->injects);
}

static bool counts(const struct trace_opts *o)
{
	return o->count || o->count_too;
}

int trace_opts_check(struct trace_opts *o, bool program, struct buf *why)
{
	enum summary_format f = o->view.format;
	const struct {
		bool wrong;
		const char *says;
	} rules[] = {
		{!program && !o->pids.n && !o->cgroup && !o->all,
		 "no program was named; write sctrace PROGRAM, or -p PID for a running one"},
		{o->count && o->count_too, "-c and -C exclude each other: -c counts only, -C shows too"},
		{o->count && o->format == TRACE_PERFETTO, "--format=perfetto is for traces, not for -c"},
		{!counts(o) && f != SUMMARY_TEXT && f != SUMMARY_JSON && !o->truss,
		 "this --format is for summaries: add -c"},
		{!counts(o) && (o->by || o->errors || o->hist || o->save || o->interval_ns || o->overhead_set),
		 "--by, --errors, --hist, --interval, --save and -O are for summaries: add -c"},
		{o->by && (f == SUMMARY_TRUSS || f == SUMMARY_STRACE),
		 "--by has no place in truss's and strace's tables"},
		{o->follow > 1 && !o->output && !o->truss, "-ff needs -o FILE, to make FILE.PID of it"},
		{o->follow > 1 && o->output && (o->output[0] == '|' || o->output[0] == '!'),
		 "-ff writes files, not into a command"},
		{o->append && !o->output, "-A needs -o FILE"},
		{(o->user || o->argv0 || o->env.n) && !program, "-u, -E and --argv0 are for a program that is started"},
		{(o->cgroup || o->all) && !o->count, "--cgroup and --all are for counting: add -c"},
		{(o->cgroup && o->all) || ((o->cgroup || o->all) && o->pids.n),
		 "-p, --cgroup and --all exclude each other"},
		{o->daemonize && !program, "-D is for a program that is started"},
		{o->folded && strcmp(o->folded, "folded") != 0 && strcmp(o->folded, "folded,time") != 0 &&
			 strcmp(o->folded, "folded,calls") != 0,
		 "--stacks is folded, or folded,time"},
	};
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (!rules[i].wrong)
			continue;
		buf_adds(why, rules[i].says);
		return -EINVAL;
	}
	o->view.by = o->by;
	return 0;
}
