#include "cmd/trace/opts.h"

#include "base/buf.h"
#include "cmd/trace/opt_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Columns of -c's table that -U and -S offer when they are completed. */
#define COLUMN_WORDS "syscall seconds calls errors percent avg min p50 p90 p99 max stddev bytes bytes/call"
/* The metrics of --expect. */
#define EXPECT_WORDS "calls errors bytes seconds wall user system cpu peak_rss processes"
#define AT(member)   .offset = offsetof(struct trace_opts, member)

static const struct opt trace_table[] = {
	{.help = "Whom to trace:"},
	{'f', "follow-forks", NULL, opt_count, "children too; -ff with -o FILE: a file FILE.PID each", AT(follow)},
	{'p', "attach", "PID[,PID...]", trace_opt_pids,
	 "running processes with all their threads; Ctrl-C (INT) detaches from them", 0, COMPLETE_PID},
	{0, "cgroup", "PATH", opt_string, "count a whole control group, by the bpf engine", AT(cgroup), COMPLETE_FILE},
	{0, "all", NULL, opt_flag, "count every process of the system, by the bpf engine", AT(all)},
	{'u', "user", "USER", opt_string, "run the program as USER", AT(user), COMPLETE_USER},
	{'E', "env", "VAR[=VALUE]", trace_opt_env, "set VAR for the program, or take it away"},
	{0, "argv0", "NAME", opt_string, "tell the program that it is called NAME", AT(argv0)},
	{'D', "daemonize", NULL, opt_count,
	 "stay out of the way: the program is the direct child of the shell; -DD: and sctrace in its own process "
	 "group; -DDD: in its own session",
	 AT(daemonize)},
	{0, "kill-on-exit", NULL, opt_flag, "kill the program when sctrace dies", AT(kill_on_exit)},
	{'b', "detach-on", "execve", trace_opt_break, "let go of a process when it runs another program",
	 .complete = COMPLETE_WORDS, .words = "execve"},
	{'I', "interruptible", "N", opt_int,
	 "which signals end sctrace: 1 and 2: all; 3: none; 4: none, nor does Ctrl-Z stop it", AT(interruptible),
	 .min = 1, .max = 4},
	{0, "engine", "NAME", trace_opt_engine, "how to trace: auto, or one of --list-engines", 0, COMPLETE_WORDS,
	 ENGINE_WORDS},
	{0, "list-engines", NULL, opt_flag, "say which engines there are and whether they work here", AT(list_engines)},
	{0, "pin", NULL, opt_flag, "tracer and program on one CPU: faster stops, but it changes the program", AT(pin)},

	{.help = "Which calls:"},
	{'e', NULL, "EXPR", trace_opt_expr,
	 "trace=SET (or SET alone), status=, errno=, signal=, fds=, inject=; a SET is names, %groups, /regex, all, "
	 "none, after ! the others",
	 .complete = COMPLETE_EXPR,
	 .words = "trace status errno signal inject fault trace-fds read write abbrev verbose raw quiet decode-fds"},
	{0, "trace", "SET", trace_opt_named_expr,
	 "these calls: openat,%network,/^sched_; !SET: all others; ?NAME: if it exists", .complete = COMPLETE_SET},
	{0, "status", "SET", trace_opt_named_expr, "calls that ended so: successful, failed, unfinished",
	 .complete = COMPLETE_LIST, .words = "successful failed unfinished unavailable detached"},
	{0, "errno", "LIST", trace_opt_named_expr, "calls that failed with one of these: ENOENT,EACCES"},
	{0, "signal", "SET", trace_opt_named_expr, "these signals; none: no signals"},
	{'z', "successful-only", NULL, trace_opt_successful, "calls that succeeded"},
	{'Z', "failed-only", NULL, trace_opt_successful, "calls that failed"},
	{'P', "trace-path", "PATH", trace_opt_path, "calls that touch PATH; PATH/...: or anything below it",
	 .complete = COMPLETE_FILE},
	{0, "trace-fds", "LIST", trace_opt_named_expr, "calls that touch these descriptors: 0,1,2"},
	{0, "slower", "DURATION", opt_duration, "calls that took longer: 10ms (a number alone is microseconds)",
	 offsetof(struct trace_opts, select.slower_ns)},
	{0, "inject", "SET:ACTION", trace_opt_named_expr,
	 "tamper: error=ENOSPC, retval=N, signal=S, delay_enter=D, delay_exit=D, each with :when=N+K",
	 .complete = COMPLETE_SET},
	{0, "fault", "SET[:ACTION]", trace_opt_named_expr, "the same, error=ENOSYS where nothing is said",
	 .complete = COMPLETE_SET},

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
	{'y', NULL, NULL, opt_count, "what descriptors are; -yy: sockets' addresses and processes too", AT(fd_names)},
	{0, "decode-fds", "[SET]", trace_opt_decode_fds, "the same: path, or socket, dev, pidfd, all",
	 .complete = COMPLETE_LIST, .words = "path socket dev pidfd all none"},
	{'Y', NULL, NULL, opt_count, "the names of processes behind their numbers", AT(pid_names)},
	{0, "decode-pids", "comm", trace_opt_pid_names, "the same", .complete = COMPLETE_WORDS, .words = "comm"},
	{'k', "stack-trace", NULL, opt_flag, "the functions that led to each call", AT(stacks)},
	{0, "stacks", "folded[,time]", opt_string, "stacks added up for flame graphs, weighted by calls or by time",
	 AT(folded)},
	{'s', "string-limit", "N", opt_int, "show N bytes of strings (32)", AT(string_max), .min = 0, .max = 1 << 24},
	{'x', "strings-in-hex", NULL, opt_count, "strings that cannot be printed in hex; -xx: all", AT(hex)},
	{'v', "no-abbrev", NULL, opt_count, "structures in full", AT(verbose_count)},
	{'a', "columns", "N", opt_int, "put results at column N (40)", AT(column), .min = 0, .max = 1000},
	{'X', "const-print-style", "FORMAT", trace_opt_constants,
	 "constants by name (abbrev), as numbers (raw) or as both (verbose)", .complete = COMPLETE_WORDS,
	 .words = "raw abbrev verbose"},
	{0, "read", "SET", trace_opt_named_expr, "dump all that is read from these descriptors: 3,4 or all"},
	{0, "write", "SET", trace_opt_named_expr, "dump all that is written to these descriptors"},
	{0, "abbrev", "SET", trace_opt_named_expr, "structures in full but for these calls", .complete = COMPLETE_SET},
	{0, "verbose", "SET", trace_opt_named_expr, "no structures but for these calls", .complete = COMPLETE_SET},
	{0, "raw", "SET", trace_opt_named_expr, "arguments of these calls as numbers", .complete = COMPLETE_SET},
	{'q', NULL, NULL, trace_opt_quiet, "no messages of attaching; -qq: nor of exits; -qqq: no messages at all"},
	{0, "quiet", "[SET]", trace_opt_quiet, "leave out these messages: attach, exit, thread-execve, all",
	 .complete = COMPLETE_LIST, .words = "attach exit thread-execve all"},
	{0, "json", NULL, trace_opt_json, "an object a line, see sctrace-trace(5)"},
	{0, "format", "FORMAT", trace_opt_format,
	 "json or perfetto; with -c: text, wide, truss, strace, csv, markdown, json", 0, COMPLETE_WORDS,
	 "text wide truss strace csv markdown json perfetto"},
	{0, "color", "[WHEN]", opt_word, "auto (on a terminal), always, never", AT(color), COMPLETE_WORDS,
	 "auto always never"},

	{.help = "Summaries:"},
	{'c', "summary-only", NULL, opt_flag, "count and time the calls instead of showing them", AT(count)},
	{'C', "summary", NULL, opt_flag, "show them and count them", AT(count_too)},
	{'S', "summary-sort-by", "COLUMN", trace_opt_sort, "sort by a column; none: in order of appearance",
	 .complete = COMPLETE_WORDS, .words = COLUMN_WORDS " none"},
	{'U', "summary-columns", "LIST", trace_opt_columns,
	 "columns: seconds,calls,p90,bytes; +LIST: the usual and these", .complete = COMPLETE_LIST,
	 .words = COLUMN_WORDS},
	{0, "by", "WHAT", opt_word, "rows for each process, thread, fd or path", AT(by), COMPLETE_WORDS,
	 "process thread fd path"},
	{0, "errors", NULL, opt_flag, "which calls failed how often with what", AT(errors)},
	{0, "hist", "CALL", trace_opt_hist, "how long CALL took, as a histogram", AT(hist), COMPLETE_SET},
	{0, "interval", "DURATION", opt_duration, "print the table that often (on SIGUSR1 too)", AT(interval_ns),
	 .min = 10000000},
	{0, "expect", "CONDITIONS", trace_opt_expect,
	 "end with status 3 unless these hold: read<=100,errors=0,bytes(write)=1M; main:calls<=20 counts from main on",
	 .complete = COMPLETE_LIST, .words = EXPECT_WORDS},
	{0, "save", "FILE", opt_string, "keep the summary for `sctrace report`", AT(save), COMPLETE_FILE},
	{'O', "summary-syscall-overhead", "DURATION", trace_opt_overhead,
	 "take this out of each call, not the measured cost"},
	{'w', "summary-wall-clock", NULL, trace_opt_nothing, "wall-clock time (it always is)"},
	{'F', NULL, NULL, trace_opt_nothing, NULL},
	{0, "seccomp-bpf", NULL, trace_opt_nothing, NULL}, /* always so */
	{.help = "Others:"},
	{0, "completion", "SHELL", opt_string, "print a script that makes SHELL complete these: bash, zsh or fish",
	 AT(completion), COMPLETE_WORDS, "bash zsh fish"},
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
	{'a', NULL, NULL, trace_opt_nothing, "show the arguments of execve (always shown here)"},
	{'c', NULL, NULL, opt_flag, "count and time the calls instead of showing them", AT(count)},
	{'d', NULL, NULL, opt_flag, "time since the start", AT(clock)},
	{'D', NULL, NULL, opt_flag, "time since the event before", AT(relative)},
	{'e', NULL, NULL, opt_count, "show the environment of execve", AT(verbose_count)},
	{'f', NULL, NULL, opt_count, "children too", AT(follow)},
	{'H', NULL, NULL, opt_flag, "show thread ids", AT(truss_thread_ids)},
	{'o', NULL, "FILE", opt_string, "write to FILE instead of standard error", AT(output), COMPLETE_FILE},
	{'p', NULL, "PID", trace_opt_pids, "a running process", 0, COMPLETE_PID},
	{'s', NULL, "N", opt_int, "show N bytes of strings (32)", AT(string_max), .min = 0, .max = 1 << 24},
	{'S', NULL, NULL, opt_flag, "hide signals", offsetof(struct trace_opts, select.by_signal)},
	{'t', "trace", "SET", trace_opt_named_expr, "these calls only"},
	{0, "format", "FORMAT", trace_opt_format,
	 "with -c: truss (usual here), text, wide, strace, csv, markdown, json", 0, COMPLETE_WORDS,
	 "text wide truss strace csv markdown json"},
	{0, "engine", "NAME", trace_opt_engine, "how to trace: auto, or one of sctrace --list-engines"},
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
	trace_look_free(&o->look);
	conditions_free(&o->expect);
}

static bool counts(const struct trace_opts *o)
{
	return o->count || o->count_too;
}

bool trace_opts_need_events(const struct trace_opts *o)
{
	bool grouped = o->by && (strcmp(o->by, "fd") == 0 || strcmp(o->by, "path") == 0);
	return grouped || trace_select_needs_exit(&o->select) || o->select.paths.n || o->select.fds.n || o->count_too;
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
		{!counts(o) && (o->by || o->errors || o->hist || o->save || o->interval_ns || o->overhead_set ||
				o->expect.list.n),
		 "--by, --errors, --expect, --hist, --interval, --save and -O are for summaries: add -c"},
		{conditions_use_main(&o->expect) && (!program || !o->count || o->folded || trace_opts_need_events(o)),
		 "main: in --expect is for a program that is started with -c, and does not go together with options "
		 "that "
		 "look at single calls (-z, -Z, -P, -e status=, -e fds=, --slower, --by=fd, --by=path)"},
		{o->by && (f == SUMMARY_TRUSS || f == SUMMARY_STRACE),
		 "--by has no place in truss's and strace's tables"},
		{(o->errors || o->hist) && f != SUMMARY_TEXT && f != SUMMARY_WIDE && f != SUMMARY_MARKDOWN,
		 "--errors and --hist stand below tables of --format=text, wide and markdown alone; --save keeps both"},
		{o->count && o->follow > 1 && !o->truss,
		 "-ff is for traces, each in a file; -c makes one table: write -f"},
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
